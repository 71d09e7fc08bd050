# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Cleaning of recordings, and checks of their quality."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.arm.drive import COMMAND, DEVIATION, deviation, joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings import absurd_values
from dynid_ros.data.recordings.absurd_values import (
    absurd_defects,
    driven_passively,
    marked_defects,
    measured_or_passive,
    unmeasured,
)
from dynid_ros.data.recordings.clock import with_one_clock
from dynid_ros.data.recordings.lost_values import (
    LOST_SHARE,
    without_lost_values,
    without_passive_signals,
)
from dynid_ros.data.recordings.measured_times import as_measured
from dynid_ros.data.recordings.motion_checks import (
    constant_defects,
    degree_defects,
    jump_defects,
    moves,
    quantisation_defects,
    unwrapped,
)
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.data.recordings.repeats import without_stalled
from dynid_ros.data.recordings.stamp_checks import (
    only_increasing,
    stamp_defects,
    stamp_of,
    usable,
)
from dynid_ros.data.recordings.stamp_unit import rate_defects
from dynid_ros.data.recordings.velocity_checks import without_bad_velocities
from dynid_ros.data.recordings.wrong_samples import without_wrong_samples
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import marked

# Bounds of a recording that can be trusted. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects.

#: Distance from the effort limit, relative to it, of a clipped signal. If the signal exceeds the
#: limit by more, the limit is not that of the drive.
SATURATED_SHARE = 0.01
#: Least number of samples at the limit for a report. Noise may cause single ones.
SATURATED_SAMPLES = 3
#: Distance beyond a position limit that an error of calibration explains, rad or m. Good
#: recordings go 0.001 rad beyond.
POSITION_SLACK = 0.02
#: Multiple of the velocity limit that noise of a measured velocity explains. Good recordings reach
#: 0.91.
VELOCITY_SLACK = 1.05
#: Fewest joints whose signals lack a sign, and share of their largest value that counts as zero:
#: gravity may keep single joints on one side, but not three of them down to zero.
UNSIGNED_JOINTS, NEAR_ZERO = 3, 0.01
#: Least samples for each parameter and joint. With fewer, least squares fits noise. Good
#: recordings have 52 and more.
SAMPLES_PER_PARAMETER = 3
#: Largest share of unreadable rows of a table, or of messages, that are left out. An overloaded
#: logger damages a few per cent of them; a file that lacks more is broken.
MISSING_SHARE = 0.05
#: Shortest recording, and shortest stretch without a gap, s. A shorter motion does not contain one
#: period of any useful excitation.
SHORTEST_RECORDING_SECONDS = 1.0


def clean(recording: Recording, arm: ArmModel, *, stamped: bool = False) -> Recording:
    """
    Return a recording whose stamps increase and whose positions are unwrapped.

    Lost values are interpolated, or leave a gap (`without_lost_values`). Commands are replaced by
    the deviations of the motors from them.

    Each change is added to the defects; a clean recording is returned unchanged.
    `check_recording` reports the defects that cannot be repaired.

    Parameters
    ----------
    recording : Recording
        Recording.
    arm : ArmModel
        Kinds of the joints: revolute or prismatic.
    stamped : bool
        Whether samples keep their stamps; see `as_measured`.

    """
    recording = without_passive_signals(with_deviation(recording, arm), arm)
    recording = only_increasing(with_one_clock(recording))
    lowest, highest = recording.span
    if not usable(recording.t) or (
            np.maximum(-lowest, highest) > absurd_values.ABSURD_POSITION).any():
        return recording
    recording = without_lost_values(unwrapped(recording, arm))
    if not usable(recording.t) or not recording.finite_positions:
        return recording
    recording = without_stalled(without_wrong_samples(recording, arm.limits.velocity))
    return without_bad_velocities(as_measured(recording, stamped=stamped))


def with_deviation(recording: Recording, arm: ArmModel) -> Recording:
    """
    Replace commands by the deviation of the motors from them.

    The drive responds to a command after the delay that arm.yaml states.
    """
    if recording.signal != COMMAND:
        return recording
    u, delay = recording.u, arm.conditioning.delay
    if delay and usable(recording.t):
        u = np.column_stack([
            np.interp(recording.t - delay, recording.t, column) for column in u.T])
    return replace(recording, u=deviation(u, recording.q, arm.drive), signal=DEVIATION)


