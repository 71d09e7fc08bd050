# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Random states, faults, starts, stops and clock steps, driven through the control of an arm.

Every step is checked against what a safe control may do, by rules that are written down here
again and do not look into the control. Run it as
``python test/motion/execution/safety_steps.py --steps 1000000 [--seed N]``; it
prints how often each thing happened.
"""

from __future__ import annotations

import argparse
from collections import Counter
from functools import cache, partial
import time

import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.loop_stability import proposed_gains
from dynid_ros.motion.execution.motion_control import MotionControl
from dynid_ros.motion.execution.motion_executor import MotionExecutor
from dynid_ros.motion.execution.motion_output import MotionState, TorqueOutput
from dynid_ros.motion.execution.phases import Phase
from dynid_ros.motion.execution.safety_monitor import Bound, Violation
from dynid_ros.motion.execution.tracking_control import RigidArm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_pair import MotionPair

PERIOD, TIMEOUT, TRACKING = 0.002, 0.1, 0.1
#: Steps after which another arm is taken, at rest.
EACH = 10_000
#: Of the motion, rad.
AMPLITUDE = 0.05
#: The arm holds itself where no command has come for so long, s.
COMMAND_TIMEOUT = 0.1
WATCHED = {
    Phase.MOVING, Phase.RUNNING, Phase.VALIDATING, Phase.STOPPING, Phase.HOLDING}
#: Disturbances; all else are requests and good states.
EVENTS = (
    'NaN', 'spike', 'outside', 'fast', 'strained', 'silence', 'clock back', 'clock ahead',
    'second publisher', 'controller', 'push')
#: Chance of any of them in a step, and of the request that each phase invites.
DISTURBED = 0.003
INVITED = {Phase.IDLE: ('start', 0.05), Phase.HOLDING: ('start', 0.02),
           Phase.ABORTED: ('stop', 0.02), Phase.MOVING: ('stop', 0.0005),
           Phase.RUNNING: ('stop', 0.001), Phase.VALIDATING: ('stop', 0.001),
           Phase.STOPPING: ('stop', 0.001)}
#: And of any request in any phase.
UNINVITED = 0.0005


class UnsafeError(AssertionError):
    """The control did what no safe control may do."""


@cache
def motion_of(name: str):
    """Arm, a short motion of it, its limits, gains and rigid body."""
    arm = load_arm(name)
    room = planning_limits(arm)
    reduced = AMPLITUDE * np.linspace(0.5, 1.0, arm.n)[:, None] * np.ones(4)
    motion = MotionPair(
        FourierMotion.at_rest(1.2, room.middle, reduced, 1),
        FourierMotion.at_rest(1.0, room.middle, reduced[:, ::-1] / 2, 1), 0.5)
    return arm, motion, room, proposed_gains(arm, PERIOD), RigidArm(arm)


class Driver:
    """
    A simulated arm and all that can happen to it, around one control.

    Parameters
    ----------
    name : str
        A shipped arm.
    seed : int
        Of the events.
    dry : bool
        Whether the reference is only shown.

    """

    def __init__(self, name: str, seed: int, dry: bool = False) -> None:
        self.arm, motion, self.room, gains, self.rigid = motion_of(name)
        self.rng = np.random.default_rng(seed)
        self.sent: list = []
        # A copy of a driver gets a list of its own, to which `self.sent.append` would not belong.
        send = partial(list.append, self.sent)
        output = TorqueOutput(self.arm, gains, 'gravity', send)
        executor = MotionExecutor(motion, self.room)
        self.control = MotionControl(self.arm, executor, output, None, TRACKING, TIMEOUT, dry)
        self.q, self.qd = motion.start.copy(), np.zeros(self.arm.n)
        self.tau, self.commanded = self.rigid.gravity(self.q), -np.inf
        self.now = self.clock = 10.0
        self.seen = -np.inf
        self.mixed = 0
        self.began = self.q
        self.counts: Counter = Counter()
        self.braking = None

    def run(self, steps: int) -> Counter:
        """Take random steps, bring the arm to rest, and return how often each thing happened."""
        for chance in self.rng.random(steps).tolist():
            event = self.event(chance)
            self.counts[event] += 1
            self.step(event)
        self.come_to_rest()
        return self.counts

    def event(self, chance: float) -> str:
        """Choose what happens next by a random number."""
        request, likely = INVITED[self.control.phase]
        if chance < DISTURBED:
            return EVENTS[int(chance / DISTURBED * len(EVENTS))]
        if chance < DISTURBED + UNINVITED:
            return ('start', 'stop')[int((chance - DISTURBED) / UNINVITED * 2)]
        return request if chance > 1 - likely else 'state'

    def step(self, event: str) -> None:
        """Let one thing happen, and look at what the control did."""
        self.sent.clear()
        before = self.control.phase
        if event == 'start':
            self.start(before)
        elif event == 'stop':
            self.stop(before)
        elif event == 'silence':
            self.silence(before)
        elif event == 'controller':
            self.control.fault(Violation(Bound.CONTROLLER, 'a planted fault'))
            self.must_abort(before, event)
        else:
            self.state(before, event)
        self.apply()
        self.check_commands(before)
        self.counts[f'in {before.name}'] += 1

    def start(self, before: Phase) -> None:
        if self.control.period is None or self.control.stale(self.clock):
            return
        try:
            self.control.start(self.clock)
        except InputError:
            require(self.control.phase is before, 'a refused start changes the phase')
            return
        require(before in (Phase.IDLE, Phase.HOLDING), f'a start while {before.name}')
        self.counts['started'] += 1
        self.began = self.control.last.q

    def stop(self, before: Phase) -> None:
        self.control.stop(self.clock)
        after = self.control.phase
        allowed = {Phase.IDLE: {Phase.IDLE}, Phase.ABORTED: {Phase.HOLDING}}
        require(after in allowed.get(before, {Phase.STOPPING, Phase.HOLDING}),
                f'a stop leads from {before.name} to {after.name}')
        if before is Phase.ABORTED:
            self.braking = None

    def silence(self, before: Phase) -> None:
        """No state for some time; the watchdog looks all the same."""
        for _ in range(int(self.rng.integers(2, 30))):
            self.advance(0.01)
            self.control.notice_silence(self.clock)
        if self.now - self.seen > TIMEOUT + 1e-9:
            self.must_abort(before, 'silence')

    def state(self, before: Phase, event: str) -> None:
        """Deliver a state, good or bad, as a node in simulated time does."""
        self.advance(PERIOD * self.rng.uniform(0.5, 2.0))
        if event == 'clock back':
            self.clock -= self.rng.uniform(0.001, 1.0)
        elif event == 'clock ahead':
            self.clock += self.rng.uniform(0.001, 3.0)
        elif event == 'push':
            self.qd = self.qd + self.rng.normal(size=self.arm.n) * 0.3 * self.arm.limits.velocity
        elif event == 'second publisher':
            self.mixed = 20
        self.control.notice_silence(self.clock)
        before = self.control.phase
        lasting = event in ('fast', 'strained') and not self.mixed
        for _ in range(8 if lasting else 1):
            self.deliver(before, event)
        if lasting:
            self.must_abort(before, event)

    def deliver(self, before: Phase, event: str) -> None:
        q, qd, tau = self.measured(event)
        foreign = self.mixed > 0
        if foreign:
            self.mixed -= 1
            q, qd = np.zeros_like(q), np.zeros_like(qd)
        count = len(self.sent)
        told = self.control.take(self.clock, MotionState(q, qd, tau), foreign)
        self.apply()
        phase = self.control.phase
        number = (np.abs(q) < 1e6).all() and (np.abs(qd) < 1e6).all()
        limits = self.arm.limits
        if not number or (q < limits.lower).any() or (q > limits.upper).any():
            self.must_abort(before, f'{event}: a state beyond numbers or limits')
        if foreign or not number:
            require(told is None and len(self.sent) - count <= (phase is not before),
                    'a state that cannot be trusted is acted upon')
            return
        if phase is not Phase.ABORTED:
            self.braking = None
        self.seen = self.now
        if told is None:
            return
        wanted = told[0]
        if phase in WATCHED:
            require(np.abs(q - wanted.q).max() <= TRACKING + 1e-9, 'a lost arm is not noticed')
        if phase in (Phase.MOVING, Phase.RUNNING, Phase.VALIDATING):
            room = self.room
            # It may begin between the limits of the hardware and those of planned motions.
            lower, upper = np.minimum(room.lower, self.began), np.maximum(room.upper, self.began)
            require((wanted.q >= lower - 1e-6).all() and (wanted.q <= upper + 1e-6).all()
                    and (np.abs(wanted.qd) <= room.velocity + 1e-6).all(),
                    'a reference beyond the limits')
        if phase is Phase.ABORTED:
            self.check_braking(wanted)

    def measured(self, event: str):
        q, qd, tau = self.q.copy(), self.qd.copy(), self.tau.copy()
        joint = 0 if event in ('fast', 'strained') else int(self.rng.integers(self.arm.n))
        if event == 'NaN':
            (q if self.rng.random() < 0.5 else qd)[joint] = self.rng.choice([np.nan, np.inf])
        elif event == 'spike':
            (q if self.rng.random() < 0.5 else qd)[joint] = self.rng.choice([-1e308, 3e6, 1e200])
        elif event == 'outside':
            q[joint] = self.arm.limits.upper[joint] + self.rng.uniform(0.01, 3.0)
        elif event == 'fast':
            qd[joint] = 2 * self.arm.limits.velocity[joint]
        elif event == 'strained':
            tau[joint] = -3 * self.arm.limits.effort[joint]
        return q, qd, tau

    def must_abort(self, before: Phase, event: str) -> None:
        if before in WATCHED:
            require(self.control.phase is Phase.ABORTED, f'{event} while {before.name}')
            self.counts[f'aborted by {self.control.violation.bound.name}'] += 1

    def check_braking(self, wanted) -> None:
        """After an abort the reference only slows down."""
        speed = np.abs(wanted.qd)
        require((speed <= self.room.velocity + 1e-9).all(), 'it brakes faster than planned')
        if self.braking is not None:
            require((speed <= self.braking + 1e-9).all(), 'it gains speed after an abort')
        self.braking = speed

    def check_commands(self, before: Phase) -> None:
        phase = self.control.phase
        for tau in self.sent:
            require(np.isfinite(tau).all(), 'a torque that is no number')
            require((np.abs(tau) <= self.arm.limits.effort).all(), 'a torque beyond its limit')
        if before is Phase.IDLE and phase is Phase.IDLE:
            require(not self.sent, 'an arm that was never moved is commanded')
        if phase is not before:
            possible = {
                Phase.IDLE: {Phase.MOVING},
                Phase.ABORTED: {Phase.HOLDING}}.get(before, set(Phase) - {Phase.IDLE})
            require(phase in possible, f'{before.name} becomes {phase.name}')
        if phase is Phase.ABORTED and before in WATCHED:
            held = self.rigid.gravity(self.control.last.q)
            limit = self.arm.limits.effort
            require(any(np.allclose(tau, np.clip(held, -limit, limit)) for tau in self.sent),
                    'an abort does not hold the arm')

    def advance(self, seconds: float) -> None:
        """Move the arm on with the torque that acts."""
        self.now += seconds
        self.clock += seconds
        for _ in range(max(1, round(seconds / PERIOD))):
            h = seconds / max(1, round(seconds / PERIOD))
            if self.now - self.commanded > COMMAND_TIMEOUT:
                # It has a brake.
                self.qd = 0.9 * self.qd
            else:
                M = self.rigid.mass_matrix(self.q)
                bias = self.rigid.torque(self.q, self.qd, np.zeros(self.arm.n))
                self.qd = self.qd + h * np.linalg.solve(M, self.tau - bias)
            self.q = self.q + h * self.qd
            out = (self.q < self.arm.limits.lower) | (self.q > self.arm.limits.upper)
            self.q = np.clip(self.q, self.arm.limits.lower + 1e-3, self.arm.limits.upper - 1e-3)
            self.qd = np.where(out, 0.0, self.qd)

    def apply(self) -> None:
        if self.sent:
            self.tau, self.commanded = self.sent[-1], self.now

    def come_to_rest(self) -> None:
        """After a stop and good states the arm is at rest, whatever there was before."""
        self.mixed = 0
        for _ in range(2):
            self.step('stop')
            for _ in range(round(1.5 / PERIOD)):
                self.step('state')
                if self.at_rest():
                    break
        require(self.at_rest(), f'it does not come to rest: {self.control.phase}, {self.qd}')

    def at_rest(self) -> bool:
        return (self.control.phase in (Phase.IDLE, Phase.HOLDING)
                and bool(np.abs(self.qd).max() < 0.02))


def require(kept: bool, broken: str) -> None:
    """Raise `UnsafeError` where a rule is not kept."""
    if not kept:
        raise UnsafeError(broken)


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--steps', type=int, default=100_000)
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    counts: Counter = Counter()
    began = time.process_time()
    for k in range(-(-options.steps // EACH)):
        name = ('two_axis', 'hand_leg')[k % 2]
        counts += Driver(name, options.seed + k).run(EACH)
    print(f'{options.steps} steps without a violation of the rules, '
          f'{time.process_time() - began:.0f} s')
    for name, count in counts.most_common():
        print(f'{count:9d}  {name}')


if __name__ == '__main__':
    main()
