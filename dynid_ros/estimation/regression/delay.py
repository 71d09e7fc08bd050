"""Delay of the drive signal relative to the motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.conditioning import condition, ConditioningSettings
from dynid_ros.data.signals.segments import Segment
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.regression.kept_rows import KeptRows
from dynid_ros.utilities.arrays import Array

# Bounds of the search for a delay of the drive signal. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects.
#: Largest delay that is looked for, to either side, s. Good recordings show none.
LONGEST_SECONDS = 0.1
#: Delays that are tried; a parabola through the best three gives the delay between them. Between
#: the steps of 5 ms, a planted delay is found to 0.2 ms at best.
STEPS = 41
#: Length of the part that is looked at, s. More time does not make the delay more certain than its
#: tenth of a step.
PART_SECONDS = 60.0
#: Share of the sum of squares that removing the delay must take away. Friction of a joint that
#: turns round can look like a delay. Removing a delay gains 0.02 at most on good recordings, and
#: 0.16 to 0.89 where torque is 20 or 40 ms late: 20 ms of a slow motion are left in.
LEAST_GAIN = 0.2
#: Share of the squared torque that the model may leave with the best delay. Good recordings leave
#: 0.007 at most; a gravity that is 20 degrees off leaves 0.1.
UNEXPLAINED_SHARE = 0.03
#: Rows needed for each parameter. With fewer rows, any delay fits. Good recordings have 11 to 41.
ROWS_PER_COLUMN = 2


def estimate_delay(
    arm: ArmModel, segments: Sequence[Segment], settings: ConditioningSettings
) -> float:
    """
    Find the delay with which the model explains the drive signal best.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    segments : sequence of Segment
        Stretches of the recording; the middle of the longest is used.
    settings : ConditioningSettings
        Rate and cut-off.

    Returns
    -------
    float
        Delay of the drive signal within ± `LONGEST_SECONDS`; zero if removing it would not make
        the sum of squares smaller by `LEAST_GAIN`, or if there are too few rows.

    """
    delays, left = unexplained_by_delay(arm, segments, settings)
    if not len(delays):
        return 0.0
    k = int(np.argmin(left))
    if k in (0, len(left) - 1) or left[k] > (1 - LEAST_GAIN) * left[len(left) // 2]:
        return 0.0
    bend = left[k - 1] - 2 * left[k] + left[k + 1]
    step = delays[1] - delays[0]
    return float(delays[k] + 0.5 * step * (left[k - 1] - left[k + 1]) / bend)


def unexplained_by_delay(
    arm: ArmModel, segments: Sequence[Segment], settings: ConditioningSettings
) -> tuple[Array, Array]:
    """
    Fit the model for each delay of the drive signal.

    Parameters
    ----------
    arm, segments, settings : ArmModel, sequence of Segment and ConditioningSettings
        As for `estimate_delay`.

    Returns
    -------
    delays : (k,) ndarray
        From the most negative to the most positive, zero in the middle, s; empty if there are too
        few rows.
    left : (k,) ndarray
        Weighted sum of squares that the model leaves for each.

    """
    from scipy.signal import fftconvolve

    longest = max(segments, key=lambda segment: len(segment.t))
    spare = max(0, len(longest.t) - int(PART_SECONDS * settings.rate_hz)) // 2
    middle = slice(spare, len(longest.t) - spare)
    part = Segment(longest.t[middle], longest.q[middle], longest.u[middle])
    motion = condition(part, settings, arm.drive)
    blocks = list(KeptRows(arm, [motion], settings, arm.friction).blocks(arm))
    if not blocks:
        return np.zeros(0), np.zeros(0)
    t = np.concatenate([block.t for block in blocks])
    W = np.concatenate([block.W for block in blocks])
    reach, steps = LONGEST_SECONDS, STEPS
    # Rows at the ends would be shifted to where the filter has not settled.
    inside = (t >= t[0] + reach) & (t <= t[-1] - reach)
    if inside.sum() * arm.n < ROWS_PER_COLUMN * W.shape[2]:
        return np.zeros(0), np.zeros(0)
    smooth = fftconvolve(
        joint_torque(part.u, arm.drive), settings.decimator().taps[:, None], 'same', axes=0)
    delays = np.linspace(-reach, reach, steps)
    # Rows of joints at rest are zero: what holds them is none of the model's.
    moving = np.concatenate([block.moving for block in blocks])[inside]
    shifted = [_at(t[inside] + d, part.t, smooth) * moving for d in delays]
    # The least residual over all delays sets the weight of a joint.
    W = W[inside]
    weights = 1 / np.maximum(_unexplained(W, shifted[steps // 2]), np.finfo(float).tiny)
    rows = (W * weights[:, None]).reshape(-1, W.shape[2])
    Q = np.linalg.qr(rows)[0]
    left = np.array([_left((x * weights).ravel(), Q) for x in shifted])
    # Of a model that explains little, the delay only bends what is left.
    nearest = shifted[int(np.argmin(left))]
    share = (_unexplained(W, nearest)**2).sum() / max(float((nearest**2).mean(axis=0).sum()), TINY)
    if share > UNEXPLAINED_SHARE:
        return np.zeros(0), np.zeros(0)
    return delays, left


def _at(times: Array, t: Array, x: Array) -> Array:
    return np.stack([np.interp(times, t, column) for column in x.T], axis=1)


def _unexplained(rows: Array, tau: Array) -> Array:
    theta = np.linalg.lstsq(rows.reshape(-1, rows.shape[2]), tau.ravel(), rcond=None)[0]
    return np.asarray((tau - rows @ theta).std(axis=0))


def _left(tau: Array, orthonormal: Array) -> float:
    return float(tau @ tau - ((orthonormal.T @ tau) ** 2).sum())
