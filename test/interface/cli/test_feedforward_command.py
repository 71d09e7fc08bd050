# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid feedforward`` as a user runs it."""

from loaded_arms import arm_named, free_model, free_theta
import numpy as np
import pytest
from synthetic_recordings import true_torque, Waves
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.estimation.result_files.result_file import write_result
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.motion.trajectory.trajectory_file import Trajectory, write_trajectory

ARM = arm_named()


@pytest.fixture(scope='module')
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp('feedforward') / 'model'
    write_result(free_model(), folder)
    return folder


def test_a_trajectory_keeps_its_points_and_gets_their_effort(model, tmp_path, capsys):
    t = np.arange(0, 2.0, 0.02)
    states = Waves.random(ARM, 0).at(t)
    write_trajectory(tmp_path / 'in.yaml', Trajectory(ARM.joint_names, t, *states))
    out = tmp_path / 'out.yaml'
    assert main(['feedforward', str(tmp_path / 'in.yaml'), '--model', str(model), '-o',
                 str(out)]) == 0
    points = yaml.safe_load(out.read_text())['points']
    np.testing.assert_allclose([point['positions'] for point in points], states[0], atol=1e-9)
    expected = true_torque(ARM, Waves.random(ARM, 0), t, free_theta(ARM))
    error = np.linalg.norm([point['effort'] for point in points] - expected)
    assert error < 0.01 * np.linalg.norm(expected)
    told = capsys.readouterr().out
    assert 'xtrapolation:' not in told and 'wrist_3_joint ' in told and '100 points' in told


def test_a_designed_motion_is_sampled(model, tmp_path, capsys):
    arm = load_arm('ur10')
    motion = random_motion(arm, 0, periods=1, tries=30)
    write_motion(tmp_path / 'm.yaml', motion, arm)
    arguments = ['feedforward', str(tmp_path / 'm.yaml'), '--model', str(model), '-o',
                 str(tmp_path / 'out.yaml'), '--rate']
    assert main([*arguments, '20']) == 0
    assert 'Extrapolation: ' in capsys.readouterr().out
    points = yaml.safe_load((tmp_path / 'out.yaml').read_text())['points']
    assert len(points) == round(20 * motion.duration) + 1
    assert main([*arguments, '1e9']) == 2
    assert 'lower the rate' in capsys.readouterr().err


def test_other_joints_are_wrong_use(model, tmp_path, capsys):
    still = np.zeros((2, 2))
    write_trajectory(tmp_path / 'in.yaml',
                     Trajectory(('a', 'b'), np.array([0.0, 1.0]), still, still, still))
    assert main(['feedforward', str(tmp_path / 'in.yaml'), '--model', str(model), '-o',
                 str(tmp_path / 'out.yaml')]) == 2
    assert 'are not the joints of the model' in capsys.readouterr().err
    assert not (tmp_path / 'out.yaml').exists()
