# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Loads that change on the way, and stamps of another rate, are named with their numbers."""

from dataclasses import replace

import numpy as np
import pytest
from results import cause_of
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.data.signals.filters import butterworth, differentiate
from dynid_ros.data.signals.segments import sample_rate
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.random_motion import random_motion

PLAIN = ('viscous', 'coulomb', 'offset')


@pytest.fixture(scope='module')
def ur10():
    arm = load_arm('ur10')
    return arm, followed(arm, random_motion(arm, 0, tries=5, periods=2), 125.0)


@pytest.fixture(scope='module')
def leg():
    arm = load_arm('hand_leg')
    return arm, followed(arm, random_motion(arm, 0, tries=5, periods=2), 125.0)


def with_load(arm, log, kg, loaded):
    """Add a point mass at the last joint where it is carried."""
    mass = arm.layout.inertial(arm.n - 1).start
    q = butterworth(log.q, sample_rate(log), 10.0)
    qd = differentiate(q, sample_rate(log))
    torque = kg * regressor(arm, q, qd, differentiate(qd, sample_rate(log)))[:, :, mass]
    return replace(log, u=log.u + loaded[:, None] * torque)


@pytest.mark.parametrize('picked_up', [True, False])
def test_a_load_that_is_picked_up_or_put_down_is_named_with_its_moment(ur10, picked_up):
    """The moment lies between those at which the search starts."""
    arm, log = ur10
    right = 0.71 * log.t[-1]
    first = cause_of(arm, with_load(arm, log, 5.0, (log.t > right) == picked_up))
    assert first.code == 'payload_changed'
    moment = float(first.text.split(' s on')[0].split()[-1])
    # The text has whole seconds.
    assert abs(moment - right) < 0.6
    assert first.error_after_percent < 3.0


@pytest.mark.parametrize('loaded', ['b.csv', 'c.csv'])
def test_a_recording_with_another_load_is_named(leg, loaded):
    arm, log = leg
    logs = [replace(log, source='a.csv'), *(replace(followed(
        arm, random_motion(arm, seed, tries=5, periods=1), 125.0, seed=seed), source=source)
        for seed, source in ((1, 'b.csv'), (2, 'c.csv')))]
    *fitted, last = [with_load(arm, each, 0.5, np.full(len(each.t), each.source == loaded))
                     for each in logs]
    first = identify(arm, fitted, validation=[last], friction=PLAIN).verdict.findings[0]
    assert first.code == 'payload_changed'
    assert f"in '{loaded}'" in first.text
    assert first.error_after_percent < 3.0


@pytest.mark.parametrize(('factor', 'differentiated'), [
    (0.5, False), (0.8, False), (1.25, False), (0.8, True)])
def test_a_time_axis_of_another_rate_is_named_with_its_factor(leg, factor, differentiated):
    """Velocities that were differentiated by the wrong stamps agree with them."""
    arm, log = leg
    first = cause_of(arm, replace(
        log, t=factor * log.t, qd=log.qd / factor if differentiated else None))
    assert first.code == 'time_axis'
    told = float(first.text.split(' times')[0].split()[-1])
    assert told == pytest.approx(factor, rel=0.02)
