# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What is said about several recordings of one arm."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm import load_arm
from dynid_ros.data.recordings.motion_checks import CONSTANT
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.train_test_split import divide

ARM = load_arm('two_axis')


@pytest.fixture(scope='module')
def moving():
    theta = base_parameters(ARM).grouping @ nominal_parameters(ARM)
    return recording(ARM, Waves.random(ARM, seed=1), theta, np.zeros((2000, ARM.n)))


def resting(log, joint, number):
    """Return another recording, in which a joint is at rest."""
    scale = 1 - 0.1 * number
    q = scale * log.q
    q[:, joint] = 0.1
    return replace(log, q=q, qd=None, u=scale * log.u, source=f'{number}.csv')


@pytest.mark.parametrize(('fitted', 'validating', 'told'), [
    ((0, 1), (), []), ((1, 1), (), [1]), ((0, 1), (1,), []), ((1,), (0,), [1])])
def test_a_joint_at_rest_is_reported_once_and_only_where_no_fitted_recording_moves_it(
        moving, fitted, validating, told):
    logs = [resting(moving, joint, k) for k, joint in enumerate((*fitted, *validating))]
    division = divide(ARM, logs[:len(fitted)], logs[len(fitted):], 0.0)
    found = [each for each in division.defects if each.code == CONSTANT]
    assert [each.joint for each in found] == [ARM.joint_names[joint] for joint in told]
    assert all('.csv' not in each.message for each in found)