def check_recording(recording: Recording, arm: ArmModel) -> tuple[Defect, ...]:
    """
    Find the defects of a recording, including those found while reading it.

    Severity ``error``: a model fitted to it is not trustworthy; ``warning``: the defect was
    worked around; ``info``: a remark.

    Parameters
    ----------
    recording : Recording
        Recording, cleaned or not.
    arm : ArmModel
        Joint kinds, limits, drive, and the parameters to be identified.

    """
    return defects_of(clean(recording, arm), arm)


def defects_of(recording: Recording, arm: ArmModel) -> tuple[Defect, ...]:
    """Find the defects of a cleaned recording, as `check_recording` does."""
    found = [*_too_short(recording, arm), *_nonfinite(recording), *absurd_defects(recording)]
    if len(recording.t) < 3:
        return (*recording.defects, *found)
    if not usable(recording.t):
        return (*recording.defects, *stamp_defects(recording), *found)
    found += [*rate_defects(recording.step), *stamp_defects(recording),
              *_dead_signal(recording, arm), *_signal_of_passive(recording, arm),
              *_without_sign(recording)]
    if not any(d.severity == 'error' and d.code.startswith('position') for d in found):
        found += [*(degree_defects(recording, arm) or jump_defects(recording, arm)),
                  *constant_defects(recording), *_position_limits(recording, arm),
                  *quantisation_defects(recording)]
    found += [*_saturated(recording, arm), *_velocity_limits(recording, arm)]
    return (*recording.defects, *found)


def _too_short(recording: Recording, arm: ArmModel) -> list[Defect]:
    rows, least = recording.q.size, SAMPLES_PER_PARAMETER * arm.layout.size
    if rows < least:
        text = (f'{len(recording.t)} samples of {arm.n} joints are too few for {arm.layout.size} '
                f'parameters; record at least {-(-least // arm.n)} samples.')
        return [Defect('too_short', 'error', text, None, len(recording.t), None, rows, least)]
    shortest = SHORTEST_RECORDING_SECONDS
    if usable(recording.t) and recording.seconds < shortest:
        text = f'The recording lasts {recording.seconds:.3g} s; record at least {shortest:g} s.'
        return [Defect('too_short', 'error', text, None, len(recording.t), None,
                       recording.seconds, shortest)]
    return []


def _nonfinite(recording: Recording) -> list[Defect]:
    """Report joints with too many lost values: their interface is dead."""
    found = []
    for x, finite, code, text in (
        (recording.q, recording.finite_positions, 'position_nan',
         'positions are NaN or infinite; fix the driver and record again.'),
        (recording.u, recording.finite_signals, 'effort_nan',
         f'values of {recording.signal} are NaN or infinite; record again; where all are, its '
         'interface is missing in the driver or in the broadcaster.'),
    ):
        if finite:
            continue
        lost = ~np.isfinite(x)
        share = lost.mean(axis=0) if len(lost) else np.zeros(x.shape[1])
        found += marked_defects(
            recording, lost & (share > LOST_SHARE), code, 'error',
            '{name}: {count} of {total} ' + text, value=share, threshold=LOST_SHARE)
    return found


def _dead_signal(recording: Recording, arm: ArmModel) -> list[Defect]:
    """Report drive signals that never change although the joint moves and has a drive."""
    u, nothing = recording.u, absurd_values.NO_SIGNAL
    finite = np.isfinite(u[0])
    first = np.where(finite & (np.abs(u[0]) > nothing), u[0], 0.0)
    lowest, highest = recording.signal_span
    dead = moves(recording.span) & finite & arm.drive.driven & (
        np.maximum(highest - first, first - lowest) <= nothing)
    defects = []
    for j in np.flatnonzero(dead):
        value = float(first[j])
        code = 'effort_constant' if value else 'effort_zero'
        name = recording.joint_names[j]
        text = (f'{unmeasured(name, recording.signal, value)}; '
                f'{measured_or_passive(name, recording.signal, value)}.')
        defects.append(Defect(code, 'error', text, name, len(recording.t), 0.0, value))
    return defects


