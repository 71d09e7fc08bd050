"""Rows of a recording, small enough to be fitted again for each rival explanation of a bad fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.filtered_friction import fill_filtered_friction
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.diagnosis.dissipation import friction_power
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.utilities.arrays import Array

#: Consecutive blocks of time, dealt out to the folds in turn: each fold spans the recording.
BLOCKS, FOLDS = 15, 3
#: Passes in which the weights of the joints settle.
REWEIGHTINGS = 4
#: Smallest credible mean square of a residual, relative to the torque.
FLOOR = 1e-8
#: Least power of the torque of a joint, by the largest one, with which its residual is compared.
SILENT = 1e-20
#: Ridge by the information of each parameter: keeps directions that are not excited finite.
RIDGE = 1e-9


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
    base : (b,) ndarray of int
        Standard parameters of the first columns.

    """

    products: Array
    counts: Array
    friction: Array
    base: NDArray[np.intp]

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
        parts = _mixed(self.products, mixing)
        # Sums, not differences: a fold may hold most of the torque.
        others = np.array([np.delete(parts, k, axis=0).sum(axis=0) for k in range(len(parts))])
        rows = np.array([np.delete(self.counts, k, axis=0).sum(axis=0) for k in range(len(parts))])
        theta, *_ = _fitted(others, np.maximum(rows, 1), joints)
        left = np.maximum(_residual_squares(parts, theta), 0.0).sum(axis=0)
        power = parts[:, :, -1, -1].sum(axis=0)
        power = np.maximum(power, SILENT * power.max() + TINY)
        error = 100 * float(np.sqrt(
            left[joints].sum() / max(power[joints].sum(), TINY)))
        return TrialScore(np.asarray(np.sqrt(left / power)), error)

    def without(self, fold: int) -> TrialRows:
        """Return the rows of the other folds."""
        others = np.arange(len(self.counts)) != fold
        return replace(self, products=self.products[others], counts=self.counts[others])

    def fit(self, mixing: Array, joints: NDArray[np.intp]) -> tuple[Array, Array]:
        """Fit all folds: parameters (c,) and the square root (c, c) of their information."""
        products = _mixed(self.products.sum(axis=0), mixing)
        theta, normal, scale = _fitted(
            products, np.maximum(self.counts.sum(axis=0), 1), joints)
        # Columns without a row have a scale of zero.
        root = np.linalg.cholesky(normal).T / np.where(scale > 0, scale, np.inf)
        return theta, np.asarray(root)


def _mixed(products: Array, mixing: Array) -> Array:
    """Return products (.., n, c + 1, c + 1) where joint i has the torque tau @ mixing[:, i]."""
    c = products.shape[-1] - len(mixing)
    out = np.empty((*products.shape[:-2], c + 1, c + 1))
    mixed = np.einsum('...iab,bi->...ia', products[..., c:], mixing)
    out[..., :c, :c] = products[..., :c, :c]
    out[..., :c, c] = out[..., c, :c] = mixed[..., :c]
    out[..., c, c] = np.einsum('...ib,bi->...i', mixed[..., c:], mixing)
    return out


def _fitted(
    products: Array, rows: Array, joints: NDArray[np.intp],
) -> tuple[Array, Array, Array]:
    """
    Fit joints that are weighted by their own residuals.

    Returns
    -------
    theta : (.., c) ndarray
        Parameters, zero where no joint has a row.
    normal : (.., c, c) ndarray
        Normal matrix of columns of unit length.
    scale : (.., c) ndarray
        Factors that make them so.

    """
    products, rows = products[..., joints, :, :], rows[..., joints]
    c = products.shape[-1] - 1
    diagonal = np.arange(c)
    power = products[..., c, c] / rows
    largest = power.max(axis=-1, keepdims=True, initial=0.0)
    variance = np.maximum(power, SILENT * largest + np.sqrt(TINY))
    floor = FLOOR * variance
    length = np.sqrt(products[..., diagonal, diagonal].sum(axis=-2))
    used = length > RIDGE * length.max(axis=-1, keepdims=True, initial=0.0)
    for _ in range(REWEIGHTINGS):
        normal = np.einsum('...j,...jab->...ab', 1 / variance, products)
        squares = np.where(used, normal[..., diagonal, diagonal], 0.0)
        scale = np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
        right = normal[..., :c, c, None] * scale[..., None]
        normal = normal[..., :c, :c] * scale[..., None] * scale[..., None, :]
        normal[..., diagonal, diagonal] = 1 + RIDGE
        theta = scale * np.linalg.solve(normal, right)[..., 0]
        variance = np.maximum(_residual_squares(products, theta) / rows, floor)
    return theta, normal, scale


def _residual_squares(products: Array, theta: Array) -> Array:
    """Return the sum of the squared residuals of each joint, (.., n)."""
    x = np.append(theta, np.full((*theta.shape[:-1], 1), -1.0), axis=-1)[..., None, :]
    return np.asarray(((products @ x[..., None])[..., 0] * x).sum(axis=-1))


def block_numbers(samples: int) -> NDArray[np.intp]:
    """Return the number of the block of each sample, (samples,)."""
    return np.arange(samples) * BLOCKS // max(samples, 1)


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
    fold = block_numbers(k) % FOLDS
    products, counts = np.zeros((FOLDS, n, c + n, c + n)), np.zeros((FOLDS, n))
    for i, used in enumerate((W != 0).any(axis=0)):
        own = np.flatnonzero(used)
        place = np.ix_(*2 * [np.append(own, np.arange(c, c + n))])
        rows = np.concatenate([W[:, i, own], samples.tau], axis=1)
        for f in range(FOLDS):
            part = rows[(fold == f) & samples.moving[:, i]]
            products[f, i][place], counts[f, i] = part.T @ part, len(part)
    return TrialRows(products, counts, friction, base)


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
    last = np.arange(*arm.layout.inertial(arm.tool_link).indices(Y.shape[2]))[:4]
    return np.concatenate([W, Y[:, :, last] * loaded[:, None, None]], axis=2)
