# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""MuJoCo's physics identified from a designed motion of 30 s; not our own equations."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.design import design, validation_motion
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.simulation.record import simulate

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('figures_alone')]


def test_thirty_seconds_determine_the_base_parameters():
    arm = load_arm('panda')
    scene = build_scene(arm, load_surroundings('panda', arm))
    task = Task(starts=1, seconds=1.0)
    motion = design(arm, task, scene).motion
    assert motion.duration == 30.0
    recording = simulate(arm, motion, seed=1)
    unseen = simulate(
        arm, validation_motion(arm, replace(task, periods=1), scene).motion, seed=2)
    result = identify(
        arm, [recording.log], friction=arm.friction, validation=[unseen.log])
    truth = base_parameters(arm).grouping @ nominal_parameters(arm)
    # Bounds of the issue: encoders of 16 bit and torque noise of 10 % of its spread.
    assert result.validation.relative_error_percent < 2
    assert np.linalg.norm(result.theta - truth) < 0.03 * np.linalg.norm(truth)
