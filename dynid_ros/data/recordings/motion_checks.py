# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Checks of positions: wraps, units, jumps, quantisation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings import absurd_values
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.data.recordings.stamp_checks import stamp_of
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import steps
from dynid_ros.utilities.text import several

Index = NDArray[np.int64]

TURN = 2 * np.pi
#: Number of samples searched for encoder steps; more do not change the result.
QUANTISED_SAMPLES = 20_000


# Bounds of good positions and velocities. Measured figures come from benchmarks/thresholds.py:
# real arms (UR10, Panda, TX40), simulated arms, and planted defects.

#: Step from which a position may have wrapped, rad: no revolute joint moves half a turn within a
#: sample.
WRAP_STEP = np.pi
#: Largest speed within a wrap relative to that in the other samples.
WRAP_SLACK = 1.5
#: Additional encoder noise, rad.
WRAP_NOISE = 0.05
#: Distance beyond the limits from which positions may be degrees, rad: half a turn. Wrapped or
#: badly calibrated positions stay below it.
DEGREE_EXCESS = np.pi
#: Least range, rad, of the joint that moves most if its values are degrees; velocities of a fast
#: arm may exceed the position limits, too.
DEGREE_RANGE = 0.5
#: Distance beyond the limits that an error of calibration explains, rad.
DEGREE_SLACK = 0.02
TO_RADIANS = 'convert them to rad, or state table: {unit: deg} in arm.yaml for a table.'
#: Range of positions from which a joint counts as moving, rad or m. Vibration and encoder noise
#: stay below. Joints of real recordings move by 0.48 rad and more.
LEAST_MOTION = 0.01
#: Code of a joint that does not move.
CONSTANT = 'joint_constant'
#: Smallest encoder step that is reported, rad or m. Differentiated twice at 1 kHz, a finer step
#: causes less than 10 rad/s² of noise.
ENCODER_STEP = 1e-5
#: Share of position changes that must be multiples of the smallest one for it to be the encoder
#: step.
ENCODER_SHARE = 0.99
#: Time over which velocities are integrated for comparison with positions, s. This avoids the
#: noise of differentiated positions, and lags of filters hardly matter.
VELOCITY_SECONDS = 0.5
#: Largest difference of that integral from the motion, relative to the motion. Velocities of real
#: drivers were seen to differ by 0.3 to 3 %. Good recordings reach 0.034; velocities scaled by 0.7
#: give 0.30.
VELOCITY_MISMATCH = 0.25
#: Multiple of the window beyond which a gap invalidates the integral.
VELOCITY_STRETCH = 1.2


def moves(span: tuple[Array, Array]) -> NDArray[np.bool_]:
    """Return a mask of the joints that move, (n,), from their lowest and highest positions."""
    lowest, highest = span
    return np.asarray(highest - lowest > LEAST_MOTION)


def unwrapped(recording: Recording, arm: ArmModel) -> Recording:
    """Undo wraps of revolute joints and report them; other jumps and lost values remain."""
    q, defects = recording.q, list[Defect]()
    if (recording.largest_step <= WRAP_STEP).all():
        return recording
    wraps: NDArray[np.bool_] = np.zeros(arm.n, dtype=np.bool_)
    for before, after in steps(len(q)):
        # A step from or to a lost value may be a wrap, too.
        with np.errstate(invalid='ignore'):
            wraps |= ~(np.abs(q[after] - q[before]) <= WRAP_STEP).all(axis=0)
    for j in np.flatnonzero(wraps & ~arm.prismatic):
        finite = np.flatnonzero(np.isfinite(q[:, j]))
        places, turns = _turns(q[finite, j], recording.t[finite])
        if not len(places):
            continue
        # Copy only if needed, to save memory.
        q = q if defects else q.copy()
        places = finite[places]
        total_turns = np.append(0.0, np.cumsum(turns))
        # The number of wraps up to each sample.
        q[:, j] -= TURN * total_turns[np.searchsorted(places, np.arange(len(q)))]
        name = recording.joint_names[j]
        text = f'{name} wraps around {len(places)} times; its position is unwrapped.'
        where = stamp_of(recording, int(places[0]) + 1)
        limit = WRAP_STEP
        defects.append(Defect(
            'position_wrapped', 'warning', text, name, len(places), where, TURN, limit))
    if not defects:
        return recording
    return replace(recording, q=q, defects=(*recording.defects, *defects))


def _turns(q: Array, t: Array) -> tuple[Index, Array]:
    """Find the steps that are wraps (k,), and the whole turns of each."""
    large = np.flatnonzero(np.abs(np.diff(q)) > WRAP_STEP)
    if not 0 < len(large) < len(q) - 1:
        return large[:0], np.zeros(0)
    step, time = q[large + 1] - q[large], t[large + 1] - t[large]
    moved = WRAP_SLACK * _speed(q, t) * time
    turns = np.rint(step / TURN)
    wrapped = np.abs(step - TURN * turns) <= moved + WRAP_NOISE
    chosen = wrapped & (np.abs(step) > moved) & (turns != 0)
    return large[chosen], turns[chosen]


def _speed(q: Array, t: Array) -> float:
    """Highest speed without outliers and large steps, rad/s or m/s."""
    step = np.abs(np.diff(q))
    small = step <= WRAP_STEP
    return float(np.percentile(step[small] / np.diff(t)[small], 99.5))


