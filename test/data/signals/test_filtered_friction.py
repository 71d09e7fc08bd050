# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.data.signals.filtered_friction import fill_filtered_friction, filtered_step
from dynid_ros.data.signals.filters import Decimator
from dynid_ros.dynamics.regressor import regressor

RATE, CUTOFF = 1000.0, 5.0


@pytest.mark.parametrize('term', ['coulomb', 'viscous_cuberoot'])
@pytest.mark.parametrize('acceleration', [0.4, -7.0])
def test_column_is_that_of_the_low_pass_over_all_samples(term, acceleration):
    arm = replace(random_arm(np.random.default_rng(0), 2, prismatic=False), friction=(term,))
    t = np.arange(-1.0, 1.0, 1 / RATE) + 0.3 / RATE
    qd = np.stack([acceleration * t, 2 * acceleration * t], axis=1)
    qdd = np.full_like(qd, acceleration) * [1, 2]
    Y = regressor(arm, np.zeros_like(qd), qd, qdd)
    low_pass = Decimator(RATE, CUTOFF, 1)
    columns = arm.layout.friction_columns(arm.layout.friction[0])
    wanted = low_pass.whole(Y)[:, range(2), columns]
    kept = slice(low_pass.reach, -low_pass.reach)
    changed = Y[kept].copy()
    fill_filtered_friction(
        arm, qd[kept], qdd[kept], np.full(len(changed), 1 / CUTOFF), changed)
    scale = np.abs(wanted).max()
    # The steps of the sum over samples are left.
    np.testing.assert_allclose(changed[:, range(2), columns], wanted, atol=0.02 * scale)
    assert np.abs(Y[kept][:, range(2), columns] - wanted).max() > 0.1 * scale
    unfiltered = Y[kept].copy()
    fill_filtered_friction(arm, qd[kept], qdd[kept], np.zeros(len(changed)), unfiltered)
    np.testing.assert_array_equal(unfiltered, Y[kept])


def test_a_step_is_that_of_the_low_pass():
    t = np.arange(-1.0, 1.0, 1 / RATE) + 0.5 / RATE
    low_pass = Decimator(RATE, CUTOFF, 1)
    kept = t[low_pass.reach:-low_pass.reach]
    period = np.full(len(kept), 1 / CUTOFF)
    np.testing.assert_allclose(
        filtered_step(kept, period), low_pass.whole((t > 0).astype(float)), atol=0.01)
    np.testing.assert_allclose(filtered_step(kept, 0 * period), kept > 0, atol=1e-12)
