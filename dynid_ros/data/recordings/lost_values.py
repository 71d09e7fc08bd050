# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Lost values: bridge or drop samples without finite numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings import stamp_checks
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import Mask

# Bounds for the interpolation of samples, live and in batch. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects.

#: Number of sample periods from which a step of the stamps ends a stretch, if they last longer
#: than `GAP_SECONDS` of `dynid_ros.data.recordings.stamp_checks`. At low rates, even one lost
#: sample exceeds `GAP_SECONDS`.
GAP_PERIODS = 5.0
#: Least step between two samples of a spline, relative to the median step. Late stamps come in
#: bursts, between which a spline would overshoot.
BURST_SHARE = 0.25
#: Largest share of lost values of a joint. A bus that drops values loses a few per cent; an
#: interface that is missing or fails loses nearly all.
LOST_SHARE = 0.5


def longest_gap(rate_hz: float) -> float:
    """Longest step of the stamps that interpolation bridges at a rate, s."""
    return max(GAP_PERIODS / rate_hz, stamp_checks.GAP_SECONDS)


def splined(t: Array, x: Array, times: Array) -> Array:
    """
    Interpolate samples at other times by a cubic spline.

    Parameters
    ----------
    t : (N,) ndarray
        Increasing stamps, s.
    x : (N,) ndarray
        Finite samples.
    times : (k,) ndarray
        Times to evaluate it at, s.

    Returns
    -------
    (k,) ndarray
        Values there.

    """
    from scipy.interpolate import CubicSpline

    # Late stamps come in bursts, and a spline through two close samples would overshoot. The last
    # stamp of a burst is the least late.
    steps = np.diff(t)
    calm = np.append(steps > BURST_SHARE * np.median(steps), True)
    return np.asarray(CubicSpline(t[calm], x[calm])(times))


def without_lost_values(recording: Recording) -> Recording:
    """
    Treat NaN and infinite values like lost samples, and report them.

    In each column, losses no longer than `longest_gap` are interpolated. Samples within a longer
    loss, or within one at an end of the recording, are dropped, which leaves a gap. A column with
    more than `LOST_SHARE` of lost values is not changed.

    Parameters
    ----------
    recording : Recording
        Stamps increase, and positions are unwrapped.

    Returns
    -------
    Recording
        The same recording if nothing is lost except such columns.

    """
    if recording.finite_positions and recording.finite_signals:
        return recording
    q, of_q, found_in_q = _repaired(recording, recording.q, 'position_nan', 'positions')
    u, of_u, found_in_u = _repaired(
        recording, recording.u, 'effort_nan', f'values of {recording.signal}')
    found = [*found_in_q, *found_in_u]
    return replace(recording, q=q, u=u).take(~(of_q | of_u), found) if found else recording


def without_passive_signals(recording: Recording, arm: ArmModel) -> Recording:
    """Set missing signals of joints without a drive to their true value, which is zero."""
    passive = arm.drive.passive
    if passive is None or np.isfinite(recording.u[:, passive]).all():
        return recording
    return replace(recording, u=np.where(passive & ~np.isfinite(recording.u), 0.0, recording.u))


def _repaired(
    recording: Recording, x: Array, code: str, what: str,
) -> tuple[Array, Mask, list[Defect]]:
    """Interpolate short losses in columns (N, n), and mark samples within long ones (N,)."""
    left_out: Mask = np.zeros(len(x), dtype=np.bool_)
    lost = ~np.isfinite(x)
    share = lost.mean(axis=0)
    columns = np.flatnonzero((share > 0) & (share <= LOST_SHARE))
    if not len(columns):
        return x, left_out, []
    x, defects = x.copy(), []
    for j in columns:
        x[:, j], long, how = _bridged(recording.t, x[:, j])
        left_out |= long
        name, count, part = recording.joint_names[j], int(lost[:, j].sum()), float(share[j])
        text = (f'{name}: {count} of {len(x)} {what} ({100 * part:.2g} %) are NaN or infinite, '
                f'{how}.')
        defects.append(Defect(code, 'warning', text, name, count, stamp_checks.stamp_of(
            recording, int(np.argmax(lost[:, j]))), part, LOST_SHARE))
    return x, left_out, defects


def _bridged(t: Array, x: Array) -> tuple[Array, Mask, str]:
    """Interpolate short losses in a column (N,), mark long ones, and describe both."""
    known = np.isfinite(x)
    before = np.cumsum(known)
    # There are no values beyond both ends.
    stamps = np.concatenate([[-np.inf], t[known], [np.inf]])
    begin, end = stamps[before], stamps[before + 1]
    longest = longest_gap(1 / float(np.median(np.diff(t))))
    short = ~known & (end - begin <= longest)
    long = ~known & ~short
    if short.any():
        x = x.copy()
        # An absurd neighbour may overflow; it is reported separately.
        with np.errstate(over='ignore', invalid='ignore'):
            x[short] = splined(t[known], x[known], t[short])
    most = float((np.minimum(end, t[-1]) - np.maximum(begin, t[0]))[~known].max())
    done = ('they are interpolated' if not long.any() else
            'their samples are left out' if not short.any() else
            f'losses of up to {longest:.3g} s are interpolated, samples within others left out')
    return x, long, f'for up to {most:.3g} s in a row; {done}'