def degree_defects(recording: Recording, arm: ArmModel) -> list[Defect]:
    """Report positions in degrees: far beyond the limits, and within all of them as degrees."""
    slack = DEGREE_SLACK
    turning = np.flatnonzero(~arm.prismatic & moves(recording.span))
    lower, upper = (x[turning] for x in (arm.limits.lower, arm.limits.upper))
    least, most = (x[turning] for x in recording.span)
    beyond = np.maximum(most - upper, lower - least)
    inside = ((np.radians(most) <= upper + slack) & (np.radians(least) >= lower - slack)).all()
    narrow = not (np.radians(most - least) > DEGREE_RANGE).any()
    if narrow or not inside or not (beyond > DEGREE_EXCESS).any():
        return []
    worst = int(np.argmax(beyond))
    name = recording.joint_names[turning[worst]]
    value = float(max(-least[worst], most[worst]))
    # Of one joint in degrees among others in rad, the limits do not tell.
    either = [recording.joint_names[joint] for joint in turning[beyond <= 0]]
    also = f' ({several(either)} as rad, too: look which are in degrees)' if either else ''
    text = (f'positions seem to be in degrees: {name} reaches {value:.4g}, far beyond its limits '
            f'in rad, and all joints are within theirs as degrees{also}; {TO_RADIANS}')
    return [Defect('position_degrees', 'error', text, name, len(recording.q), 0.0, value,
                   DEGREE_EXCESS)]


def jump_defects(recording: Recording, arm: ArmModel) -> list[Defect]:
    """Report impossible steps of position, or degrees if none is impossible as such."""
    t, q = recording.t, recording.q
    before = absurd_values.jumps(recording, arm.limits.velocity)
    if not len(before):
        return []
    way = np.abs(q[before + 1] - q[before])
    bound = absurd_values.largest_steps(t[before + 1] - t[before], arm.limits.velocity)
    jumps: NDArray[np.bool_] = np.zeros(q.shape, dtype=np.bool_)
    jumps[before + 1] = way > bound
    # Other steps are no jumps in degrees, either.
    in_degrees = not (np.where(arm.prismatic, 1.0, np.radians(1.0)) * way > bound).any()
    largest = way.max(axis=0, where=way > bound, initial=0.0)
    count, (least, most) = jumps.sum(axis=0), recording.span
    worst = int(np.argmax(count))
    # An encoder fault or a wrap does not widen the range of a joint to what an arm covers in
    # degrees, unless its step is impossible in degrees, too.
    if in_degrees and count[worst] and np.radians(most - least)[worst] > DEGREE_RANGE:
        return [Defect(
            'position_degrees', 'error',
            f'positions seem to be in degrees: {recording.joint_names[worst]} jumps by up to '
            f'{largest[worst]:.4g} within one sample, {count[worst]} times, and does not as '
            f'degrees; {TO_RADIANS}', recording.joint_names[worst], int(count[worst]), 0.0,
            float(largest[worst]), absurd_values.JUMP)]
    return [_jump(recording, j, int(count[j]), int(np.argmax(jumps[:, j])), float(largest[j]))
            for j in np.flatnonzero(count).tolist()]


def _jump(recording: Recording, j: int, count: int, first: int, largest: float) -> Defect:
    """Report the jumps of a joint, and where the first one is."""
    name, x = recording.joint_names[j], recording.q[:, j]
    stamp = float(recording.t[first] - recording.t[0])
    text = (f'{name} jumps by up to {largest:.4g} within one sample, {count} times, first after '
            f'{stamp:.6g} s of the recording, from {x[first - 1]:.4g} to {x[first]:.4g}: an '
            'encoder fault, a wrong unit, or a wrap that is not a whole turn; cut it out or '
            'record again; if the joint is that fast, correct its limits.velocity in arm.yaml.')
    return Defect(
        'position_jump', 'error', text, name, count, stamp, largest, absurd_values.JUMP)


def constant_defects(recording: Recording) -> list[Defect]:
    """Report joints that do not move."""
    moving = moves(recording.span)
    if moving.all():
        return []
    severity = 'warning' if moving.any() else 'error'
    return absurd_values.marked_defects(
        recording, np.broadcast_to(~moving, recording.q.shape),
        CONSTANT, severity,
        '{name} does not move, so its inertia and friction are unidentifiable; move it.',
        value=np.ptp(recording.q, axis=0), threshold=LEAST_MOTION)


def quantisation_defects(recording: Recording) -> list[Defect]:
    """Report encoder quantisation that affects accelerations."""
    limit = ENCODER_STEP
    found = []
    for j, name in enumerate(recording.joint_names):
        changes = np.abs(np.diff(recording.q[:QUANTISED_SAMPLES, j]))
        changes = changes[changes > limit / 10]
        if len(changes) < 50 or changes.min() < limit:
            continue
        step = float(changes.min())
        multiple = changes / step
        if np.mean(np.abs(multiple - np.rint(multiple)) < 0.1) < ENCODER_SHARE:
            continue
        text = f'The position of {name} is quantised in steps of {step:.3g}; filtering smooths it.'
        found.append(Defect(
            'position_quantised', 'info', text, name, value=step, threshold=limit))
    return found
