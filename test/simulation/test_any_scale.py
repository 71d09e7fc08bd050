# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Mass, length and time of an arm change the units of a simulation and nothing else."""

from dataclasses import replace
from functools import cache

from hypothesis import assume, given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import LimitMargins
from dynid_ros.arm.drive import Drive
from dynid_ros.data.recordings.absurd_values import ABSURD_SIGNAL
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.plausible_drive import with_plausible_drives
from dynid_ros.simulation.record import simulate

pytestmark = pytest.mark.slow

FRICTION = ('viscous', 'coulomb')
#: Twice the largest torque of the unscaled arm in these motions, Nm.
TORQUE = 8.0


def scaled(arm, mass, length, time):
    """Return the arm in other units: its kilogram, metre and second have these sizes."""
    way = np.where(arm.prismatic, length, 1.0)
    torque = mass * length**2 / time**2
    limits = replace(
        arm.limits, lower=arm.limits.lower * way, upper=arm.limits.upper * way,
        velocity=arm.limits.velocity * way / time,
        acceleration=arm.limits.acceleration * way / time**2,
        effort=arm.limits.effort * torque / way)
    return replace(
        arm.with_tree(translation=arm.translation * length),
        gravity=arm.gravity * length / time**2,
        inertial=arm.inertial * mass * length ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2.0]),
        limits=limits, margins=LimitMargins(), rotor_nominal=None, friction_nominal={},
        drive=Drive.joint_torque(arm.n))


@cache
def identified(name, mass, length, time):
    """Simulate one period, and identify the model from it."""
    arm, _ = with_plausible_drives(scaled(load_arm(name), mass, length, time))
    motion = random_motion(arm, 3, period=10 * time, periods=1, tries=5)
    simulation = simulate(arm, motion, rate_hz=500 / time)
    # By default less than 6 s is fitted whole.
    return simulation, identify(arm, [simulation.log], friction=FRICTION, holdout=1 / 3)


@pytest.mark.parametrize('exponent', [-12, 16])
def test_masses_scale_torques_alone(exponent):
    mass = 2.0**exponent
    (plain, first), (heavy, second) = (identified('gluon_6l3', m, 1.0, 1.0) for m in (1.0, mass))
    # Powers of two scale without rounding, but for the 1e-12 kg m² that MuJoCo's links need.
    np.testing.assert_allclose(heavy.truth.q, plain.truth.q, atol=1e-6)
    assert second.verdict.trustworthy
    assert first.validation.relative_error_percent == pytest.approx(
        second.validation.relative_error_percent, rel=0.01)


@settings(max_examples=2)
@given(mass=st.floats(-2, 4), length=st.floats(-1, 1), time=st.floats(-0.5, 0.5))
def test_an_arm_of_any_size_is_followed_and_identified(mass, length, time):
    # A larger torque is no measurement of an arm, and refused.
    assume(TORQUE * 10 ** (mass + 2 * length - 2 * time) < ABSURD_SIGNAL)
    simulation, model = identified('gluon_6l3', 10**mass, 10**length, 10**time)
    # The control has a step of 1 ms, of which a small arm's second has a third.
    assert np.abs(simulation.truth.q - simulation.truth.wanted).max() < 0.01
    assert model.verdict.trustworthy
    # The unscaled arm has 1.1 %. The motion differs, since the best of five depends on units, and
    # the least cut-off does not scale: 3.2 % with a tenth of the length and three times the time.
    assert model.validation.relative_error_percent < 4.0
