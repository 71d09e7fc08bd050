"""Rows of a recording, small enough to be fitted again for each rival explanation of a bad fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.diagnosis.dissipation import friction_power
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.model.metrics import TINY
from dynid_ros.recordings.in_blocks import taken
from dynid_ros.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.signals.filtered_friction import fill_filtered_friction

Array = NDArray[np.float64]

#: Samples of a recording that are taken, and that each explanation is fitted to.
SAMPLES, FITTED = 2000, 600
#: Consecutive blocks of time, dealt out to the folds in turn: each fold sees the whole recording.
BLOCKS, FOLDS = 15, 3
#: Passes in which the weights of the joints settle.
REWEIGHTINGS = 4
#: Smallest mean square of a residual that is believed, by that of the torque.
FLOOR = 1e-8
#: Least power of the torque of a joint, by the largest one, with which its residual is compared.
SILENT = 1e-20
#: Ridge by the mean of the scaled diagonal: keeps directions that are not excited finite.
RIDGE = 1e-9
#: Times by which a drive signal is tried to be late, s; which of them a slow driver makes.
LATE, TYPICAL = np.array([-0.06, -0.02, 0.02, 0.06, 0.12]), 3
#: Periods of the cut-off around a reversal in which noise decides the direction of friction.
REVERSAL = 0.05


@dataclass(frozen=True, eq=False)
class TrialSamples:
    """
    Some samples of one or more recordings.

    Attributes
    ----------
    t : (k,) ndarray
        Time since the start of the recording, s.
    q, qd, qdd : (k, n) ndarray
        Conditioned positions and their derivatives.
    tau : (k, n) ndarray
        Torque after the low-pass, Nm.
    moving : (k, n) ndarray of bool
        False where a joint stands still, or its torque is left out.
    later : (k, n, d) ndarray
        Torque by each of `LATE` later, Nm.
    period : (k,) ndarray
        Period of the cut-off that the torque has passed, s; 0 for none.

    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    moving: NDArray[np.bool_]
    later: Array
    period: Array


