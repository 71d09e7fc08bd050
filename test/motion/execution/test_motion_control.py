# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The control of an arm is safe in whatever happens, and the rules would notice if it were not."""

from collections import Counter
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from safety_steps import Driver, TIMEOUT, TRACKING, UnsafeError

from dynid_ros.motion.execution import motion_control, motion_executor
from dynid_ros.motion.execution.motion_control import MotionControl
from dynid_ros.motion.execution.motion_executor import MotionExecutor
from dynid_ros.motion.execution.motion_output import MotionState, TorqueOutput
from dynid_ros.motion.execution.phases import Event, Phase, TRANSITIONS
from dynid_ros.motion.execution.safety_monitor import (
    Bound,
    DEFAULT_THRESHOLDS,
    EffortLimiter,
    LimitWatch,
    SafetyMonitor,
    Violation,
)

ROOT = Path(__file__).parents[3]
STEPS = 4000


@pytest.mark.slow
def test_random_steps_break_no_rule_and_reach_every_phase():
    counts = sum((Driver(name, 0).run(STEPS) for name in ('two_axis', 'hand_leg')), Counter())
    assert all(counts[f'in {phase.name}'] for phase in Phase)
    assert counts['started'] > 10


def without(patch, *bounds):
    """Let the monitor overlook some bounds."""
    look = SafetyMonitor.violation

    def blind(self, *state):
        problem = look(self, *state)
        return None if problem and problem.bound in bounds else problem

    patch.setattr(SafetyMonitor, 'violation', blind)


def other_transitions(patch, change):
    """Change the table of phases."""
    patch.setattr(motion_executor, 'TRANSITIONS', {
        key: value for key, value in {**TRANSITIONS, **change}.items() if value})


def nothing(*_):
    """Do nothing, whatever is asked."""


def unlimited(patch):
    limit = EffortLimiter.limit
    patch.setattr(EffortLimiter, 'limit', lambda self, now, tau: (
        tau, limit(self, now, tau)[1]))


def keeps_going_after_an_abort(patch):
    def abort(self, reason):
        if self._change(Event.VIOLATION):
            self.reason = reason

    patch.setattr(MotionExecutor, 'abort', abort)


def brakes_at_any_speed(patch):
    brake = MotionExecutor.brake

    def fast(self, now, q, qd):
        brake(self, now, q, 3 * np.sign(qd) * self._allowed.velocity)
        path = self._path
        self._path = lambda s: (path(s)[0], 3 * path(s)[1], path(s)[2])

    patch.setattr(MotionExecutor, 'brake', fast)


def starts_after_an_abort(patch):
    other_transitions(patch, {(Phase.ABORTED, Event.START): Phase.MOVING})
    patch.setattr(MotionExecutor, 'check_free', nothing)


def leaves_the_arm_at_an_abort(patch):
    patch.setattr(TorqueOutput, 'hold', nothing)


def acts_on_any_state(patch):
    take = MotionControl.take
    patch.setattr(MotionControl, 'take', lambda *args: take(*args[:3]))


def never_brakes(patch):
    patch.setattr(MotionExecutor, 'brake', nothing)


def stands_still_where_the_clock_goes_back(patch):
    def tick(self, now):
        self._newest = max(self._newest, now)
        return self._newest

    patch.setattr(MotionControl, '_tick', tick)


PLANTED = {
    'torques are not cut off': unlimited,
    'NaN are not looked for': lambda patch: without(patch, Bound.NUMBER),
    'position limits are not looked at': lambda patch: without(patch, Bound.POSITION),
    'distance from the reference is not looked at': lambda patch: without(patch, Bound.TRACKING),
    'velocities and efforts are not looked at': lambda patch: patch.setattr(
        LimitWatch, 'violation', nothing),
    'silence is not noticed': lambda patch: patch.setattr(
        MotionControl, 'notice_silence', nothing),
    'faults of a controller are not noticed': lambda patch: patch.setattr(
        motion_control, 'WATCHED', frozenset({Phase.RUNNING})),
    'the motion goes on after an abort': keeps_going_after_an_abort,
    'braking is faster than the limits': brakes_at_any_speed,
    'a start needs no reset after an abort': starts_after_an_abort,
    'a stop after an abort runs on': lambda patch: other_transitions(
        patch, {(Phase.ABORTED, Event.STOP): Phase.RUNNING}),
    'a stop is not heard while it runs': lambda patch: other_transitions(
        patch, {(Phase.RUNNING, Event.STOP): None}),
    'an abort holds nothing': leaves_the_arm_at_an_abort,
    'states of a second publisher count': acts_on_any_state,
    'nothing is commanded after an abort': never_brakes,
    'time stands still where the clock goes back': stands_still_where_the_clock_goes_back,
}


