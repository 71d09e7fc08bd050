# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Suspects in the drive signals: order, sign, scale, delay, and a changed load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import COMMAND, joint_torque
from dynid_ros.data.signals.filtered_friction import filtered_step
from dynid_ros.data.signals.trial_samples import BREAK, CANDIDATE_DELAYS, TrialSamples, TYPICAL
from dynid_ros.estimation.blocks.groups import GROUPS
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.suspect import (
    exchange,
    Fault,
    moving_together,
    names,
    sized,
    Suspect,
    TWICE,
)
from dynid_ros.utilities.arrays import Array

#: Start values for the factor of a signal: units are off by powers of ten, gains by less. Prior
#: standard deviation of its logarithm.
FACTORS = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 1e2, 1e3)
SCALE_STD = float(np.log(FACTORS[-1]))
#: Code of a signal in another unit, or with a wrong gain.
SCALE = 'effort_scale'
#: Prior standard deviation of the logarithm of a stated gain: without its gear ratio or torque
#: constant, a gain is wrong by several times. The prior moves a ratio that the data determine to
#: 5 % by 0.2 % of its distance from the stated one.
GAIN_STD = float(np.log(3.0))
#: Code of a signal that is late or early.
LATE_SIGNAL = 'effort_delay'
#: Code of gains that contradict each other.
GAINS = 'gains_refuted'
#: Code of a signal that is no torque.
SILENT_SIGNAL = 'effort_meaningless'
#: Code of a signal without the torque that compensates for friction.
COMPENSATED = 'friction_compensated'
#: Code of a load that changes during the recording.
LOAD_CHANGED = 'payload_changed'
#: Mass and first moments: the weight of a load matters most, and six inertias would overfit.
LOAD = 4