def trial_samples(
    motions: Sequence[ConditionedMotion], settings: ConditioningSettings,
    left_out: Sequence[NDArray[np.bool_]],
) -> TrialSamples:
    """
    Take samples that are spread over a recording, at most `SAMPLES`.

    Only the torque passes the low-pass of the rows: positions have passed one already, and
    friction columns are computed as it leaves them.

    Parameters
    ----------
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Cut-off and decimation.
    left_out : sequence of (N, n) ndarray of bool
        Samples of each stretch whose torque is left out, with all that the low-pass mixes in.

    """
    decimator = settings.decimator()
    every = max(1, sum(decimator.outputs(len(motion.t)) for motion in motions) // SAMPLES)
    parts = []
    for motion, marks in zip(motions, left_out, strict=True):
        tau = decimator.whole(motion.tau)
        rows = decimator.reach + decimator.step * np.arange(len(tau))
        chosen, period = rows[::every], 1 / settings.cutoff_hz
        t, q, qd, qdd, moving = (
            taken(x, chosen) for x in (motion.t, motion.q, motion.qd, motion.qdd, motion.moving))
        used = moving & ~_near(marks, chosen, decimator.reach)
        parts.append(TrialSamples(
            t, q, qd, qdd, tau[::every], used & (np.abs(qd) >= REVERSAL * period * np.abs(qdd)),
            torque_later(taken(motion.t, rows), tau, every), np.full(len(chosen), period)))
    return joined(parts)


def torque_later(t: Array, tau: Array, every: int = 1) -> Array:
    """Return the torque of every so many samples by each of `LATE` later, (k, n, d)."""
    from scipy.interpolate import CubicSpline

    if len(t) < 2:
        return np.repeat(tau[:, :, None], len(LATE), axis=2)
    spline = CubicSpline(t, tau)
    # Beyond the end the last one stays.
    times = np.clip(t[::every, None] + LATE, t[0], t[-1])
    return np.asarray(spline(times)).swapaxes(1, 2)


def _near(marks: NDArray[np.bool_], chosen: NDArray[np.intp], reach: int) -> NDArray[np.bool_]:
    """Whether any marked sample lies within the low-pass around the chosen ones, (k, n)."""
    if not len(chosen) or not marks.any():
        return np.zeros((len(chosen), marks.shape[1]), dtype=np.bool_)
    return np.array([marks[max(k - reach, 0):k + reach + 1].any(axis=0) for k in chosen.tolist()])


def thinned(samples: TrialSamples) -> TrialSamples:
    """Return at most `FITTED` of the samples, spread over all of them."""
    every = slice(None, None, -(-len(samples.t) // FITTED) or 1)
    return TrialSamples(*(getattr(samples, field.name)[every] for field in fields(samples)))


def joined(parts: Sequence[TrialSamples]) -> TrialSamples:
    """Put the samples of several recordings, or of parts of one, behind each other."""
    return TrialSamples(*(
        np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(TrialSamples)))


@dataclass(frozen=True, eq=False)
class TrialScore:
    """
    How well an explanation predicts torque that it was not fitted to.

    Attributes
    ----------
    left : (n,) ndarray
        Share of the torque of each joint (norms) that it leaves unexplained.
    error_percent : float
        The same of all compared joints together, %.

    """

    left: Array
    error_percent: float


@dataclass(frozen=True, eq=False)
class TrialRows:
    """
    Products of the rows ``[W tau]`` of each joint with themselves, fold by fold.

    A fit takes a matrix of the size of the parameters. It has half of the digits; three do.

    Attributes
    ----------
    products : (F, n, c + n, c + n) ndarray
        Sums over the samples of a fold, of parameters and torque of all joints.
    counts : (F, n) ndarray
        Samples.
    friction : (n, c) ndarray
        Row of the mean power that the friction of a joint takes up.

    """

    products: Array
    counts: Array
    friction: Array

    def score(self, mixing: Array, joints: NDArray[np.intp]) -> TrialScore:
        """
        Fit all folds but one and predict that one, for each of them.

        Parameters
        ----------
        mixing : (n, n) ndarray
            The torque of joint i is assumed to be ``tau @ mixing[:, i]``.
        joints : (m,) ndarray of int
            Joints that are fitted and compared.

        """
        parts = self._mixed(mixing)
        whole = parts.sum(axis=0)
        theta, _, _ = _fitted(whole - parts, self.counts.sum(axis=0) - self.counts, joints)
        left = np.maximum(_squares(parts, theta), 0).sum(axis=0)
        power = whole[:, -1, -1]
        power = np.maximum(power, SILENT * power.max() + TINY)
        error = 100 * float(np.sqrt(
            left[joints].sum() / max(power[joints].sum(), TINY)))
        return TrialScore(np.asarray(np.sqrt(left / power)), error)

    def fit(self, mixing: Array, joints: NDArray[np.intp]) -> tuple[Array, Array]:
        """Fit all folds: parameters (c,) and their covariance (c, c) for white residuals."""
        (theta,), (scaled,), (length,) = _fitted(
            self._mixed(mixing).sum(axis=0)[None], self.counts.sum(axis=0)[None], joints)
        return theta, np.linalg.inv(scaled) / np.outer(length, length)

    def _mixed(self, mixing: Array) -> Array:
        """Products (F, n, c + 1, c + 1) of the rows of each joint with one torque."""
        c = self.friction.shape[1]
        parts = np.empty((*self.products.shape[:2], c + 1, c + 1))
        parts[..., :c, :c] = self.products[..., :c, :c]
        crossed = np.einsum('fiab,bi->fia', self.products[..., :c, c:], mixing)
        parts[..., :c, c] = parts[..., c, :c] = crossed
        half = np.einsum('fiab,bi->fia', self.products[..., c:, c:], mixing)
        parts[..., c, c] = np.einsum('fia,ai->fi', half, mixing)
        return parts


def trial_rows(
    arm: ArmModel, samples: TrialSamples, loaded: NDArray[np.bool_] | None = None,
    base: NDArray[np.intp] | None = None,
) -> TrialRows:
    """
    Make the rows of an arm that moves as given.

    Parameters
    ----------
    arm : ArmModel
        The arm, without friction terms that depend on the load.
    samples : TrialSamples
        Its motion and torque.
    loaded : (k,) ndarray of bool, optional
        Samples in which the last link may have another mass and first moment than before.
    base : (b,) ndarray of int, optional
        Standard parameters that are a base of the arm, where they are known.

    """
    base = base_parameters(arm).columns if base is None else base
    W = trial_regressor(arm, samples, base, loaded)
    friction = friction_power(arm, samples.qd * samples.moving, W[:, :, :len(base)], base)
    friction = np.pad(friction, ((0, 0), (0, W.shape[2] - friction.shape[1])))
    k, n, c = W.shape
    fold = np.arange(k) * BLOCKS // max(k, 1) % FOLDS
    products, counts = np.zeros((FOLDS, n, c + n, c + n)), np.zeros((FOLDS, n))
    for i in range(n):
        own = np.flatnonzero(W[:, i].any(axis=0))
        place = np.ix_(*2 * [np.append(own, np.arange(c, c + n))])
        rows = np.concatenate([W[:, i, own], samples.tau], axis=1)
        for f in range(FOLDS):
            part = rows[(fold == f) & samples.moving[:, i]]
            products[f, i][place], counts[f, i] = part.T @ part, len(part)
    return TrialRows(products, counts, friction)


def trial_regressor(
    arm: ArmModel, samples: TrialSamples, base: NDArray[np.intp],
    loaded: NDArray[np.bool_] | None = None,
) -> Array:
    """Return the regressor (k, n, c) of `trial_rows`."""
    Y = regressor(arm, samples.q, samples.qd, samples.qdd)
    fill_filtered_friction(arm, samples.qd, samples.qdd, samples.period, Y)
    W = Y[:, :, base]
    if loaded is None:
        return W
    # Mass and first moments: most of a load is its weight, and six inertias more fit anything.
    last = np.arange(*arm.layout.inertial(arm.tool.joint % arm.n).indices(Y.shape[2]))[:4]
    return np.concatenate([W, Y[:, :, last] * loaded[:, None, None]], axis=2)


def _fitted(
    products: Array, counts: Array, joints: NDArray[np.intp],
) -> tuple[Array, Array, Array]:
    """Fit several parts: parameters (F, c), scaled normal matrices, and their scales (F, c)."""
    chosen, rows = products[:, joints], np.maximum(counts[:, joints], 1)
    c = products.shape[-1] - 1
    length = np.sqrt(np.einsum('fiaa->fa', chosen)[:, :c])
    length = np.where(
        length > RIDGE * length.max(axis=1, keepdims=True, initial=0.0), length, np.inf)
    power = chosen[..., c, c] / rows
    variance = np.maximum(
        power, SILENT * power.max(axis=1, keepdims=True, initial=0.0) + np.sqrt(TINY))
    floor = FLOOR * variance
    stacked = chosen.reshape(*chosen.shape[:2], (c + 1)**2)
    scale, ridge = 1 / (length[:, :, None] * length[:, None]), RIDGE * np.eye(c)
    for _ in range(REWEIGHTINGS):
        normal = ((1 / variance)[:, None] @ stacked).reshape(-1, c + 1, c + 1)
        scaled = normal[:, :c, :c] * scale
        mean = np.trace(scaled, axis1=1, axis2=2) / c
        scaled += np.maximum(mean, TINY)[:, None, None] * ridge
        right = normal[:, :c, c] / length
        theta = np.linalg.solve(scaled, right[..., None])[..., 0] / length
        variance = np.maximum(_squares(chosen, theta) / rows, floor)
    return theta, scaled, length


def _squares(products: Array, theta: Array) -> Array:
    """Sum of squared residuals (F, i) of each joint for parameters (F, c)."""
    z = np.concatenate([theta, np.full((len(theta), 1), -1.0)], axis=1)
    return np.asarray(((products @ z[:, None, :, None])[..., 0] @ z[:, :, None])[..., 0])
