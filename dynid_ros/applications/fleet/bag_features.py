"""Differences of a bag from a reference model: load, drive gains, friction and residual."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.estimation.blocks.least_squares import LeastSquares
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.calibration.loaded_rows import friction_names, HEAVIEST
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

#: Standard deviation of a relative gain before any rows: it may be zero, or twice the usual one.
GAIN = 1.0
#: Parameters of a load on the last link: mass and first moments. Six inertias more take a longer
#: recording than most bags are.
LOAD = ('m', 'mx', 'my', 'mz')
OFFSET = 'Fo'


class Features(NamedTuple):
    """
    Deviations of B bags from a reference.

    Attributes
    ----------
    values : (B, F) ndarray
        Load (4), friction of each joint by the usual one less one (n), offsets less the
        reference, and the logarithm of the residual, Nm, that these leave of each joint (n).
    std : (B, F) ndarray
        Standard deviations for white residuals; one for the logarithm. Both are NaN where a bag
        leaves a value to the prior: the value is then no feature of the bag.
    gains, gain_std : (B, n) ndarray
        Relative drive gains less one, likewise.

    """

    values: Array
    std: Array
    gains: Array
    gain_std: Array

    def part(self, chosen: NDArray[np.generic]) -> Features:
        """Return some of the bags."""
        return Features(*(values[chosen] for values in self))


def feature_names(arm: ArmModel) -> tuple[str, ...]:
    """Names of the values: ``load m``, ``friction of JOINT`` and so on."""
    return (*(f'load {symbol}' for symbol in LOAD),
            *(f'friction of {joint}' for joint in arm.joint_names),
            *(f'offset of {arm.joint_names[joint]}' for joint in offset_joints(arm)),
            *(f'unexplained torque of {joint}' for joint in arm.joint_names))


def offset_joints(arm: ArmModel) -> list[int]:
    """Return the joints whose offsets are values of a bag."""
    return [int(name[len(OFFSET):]) - 1 for name in friction_names(arm) if name.startswith(OFFSET)]


def bag_features(
    parts: Iterable[QRFactors], arm: ArmModel, reference: Solution,
) -> Features:
    """
    Fit the parameters in which a bag may differ from a reference.

    Parameters
    ----------
    parts : iterable of QRFactors
        Factors of the bags, with the base columns of the arm.
    arm : ArmModel
        The arm.
    reference : Solution
        The reference; friction may differ from it by as much as its prior is wide.

    Returns
    -------
    Features
        Bag by bag. Friction is that at the speeds of the bag: a slow motion does not determine one
        coefficient from another. Gains are fitted beside the load, which does not pass for one.

    """
    base, own, theta = base_parameters(arm), friction_places(arm), reference.theta
    last = base.layout.inertial(arm.tool_link).start
    load = base.grouping[:, last:last + len(LOAD)]
    prior = block_diag(
        np.eye(len(LOAD)) / HEAVIEST, reference.prior[np.ix_(own, own)], np.eye(arm.n) / GAIN)
    rigid = theta.copy()
    rigid[own] = 0.0
    rows = []
    for part in parts:
        R, z = part.factors[:, :, :-1], part.factors[:, :, -1]
        gains = (R @ rigid)[:, :, None] * np.eye(arm.n)[:, None]
        carried = np.concatenate([R @ load, R[:, :, own]], axis=2)
        residual = z - R @ theta
        plain = _Fit(carried, residual, reference.sigma, prior)
        # Free gains would take most of a load for theirs, so that a load is fitted without them.
        every = np.concatenate([carried, gains], axis=2)
        wide = _Fit(every, residual, reference.sigma, prior)
        values, std = plain.told(
            block_diag(np.eye(len(LOAD)), _relative_friction(part, arm, theta)))
        squares = ((residual - carried @ plain.values) ** 2).sum(axis=1)
        left = np.where(squares > 0, squares, np.nan) / np.maximum(part.rows, 1)
        rows.append((np.append(values, np.log(left) / 2), np.append(std, np.ones(arm.n)),
                     *wide.told(np.eye(every.shape[2])[-arm.n:])))
    return Features(*map(np.array, zip(*rows, strict=True)))


def _relative_friction(part: QRFactors, arm: ArmModel, theta: Array) -> Array:
    """Return sums (n + o, f) of coefficients: friction by the usual one of a joint, offsets."""
    base, own = base_parameters(arm), friction_places(arm)
    joint = base.columns[own] // base.layout.block
    offsets = np.array([name.startswith(OFFSET) for name in friction_names(arm)], dtype=np.bool_)
    sums = np.zeros((arm.n, len(own)))
    for j, R in enumerate(part.factors[:, :, own]):
        columns = R[:, (joint == j) & ~offsets]
        usual = columns @ theta[own][(joint == j) & ~offsets]
        if usual.any():
            sums[j, (joint == j) & ~offsets] = usual @ columns / (usual @ usual)
    return np.vstack([sums, np.eye(len(own))[offsets]])


class _Fit:
    """Values of some columns, of which the first rows and columns of a prior hold."""

    def __init__(self, columns: Array, residual: Array, sigma: Array, prior: Array) -> None:
        count = columns.shape[2]
        weighted = (columns / sigma[:, None, None]).reshape(-1, count)
        fitted = LeastSquares(weighted, prior[:count, :count])
        self.values = fitted.solve((residual / sigma[:, None]).ravel())
        self._covariance = fitted.covariance
        self._before = np.linalg.inv(prior.T @ prior)[:count, :count]

    def told(self, sums: Array) -> tuple[Array, Array]:
        """Return sums (k, c) of the values, and deviations; NaN where the prior gives them."""
        variance, before = (np.einsum('kc,cd,kd->k', sums, matrix, sums)
                            for matrix in (self._covariance, self._before))
        told = before - variance >= FROM_DATA * before
        told &= before > 0
        return (np.where(told, sums @ self.values, np.nan),
                np.where(told, np.sqrt(variance), np.nan))
