# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""States of a moved arm are read from messages, whatever lies between motors and joints."""

from dataclasses import replace

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from dynid_ros.arm import load_arm
from dynid_ros.ros.nodes.motion.motion_state import motion_state

ARM = load_arm('ur10')


@pytest.fixture
def factorisations(monkeypatch):
    """Count the matrices that are inverted or factored."""
    count = []
    for name in ('inv', 'solve'):
        function = getattr(np.linalg, name)
        monkeypatch.setattr(np.linalg, name, lambda *given, function=function: (
            count.append(1), function(*given))[1])
    return count


def test_a_coupled_transmission_is_inverted_once_for_all_messages(factorisations):
    rng = np.random.default_rng(0)
    drive = replace(ARM.drive, transmission=np.eye(ARM.n) + 0.5 * np.eye(ARM.n, k=-1),
                    offset=rng.normal(size=ARM.n))
    arm = replace(ARM, drive=drive)
    for q, qd in rng.normal(size=(20, 2, ARM.n)):
        state = motion_state(arm, JointState(
            name=ARM.joint_names, velocity=(drive.transmission @ qd).tolist(),
            position=(drive.transmission @ (q - drive.offset)).tolist()))
        # Rounding of a matrix of condition number 3.
        np.testing.assert_allclose([state.q, state.qd], [q, qd], atol=1e-13)
    assert len(factorisations) == 1