#: Bugs that take a rare course of events, and seeds that lead to one soon.
RARE = {
    'torques are not cut off': 5, 'position limits are not looked at': 13,
    'distance from the reference is not looked at': 5,
    'velocities and efforts are not looked at': 5, 'silence is not noticed': 3,
    'a start needs no reset after an abort': 2, 'states of a second publisher count': 4,
    'nothing is commanded after an abort': 11, 'time stands still where the clock goes back': 4,
}


@pytest.mark.slow
@pytest.mark.parametrize('bug', PLANTED)
def test_each_planted_bug_is_caught(monkeypatch, bug):
    PLANTED[bug](monkeypatch)
    first = RARE.get(bug, 0)
    with pytest.raises(UnsafeError):
        for seed in range(first, first + 20):
            Driver('two_axis', seed).run(STEPS)


@cache
def driven_once(phase, dry):
    """Drive a control into a phase; only copies of it go on."""
    driver = Driver('two_axis', 1, dry)
    for _ in range(10):
        driver.step('state')
    if phase is not Phase.IDLE:
        driver.control.start(driver.clock)
    while phase in (Phase.RUNNING, Phase.HOLDING) and driver.control.phase is not phase:
        driver.step('state')
    if phase is Phase.STOPPING:
        driver.step('stop')
    assert driver.control.phase is phase
    return driver


def driven(phase, dry=False):
    """Return a driver whose control is in a phase."""
    return deepcopy(driven_once(phase, dry))


def broken(driver, bound):
    """Break one bound as an arm would."""
    arm, control = driver.arm, driver.control
    state = MotionState(driver.q, driver.qd, driver.tau)
    wrong = {
        Bound.NUMBER: [state._replace(q=driver.q * np.nan)],
        Bound.POSITION: [state._replace(q=arm.limits.upper + 0.1)],
        Bound.VELOCITY: DEFAULT_THRESHOLDS.samples * [state._replace(qd=2 * arm.limits.velocity)],
        Bound.EFFORT: DEFAULT_THRESHOLDS.samples * [state._replace(tau=2 * arm.limits.effort)],
        Bound.TRACKING: [state._replace(q=driver.q + 1.1 * TRACKING + 0.05)]}
    for each in wrong.get(bound, ()):
        control.take(driver.clock, each)
    if bound is Bound.SILENCE:
        control.notice_silence(driver.clock + 1.1 * TIMEOUT)
    elif bound in (Bound.PUBLISHERS, Bound.CONTROLLER):
        control.fault(Violation(bound, 'as the node sees it'))


@pytest.mark.slow
@pytest.mark.parametrize('bound', Bound)
@pytest.mark.parametrize('phase', [Phase.MOVING, Phase.RUNNING, Phase.STOPPING, Phase.HOLDING])
def test_each_kind_of_violation_stops_the_arm_in_each_phase(phase, bound):
    driver = driven(phase)
    driver.sent.clear()
    broken(driver, bound)
    assert driver.control.phase is Phase.ABORTED
    assert driver.control.violation.bound is bound
    # The last command is the one that holds.
    held = driver.rigid.gravity(driver.control.last.q)
    np.testing.assert_allclose(driver.sent[-1], held, atol=1e-12)
    driver.come_to_rest()


@pytest.mark.parametrize('bound', Bound)
def test_nothing_of_an_arm_that_is_not_moved_is_a_violation(bound):
    driver = driven(Phase.IDLE)
    broken(driver, bound)
    assert (driver.control.phase, driver.control.violation, driver.sent) == (Phase.IDLE, None, [])


def table():
    """Return the transitions as a table in Markdown: a row for each phase."""
    head = ['phase', *(event.value for event in Event)]
    rows = [head, ['---'] * len(head)]
    for phase in Phase:
        after = (TRANSITIONS.get((phase, event)) for event in Event)
        rows.append([phase.value, *('' if each is None else each.value for each in after)])
    return '\n'.join(f'| {" | ".join(row)} |' for row in rows)


def test_documentation_shows_the_table_of_phases():
    assert table() in (ROOT / 'docs' / 'moving_the_arm.md').read_text(encoding='utf-8')


def test_a_dry_run_is_aborted_by_no_tracking_error():
    driver = driven(Phase.IDLE, dry=True)
    driver.control.start(driver.clock)
    rest = MotionState(driver.q, np.zeros(driver.arm.n), None)
    for k in range(500):
        driver.control.take(driver.clock + k * 0.01, rest)
    assert driver.control.phase is Phase.HOLDING
