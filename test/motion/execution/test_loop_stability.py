# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Gains that a sampled loop does not bear are refused; those that are proposed are borne."""

import re

import numpy as np
import pytest

from dynid_ros.arm import load_arm, shipped_arms
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.loop_stability import (
    check_stable,
    given_gains,
    proposed_gains,
    sampled_loop,
)
from dynid_ros.motion.execution.tracking_control import Gains, random_positions, RigidArm

ARM = load_arm('two_axis')


@pytest.mark.parametrize('rate', [0.1, 0.25, 0.7, 1.3])
def test_poles_of_a_damped_mass_are_those_of_the_closed_form(rate):
    T, M = 0.004, np.array([[0.3]])
    A = sampled_loop(M, Gains(np.zeros(1), rate / T * M[0]), T)
    # v' = v + T u / m and u' = -d v: z² - z + T d / m = 0, beside the pole of the position.
    expected = [1, *np.roots([1, -1, rate])]
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(A)), np.sort_complex(expected), atol=1e-12)


@pytest.mark.parametrize('period', [0.001, 0.004, 0.02])
@pytest.mark.parametrize('name', shipped_arms())
def test_proposed_gains_are_borne(name, period):
    arm = load_arm(name)
    check_stable(arm, proposed_gains(arm, period), period)


def grows(gains, period):
    """Whether a small motion of the simulated two-axis arm under late sampled control grows."""
    rigid, q0 = RigidArm(ARM), random_positions(ARM)[0]
    gravity, q, qd = rigid.gravity(q0), q0 + 1e-4, np.zeros(2)
    acting, parts, far = gravity, 20, []
    for _ in range(400):
        later = gravity + gains.torque(q, qd, q0, np.zeros(2))
        for _ in range(parts):
            bias = rigid.torque(q, qd, np.zeros(2))
            qd = qd + period / parts * np.linalg.solve(rigid.mass_matrix(q), acting - bias)
            q = q + period / parts * qd
        acting = later
        far.append(np.abs(q - q0).max())
        if far[-1] > 0.1:
            return True
    return max(far[-50:]) > max(far[:50])


@pytest.mark.parametrize(('factor', 'unstable'), [(0.8, False), (1.25, True)])
def test_bound_is_where_a_simulated_arm_begins_to_swing(factor, unstable):
    period, M = 0.004, RigidArm(ARM).mass_matrix(random_positions(ARM)[0])
    gains = proposed_gains(ARM, period)

    def radius(scale):
        scaled = Gains(scale * gains.stiffness, scale * gains.damping)
        return np.abs(np.linalg.eigvals(sampled_loop(M, scaled, period))).max()

    edge = next(scale for scale in np.geomspace(1, 100, 400) if radius(scale) > 1)
    scale = factor * edge
    assert grows(Gains(scale * gains.stiffness, scale * gains.damping), period) == unstable


def test_refusal_names_the_joint_and_gains_that_are_borne():
    period = 0.004
    gains = proposed_gains(ARM, period)
    wild = Gains(gains.stiffness, gains.damping * [1, 40])
    with pytest.raises(InputError, match=f"joint '{ARM.joint_names[1]}' swings up") as refusal:
        check_stable(ARM, wild, period)
    numbers = re.findall(r'at most (\S+) and (\S+) are', str(refusal.value))[0]
    np.testing.assert_allclose(
        [float(x) for x in numbers], [gains.stiffness[1], gains.damping[1]], rtol=1e-2)


@pytest.mark.parametrize(('stiffness', 'damping', 'said'), [
    ([1.0], [1.0, 1.0], "'stiffness' must hold a number for each of the 2 joints"),
    ([1.0, 1.0], [], "'damping' must hold a number for each of the 2 joints"),
    ([1.0, -2.0], [1.0, 1.0], "'stiffness' must be positive, but is -2 for joint"),
    ([1.0, 2.0], [1.0, np.nan], "'damping' must be positive, but is nan for joint"),
])
def test_gains_that_are_none_are_refused(stiffness, damping, said):
    with pytest.raises(InputError, match=said):
        given_gains(ARM, stiffness, damping)