def _without_sign(recording: Recording) -> list[Defect]:
    """Report drive signals of several joints that reach zero but are never negative."""
    lowest, highest = recording.signal_span
    joints = moves(recording.span) & (highest > absurd_values.NO_SIGNAL)
    if joints.sum() < UNSIGNED_JOINTS or not (
            (lowest >= 0) & (lowest <= NEAR_ZERO * highest))[joints].all():
        return []
    return [Defect(
        'effort_unsigned', 'error',
        f'values of {recording.signal} are never negative and reach zero, in all '
        f'{joints.sum()} joints that move: they are magnitudes without a sign; record a signal '
        'that has one.', None, len(recording.t), 0.0, float(lowest[joints].min()), 0.0)]


def _signal_of_passive(recording: Recording, arm: ArmModel) -> list[Defect]:
    """Report signals of joints that are stated to have no drive."""
    if arm.drive.passive is None:
        return []
    limit, (lowest, highest) = absurd_values.NO_SIGNAL, recording.signal_span
    largest, found = np.maximum(-lowest, highest), list[Defect]()
    for j in np.flatnonzero(arm.drive.passive & (largest > limit)).tolist():
        name, marks = recording.joint_names[j], np.abs(recording.u[:, j]) > limit
        code, text, remedy = driven_passively(name, recording.signal, float(largest[j]))
        found.append(Defect(
            code, 'error', f'{text}; {remedy}.', name, int(marks.sum()),
            stamp_of(recording, int(np.argmax(marks))), float(largest[j]), limit))
    return found


def _saturated(recording: Recording, arm: ArmModel) -> list[Defect]:
    if not recording.finite_signals:
        return []
    near, largest = SATURATED_SHARE, np.maximum(*np.abs(recording.signal_span))
    # The most that all signals together could cause; twice for its rounding.
    most = np.abs(joint_torque(np.diag(largest), arm.drive)).sum(axis=0)
    if (most < (1 - 2 * near) * arm.limits.effort).all():
        return []

    def share(u: Array) -> Array:
        return np.asarray(np.abs(joint_torque(u, arm.drive)) / arm.limits.effort)

    marks = marked(recording.u, lambda u: np.asarray(share(u) >= 1 - near))
    if recording.signal == DEVIATION:
        if not arm.drive.in_newton_metres:
            return []
        marks[:, marks.sum(axis=0) < SATURATED_SAMPLES] = False
        text = ('{name}: its stiffness times its deviation exceeds its effort limit in {count} '
                'samples, in which its drive gives less: lower the amplitude, or correct the '
                'limit.')
        return marked_defects(
            recording, marks, 'effort_saturated', 'warning', text, threshold=1 - near)
    beyond = marked(recording.u, lambda u: ~(share(u) <= 1 + near)).any(axis=0)
    few = marks.sum(axis=0) < SATURATED_SAMPLES
    marks[:, few | beyond] = False
    text = '{name} saturates at its effort limit in {count} samples: lower the amplitude.'
    return marked_defects(
        recording, marks, 'effort_saturated', 'warning', text, threshold=1 - near)


def _velocity_limits(recording: Recording, arm: ArmModel) -> list[Defect]:
    if recording.qd is None:
        return []
    slack = VELOCITY_SLACK
    bad = np.abs(recording.qd) > slack * arm.limits.velocity
    text = '{name} is faster than its velocity limit: check units and limits.'
    return marked_defects(recording, bad, 'velocity_limit', 'warning', text, threshold=slack)


def _position_limits(recording: Recording, arm: ArmModel) -> list[Defect]:
    """Report joints beyond their limits, and those that touch them."""
    slack = POSITION_SLACK

    def excess(q: Array) -> Array:
        return np.asarray(np.maximum(q - arm.limits.upper, arm.limits.lower - q))

    # No value exceeds by more than the lowest and the highest one.
    if (np.maximum(*map(excess, recording.span)) < 0).all():
        return []
    beyond = marked(recording.q, lambda q: np.asarray(excess(q) > slack))
    touching = marked(recording.q, lambda q: np.asarray(excess(q) >= 0)) & ~beyond.any(axis=0)
    return [
        *marked_defects(
            recording, beyond, 'position_limit', 'warning', '{name} is beyond its position limits '
            'in {count} samples: check units, offsets and limits.', threshold=slack),
        *marked_defects(
            recording, touching, 'position_limit', 'info', '{name} is at its position limit in '
            '{count} samples: contact there is not modelled.', threshold=0.0)]