def exchanged_signals(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Exchange the drive signals of each pair of joints that move together."""
    for pair in moving_together(base, joints):
        yield base.with_signals(exchange(base.arm.n, pair), Fault(
            'effort_exchanged', pair,
            f'the drive signals of {names(base.arm, pair)} seem to be exchanged',
            'check the order of the effort columns, or the names in the messages'))


def reversed_signals(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Reverse the sign of the drive signal of each joint, and of all of them."""
    for joint in joints:
        change = np.eye(base.arm.n)
        change[joint, joint] = -1
        yield base.with_signals(change, Fault(
            'effort_sign', (joint,),
            f'the drive signal of {names(base.arm, [joint])} seems to have the wrong sign',
            'reverse it in the gains of arm.yaml, or in the driver'))
    if len(joints) > 1:
        yield base.with_signals(-np.eye(base.arm.n), Fault(
            'effort_sign', tuple(joints), 'all drive signals seem to have the wrong sign',
            'reverse them in the gains of arm.yaml, or in the driver'))


def scaled_signals(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Scale the drive signal of each joint."""
    for joint in joints if len(joints) > 1 else []:
        for factor in FACTORS:
            yield sized(partial(_scaled, base, joint), np.log([factor]), np.array([SCALE_STD]),
                        TWICE, is_factor=True)


def _scaled(base: Suspect, joint: int, size: Array) -> Suspect:
    change, factor = np.eye(base.arm.n), float(np.exp(size[0]))
    change[joint, joint] = 1 / factor
    return base.with_signals(change, Fault(
        SCALE, (joint,),
        f'the drive signal of {names(base.arm, [joint])} seems to be {factor:.3g} times the '
        'torque that the other joints require', 'check its unit and its gain in arm.yaml'))


def silent_signals(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Assume that the drive signal of each joint holds no torque, if others do."""
    heard = [joint for joint in joints if joint not in base.rows.silent]
    yield from (silenced(base, joint) for joint in heard if len(heard) > 1)


def silenced(base: Suspect, joint: int) -> Suspect:
    """Assume that the drive signal of a joint holds no torque."""
    return base.refitted(Fault(
        SILENT_SIGNAL, (joint,),
        f'the drive signal of {names(base.arm, [joint])} does not follow its motion',
        'it is dead, too coarse, or of another quantity: record a topic that holds its torque'),
        silent=(*base.rows.silent, joint))


def compensated_friction(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """
    Assume that the drive signal of each joint lacks viscous friction, or those of several do.

    Some controllers add the torque that compensates for friction after the signal that they log,
    so that friction seems to drive the joint. They do so for several joints: for all of which the
    unconstrained coefficient is negative.
    """
    columns = base.rows.columns
    theta = Likelihood(base).fit(base)[0][:len(columns)]
    viscous = base.arm.layout.friction_columns('Fv')
    driven = [joint for joint in joints if viscous[joint] in columns[theta < 0]]
    for some in [*([joint] for joint in joints), *([driven] if len(driven) > 1 else [])]:
        text = (f'signals of {names(base.arm, some)} seem to lack friction, which then drives the '
                'joints' if some[1:] else f'signal of {names(base.arm, some)} seems to lack '
                'friction, which then drives the joint')
        yield base.refitted(Fault(
            COMPENSATED, tuple(some), f'the drive {text}',
            'record the torque with the compensation of friction that the controller adds'),
            compensated=tuple(dict.fromkeys([*base.rows.compensated, *some])))


def scaled_together(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Let the gain of each of three or more drives differ; two of them make one ratio."""
    if len(joints) > 2:
        yield other_gains(base, joints)


def other_gains(base: Suspect, joints: list[int]) -> Suspect:
    """Return a suspect whose size is the logarithm of the ratio of each gain to the stated one."""
    return sized(partial(_with_gains, base, joints), np.zeros(len(joints)),
                 np.full(len(joints), GAIN_STD), TWICE, is_factor=True)


def _with_gains(base: Suspect, joints: list[int], size: Array) -> Suspect:
    change = np.eye(base.arm.n)
    change[joints, joints] = np.exp(size)
    return base.with_signals(change, Fault(
        GAINS, tuple(joints), 'the data refute the stated gains',
        'find the gains with "dynid gains", which writes them into a copy of arm.yaml'))


def late_signals(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """
    Assume that the drive signal of each joint is late by one of `CANDIDATE_DELAYS`.

    A servo itself follows its command late, so that no command is suspected. Friction may be late,
    too, so that each of these suspects has presliding, as has the recording without its fault.
    """
    drive = base.arm.drive
    if drive.signal == COMMAND:
        return
    through = joint_torque(np.eye(base.arm.n), drive)
    for k, late in enumerate(CANDIDATE_DELAYS.tolist()):
        later = base.samples.later[:, :, k]
        change = np.linalg.solve(through.T, (later - base.samples.tau).T).T
        way = 'late' if late > 0 else 'early'
        for joint in joints:
            # Not refined: interpolation between the few `CANDIDATE_DELAYS` would be no better.
            tau = base.samples.tau + change[:, joint, None] * through[joint]
            late_signal = base.refitted(Fault(
                LATE_SIGNAL, (joint,),
                f'the drive signal of {names(base.arm, [joint])} seems to be some '
                f'{1000 * abs(late):.0f} ms {way}, unlike the other joints',
                'take positions and signals of all joints from one message',
                typical=abs(late) == TYPICAL), samples=replace(base.samples, tau=tau))
            yield with_presliding(late_signal, joint)


def with_presliding(suspect: Suspect, joint: int) -> Suspect:
    """Add friction of a contact that bends before it slides, so that it is late by itself."""
    rows = suspect.rows
    bending = tuple(dict.fromkeys([*rows.bending, joint]))
    return replace(suspect, rows=replace(rows, bending=bending))


def loads_in_a_part(base: Suspect, joints: list[int]) -> Iterator[Suspect]:
    """Let the tool carry a load from some moment on, or up to it, or in one recording."""
    if not joints or not len(base.samples.t) or base.rows.changed.size:
        return
    elapsed = np.sort(base.samples.elapsed)
    moments = elapsed[np.arange(1, GROUPS) * len(elapsed) // GROUPS].tolist()
    breaks = elapsed[1:][np.diff(elapsed) >= BREAK] - BREAK / 2
    spans = list(pairwise([-np.inf, *breaks.tolist(), np.inf])) if len(breaks) else []
    for start, end in [*((each, np.inf) for each in moments),
                       *((-np.inf, each) for each in moments), *spans]:
        yield load_between(base, start, end)


def load_between(base: Suspect, start: float, end: float) -> Suspect:
    """Let the tool carry a load between two moments of the time that elapsed, s."""
    last = base.arm.layout.inertial(base.arm.tool_link).start
    elapsed, period = base.samples.elapsed, base.samples.period
    presence = filtered_step(elapsed - start, period) - filtered_step(elapsed - end, period)
    part = _part(base.samples, start, end, presence > 0.5)
    return base.refitted(
        Fault(LOAD_CHANGED, (), f'the tool seems to carry something else {part}',
              'identify the parts with one load separately, or record again with one load'),
        changed=last + np.arange(LOAD), presence=presence)


def _part(samples: TrialSamples, start: float, end: float, loaded: NDArray[np.bool_]) -> str:
    """Name a part of the samples: one recording, or what lies between two moments."""
    if samples.source is not None:
        files = set(samples.source[loaded])
        if len(files) == 1 and files.isdisjoint(samples.source[~loaded]):
            return f"in '{Path(files.pop()).name}'"
    moments = [_place(samples, each) for each in (start, end) if np.isfinite(each)]
    return f'from {moments[0]} on' if len(moments) == 1 else f'from {" to ".join(moments)}'


def _place(samples: TrialSamples, moment: float) -> str:
    """Name a moment by its recording, if there are several, and its time."""
    elapsed = samples.elapsed
    order = np.argsort(elapsed)
    after = order[np.searchsorted(elapsed[order][:-1], moment)]
    time = f'{samples.t[after]:.0f} s'
    if samples.source is None or len(set(samples.source)) == 1:
        return time
    name = f"'{Path(samples.source[after]).name}'"
    begins = elapsed[after] - moment >= BREAK / 4
    return f'the beginning of {name}' if begins else f'{time} of {name}'
