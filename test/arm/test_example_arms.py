# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The arms of docs/real_arms.md load, can hold themselves, and a motion is designed for them."""

from pathlib import Path

import numpy as np
from oracles import pinocchio_model
import pinocchio as pin
import pytest
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.arm.parameters import is_physical
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.trajectory.motion_file import read_motion

EXAMPLES = Path(__file__).resolve().parents[2] / 'examples' / 'real_arms'
ARMS = ('ur10e', 'franka_fr3', 'effort_arm')


@pytest.mark.parametrize('name', ARMS)
def test_example_loads_silently_and_holds_itself_with_torque_to_spare(name, capfd):
    arm = load_arm(EXAMPLES / name)
    assert capfd.readouterr() == ('', '')
    assert arm.name == name
    assert all(is_physical(link) for link in arm.inertial)
    model = pinocchio_model(arm)
    data = model.createData()
    rng = np.random.default_rng(0)
    for q in rng.uniform(arm.limits.lower, arm.limits.upper, (200, arm.n)):
        gravity = pin.computeGeneralizedGravity(model, data, q)
        assert (np.abs(gravity) < 0.7 * arm.limits.effort).all()


@pytest.mark.slow
@pytest.mark.parametrize('name', ARMS)
def test_dynid_design_makes_a_motion_for_the_example(name, tmp_path, capsys):
    path = tmp_path / 'excitation.yaml'
    status = main(['design', str(EXAMPLES / name), '-o', str(path), '--starts', '1',
                   '--time', '1', '--harmonics', '3'])
    assert status == 0, capsys.readouterr().err
    arm = load_arm(EXAMPLES / name)
    read_motion(path, arm)
    assert 'torque is not checked' not in capsys.readouterr().out


def test_flange_of_the_examples_is_where_the_makers_urdf_has_it():
    # Zero position of the URDFs: the UR lies along -x, the Franka bends forward at its wrist.
    for name, flange in (('ur10e', [-0.6127 - 0.57155, -0.17415 - 0.11655, 0.1807 - 0.11985]),
                         ('franka_fr3', [0.088, 0, 0.333 + 0.316 + 0.384])):
        model = pinocchio_model(load_arm(EXAMPLES / name))
        data = model.createData()
        pin.forwardKinematics(model, data, np.zeros(model.nq))
        # Lengths are given to 0.01 mm.
        np.testing.assert_allclose(data.oMi[-1].translation, flange, atol=1e-5)


def test_controllers_of_the_effort_arm_are_for_its_joints():
    controllers = yaml.safe_load((EXAMPLES / 'effort_arm' / 'controllers.yaml').read_text())
    names = list(load_arm(EXAMPLES / 'effort_arm').joint_names)
    for controller in ('joint_trajectory_controller', 'effort_controller'):
        assert controller in controllers['controller_manager']['ros__parameters']
        assert controllers[controller]['ros__parameters']['joints'] == names
    gains = controllers['joint_trajectory_controller']['ros__parameters']['gains']
    assert list(gains) == names
