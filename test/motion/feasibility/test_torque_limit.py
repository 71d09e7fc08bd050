# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Dry friction that a planned motion has to allow for."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import CURVE
from dynid_ros.motion.feasibility.torque_limit import torque_limit


@pytest.mark.parametrize(('friction', 'largest'), [
    ({'coulomb': 4.0}, 4.0),
    # tanh is one to a thousandth from four times its speed on.
    ({'coulomb_smooth': 4.0, 'viscous': 9.0}, 4.0),
    # A level of 10 that is reached at once and falls to 4.
    ({'sign_10': 10.0, 'sign_100': -6.0}, None),
    # Large coefficients that nearly cancel.
    ({'sign_10': 30.0, 'coulomb_smooth': -40.0, 'sign_100': 12.0}, None)])
def test_the_largest_dry_friction_counts_whatever_its_terms(friction, largest):
    arm = replace(
        load_arm('panda'), friction=tuple(friction),
        friction_nominal={name: np.full(7, value) for name, value in friction.items()})
    speeds = dict(zip(CURVE, (0.01, 0.03, 0.1, 1.0), strict=True))
    if largest is None:
        qd = np.linspace(0, 20, 200001)
        largest = np.abs(sum(
            value * np.tanh(qd / speeds[name]) for name, value in friction.items())).max()
    limit = torque_limit(arm)
    np.testing.assert_allclose(limit.dry, np.full(7, largest), rtol=0.01)
    # Only what is no dry friction is left in the torque at each moment.
    q, qd = np.zeros((1, 7)), np.full((1, 7), 0.5)
    moving, still = (limit.torque(q, x, 0 * q) for x in (qd, 0 * qd))
    np.testing.assert_allclose(
        (moving - still)[0, -1], 0.5 * friction.get('viscous', 0.0), atol=0.2)
