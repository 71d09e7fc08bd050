"""Lost values: what a driver or a file leaves without a finite number, and how it is bridged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.data.recordings import stamp_checks
from dynid_ros.data.recordings.in_blocks import Mask
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array

# Bounds for the interpolation of samples, live and in batch. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects.

#: Sample periods from which a step of the stamps ends a stretch, where `GAP_SECONDS` of
#: `dynid_ros.data.recordings.stamp_checks` is shorter than they are. At low rates, even one lost
#: sample takes longer than `GAP_SECONDS`.
GAP_PERIODS = 5.0
#: Smallest step between two samples through which a spline is laid, relative to the median step.
#: Stamps that are taken late come in bursts, and a spline swings out between them.
BURST_SHARE = 0.25
#: Largest share of lost values of a joint. A bus that drops values leaves some per cent of them
#: out; an interface that is missing or fails leaves nearly all.
LOST_SHARE = 0.5


def longest_gap(rate_hz: float) -> float:
    """Longest step of the stamps that interpolation bridges at a rate, s."""
    return max(GAP_PERIODS / rate_hz, stamp_checks.GAP_SECONDS)


def splined(t: Array, x: Array, times: Array) -> Array:
    """
    Lay a cubic spline through samples, and read it at other times.

    Parameters
    ----------
    t : (N,) ndarray
        Increasing stamps, s.
    x : (N,) ndarray
        Finite samples.
    times : (k,) ndarray
        Times to read it at, s.

    Returns
    -------
    (k,) ndarray
        Values there.

    """
    from scipy.interpolate import CubicSpline

    # Stamps that are taken late come in bursts, and a spline through two samples that are next
    # to each other swings far out. Of a burst, the last one was stamped least late.
    steps = np.diff(t)
    calm = np.append(steps > BURST_SHARE * np.median(steps), True)
    return np.asarray(CubicSpline(t[calm], x[calm])(times))


def without_lost_values(recording: Recording) -> Recording:
    """
    Bridge NaN and infinite values as lost samples are, and report them.

    In each column, values that are lost for no longer than `longest_gap` are interpolated. Samples
    within a longer loss, or one at an end of the recording, are left out in all columns, so that
    the recording has a gap there. A column of which more than `LOST_SHARE` is lost stays as it is.

    Parameters
    ----------
    recording : Recording
        Stamps increase, and positions are unwrapped.

    Returns
    -------
    Recording
        The same recording if nothing is lost, or nothing but such columns.

    """
    q, of_q, found_in_q = _mended(recording, recording.q, 'position_nan', 'positions')
    u, of_u, found_in_u = _mended(
        recording, recording.u, 'effort_nan', f'values of {recording.signal}')
    found = [*found_in_q, *found_in_u]
    return replace(recording, q=q, u=u).take(~(of_q | of_u), found) if found else recording


def _mended(
    recording: Recording, x: Array, code: str, what: str,
) -> tuple[Array, Mask, list[Defect]]:
    """Interpolate short losses in columns (N, n), and mark samples within others (N,)."""
    left_out: Mask = np.zeros(len(x), dtype=np.bool_)
    lost = ~np.isfinite(x)
    share = lost.mean(axis=0)
    columns = np.flatnonzero((share > 0) & (share <= LOST_SHARE))
    if not len(columns):
        return x, left_out, []
    x, found = x.copy(), []
    for j in columns:
        x[:, j], long, how = _bridged(recording.t, x[:, j])
        left_out |= long
        name, count, part = recording.joint_names[j], int(lost[:, j].sum()), float(share[j])
        text = (f'{name}: {count} of {len(x)} {what} ({100 * part:.2g} %) are NaN or infinite, '
                f'{how}.')
        found.append(Defect(code, 'warning', text, name, count, stamp_checks.stamp_of(
            recording, int(np.argmax(lost[:, j]))), part, LOST_SHARE))
    return x, left_out, found


def _bridged(t: Array, x: Array) -> tuple[Array, Mask, str]:
    """Interpolate short losses in a column (N,), mark samples within others, and say both."""
    known = np.isfinite(x)
    before = np.cumsum(known)
    # Nothing is known beyond both ends.
    stamps = np.concatenate([[-np.inf], t[known], [np.inf]])
    begin, end = stamps[before], stamps[before + 1]
    longest = longest_gap(1 / float(np.median(np.diff(t))))
    short = ~known & (end - begin <= longest)
    long = ~known & ~short
    if short.any():
        x = x.copy()
        # An absurd value beside it may overflow, and is an error of its own.
        with np.errstate(over='ignore', invalid='ignore'):
            x[short] = splined(t[known], x[known], t[short])
    most = float((np.minimum(end, t[-1]) - np.maximum(begin, t[0]))[~known].max())
    done = ('they are interpolated' if not long.any() else
            'their samples are left out' if not short.any() else
            f'losses of up to {longest:.3g} s are interpolated, samples within others left out')
    return x, long, f'for up to {most:.3g} s in a row; {done}'
