"""Differences of a bag from a reference model: load, drive gains, friction and residual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from dynid_ros.arm.model import ArmModel
from dynid_ros.calibration.loaded_rows import HEAVIEST
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.fleet.shared_inertia import friction_names
from dynid_ros.model.standard_parameters import FROM_DATA
from dynid_ros.regression.least_squares import LeastSquares
from dynid_ros.regression.weighted_least_squares import QRFactors, Solution

Array = NDArray[np.float64]

#: Standard deviation of a relative gain before any rows: it may be zero, or twice the usual one.
GAIN = 1.0
#: Parameters of a load on the last link: mass and first moments. Six inertias more take a longer
#: recording than most bags are.
LOAD = ('m', 'mx', 'my', 'mz')


@dataclass(frozen=True, eq=False)
class Features:
    """
    Deviations of B bags from a reference.

    Attributes
    ----------
    values : (B, F) ndarray
        Load (4), relative drive gains less one (n), and friction less that of the reference.
    std : (B, F) ndarray
        Standard deviations for white residuals. Both are NaN where a bag leaves a value to the
        prior: the value is then no feature of the bag.
    left : (B, n) ndarray
        Root mean square of the residual of each joint that is left with these values, Nm.

    """

    values: Array
    std: Array
    left: Array

    def part(self, chosen: NDArray[np.generic]) -> Features:
        """Return some of the bags."""
        return Features(self.values[chosen], self.std[chosen], self.left[chosen])


def feature_names(arm: ArmModel) -> tuple[str, ...]:
    """Names of the values: ``load m``, ``gain 1``, ``Fv1`` and so on."""
    return (*(f'load {symbol}' for symbol in LOAD),
            *(f'gain {joint + 1}' for joint in range(arm.n)), *friction_names(arm))


def bag_features(
    parts: Sequence[QRFactors], arm: ArmModel, reference: Solution,
) -> Features:
    """
    Fit the parameters in which a bag may differ from a reference.

    Parameters
    ----------
    parts : sequence of QRFactors
        Factors of the bags, with the base columns of the arm.
    arm : ArmModel
        The arm.
    reference : Solution
        The reference; friction may differ from it by as much as its prior is wide.

    Returns
    -------
    Features
        Bag by bag; gains beside a load, so that a load does not pass for a gain.

    """
    base, own, theta = base_parameters(arm), friction_places(arm), reference.theta
    last = base.layout.inertial(arm.tool.joint % arm.n).start
    load = base.grouping[:, last:last + len(LOAD)]
    prior = block_diag(
        np.eye(len(LOAD)) / HEAVIEST, reference.prior[np.ix_(own, own)], np.eye(arm.n) / GAIN)
    rigid = theta.copy()
    rigid[own] = 0.0
    values, std, left = [], [], []
    for part in parts:
        R, z = part.factors[:, :, :-1], part.factors[:, :, -1]
        joints, rows, _ = R.shape
        gains = np.zeros((joints, rows, joints))
        gains[np.arange(joints), :, np.arange(joints)] = R @ rigid
        carried = np.concatenate([R @ load, R[:, :, own]], axis=2)
        residual = z - R @ theta
        plain = _Fit(carried, residual, reference.sigma, prior)
        # Free gains would take most of a load for theirs, so that a load is fitted without them.
        every = np.concatenate([carried, gains], axis=2)
        wide = _Fit(every, residual, reference.sigma, prior)
        values.append(np.insert(plain.known, len(LOAD), wide.known[-joints:]))
        std.append(np.insert(plain.std, len(LOAD), wide.std[-joints:]))
        squares = ((residual - every @ wide.values) ** 2).sum(axis=1)
        left.append(np.sqrt(squares / np.maximum(part.rows, 1)))
    count = len(LOAD) + arm.n + len(own)
    return Features(np.reshape(values, (-1, count)), np.reshape(std, (-1, count)),
                    np.reshape(left, (-1, arm.n)))


class _Fit:
    """Values of some columns, of which the first rows and columns of a prior hold."""

    def __init__(self, columns: Array, residual: Array, sigma: Array, prior: Array) -> None:
        count = columns.shape[2]
        weighted = (columns / sigma[:, None, None]).reshape(-1, count)
        fitted = LeastSquares(weighted, prior[:count, :count])
        self.values = fitted.solve((residual / sigma[:, None]).ravel())
        variance = np.diag(fitted.covariance)
        before = np.diag(np.linalg.inv(prior.T @ prior))[:count]
        told = 1 - variance / before >= FROM_DATA
        self.known: Array = np.where(told, self.values, np.nan)
        self.std: Array = np.where(told, np.sqrt(variance), np.nan)
