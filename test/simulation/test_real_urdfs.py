# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Arms from URDFs of real robots, which state no drives, follow and are identified."""

import json

import numpy as np
import pytest
from real_urdfs import urdf

from dynid_ros.arm.load import load_arm
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.simulation.plausible_drive import with_plausible_drives
from dynid_ros.simulation.record import simulate

pytestmark = pytest.mark.slow


# Light wrists, an arm on a lift, fingers rated 50 times above their need, a dozen legs.
@pytest.mark.parametrize('name', [
    'z1', 'kinova', 'xarm7', 'tiago_no_hand', 'allegro_left_hand', 'solo12', 'ur3_gripper',
    'hextilt_flying_arm_5'])
@pytest.mark.parametrize('drives', [True, False])
def test_every_joint_follows(name, drives):
    arm = load_arm(urdf(name))
    if drives:
        arm, _ = with_plausible_drives(arm)
    motion = random_motion(arm, 0, period=2.5, periods=1, tries=20)
    truth = simulate(arm, motion, rate_hz=100).truth
    # The error of a first-order method in 1 ms, and of friction over the stiffness of the control.
    assert np.abs(truth.q - truth.wanted).max() < 2e-3


@pytest.mark.parametrize('name', ['panda', 'talos_left_arm'])
def test_a_urdf_is_simulated_and_identified(name, tmp_path, capsys):
    path, bag, motion = str(urdf(name)), tmp_path / 'bag', tmp_path / 'motion.yaml'
    arm = load_arm(path)
    write_motion(motion, random_motion(arm, 0, periods=1), arm)
    assert main(['simulate', path, str(motion), '-o', str(bag)]) == 0
    doubt, assumed = capsys.readouterr().err.splitlines()
    assert 'the simulation assumes rotor inertia of' in assumed
    # The finger, or the gripper.
    assert '1 more joints stay locked' in doubt
    assert main(['identify', str(bag), '--arm', path, '-o', str(tmp_path / 'r'), '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['verdict']['trustworthy']
    # White noise of 10 %, nine tenths of it filtered out.
    assert found['validation']['relative_error_percent'] < 2.0
