"""Whether a load slips or changes within its recordings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.calibration.loaded_rows import HEAVIEST
from dynid_ros.regression.covariance import score_covariance
from dynid_ros.regression.rows import RowBlock

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ChangeThresholds:
    """
    Bounds of a change of the load.

    Measured figures are those of benchmarks/payload.py.

    Attributes
    ----------
    parts : int
        Consecutive parts of the rows, between which a change may lie.
    side : float
        Least time on both sides of a change, s. The colour of the noise is looked for over 1 s:
        fixed loads of 0.5 kg reach a statistic of 411 where a side lasts 1.3 s, and 39 of 1.7 s.
    statistic : float
        Square of the change by its covariance. Noise alone stays below 30; on real arms errors of
        the model reach 96 in recordings of 4 to 11 s, and a slip of 4 cm of 2 kg 55 to 420.
    mass, relative : float
        Change of the mass that matters, kg, and by the mass. Errors of the model make up to
        0.1 kg of one.
    center : float
        Change of the centre of mass that matters, m, where there is a load on both sides. Errors
        of the model make 10 mm of 2 kg where the statistic is above its bound.

    """

    parts: int = 8
    side: float = 1.5
    statistic: float = 100.0
    mass: float = 0.12
    relative: float = 0.1
    center: float = 0.015


THRESHOLDS = ChangeThresholds()


@dataclass(frozen=True, eq=False)
class Change:
    """
    A change of the load.

    Attributes
    ----------
    source : str
        Recording in which it happens.
    t : float
        When, to the length of a part, s since the start of the recording.
    before, after : (4,) ndarray
        Mass and first moments, kg and kg m.
    statistic : float
        Square of the difference by its covariance.

    """

    source: str
    t: float
    before: Array
    after: Array
    statistic: float

    @property
    def matters(self) -> bool:
        """Whether it is certain, and larger than errors of the model can make it."""
        limits = THRESHOLDS
        if self.statistic <= limits.statistic:
            return False
        lighter, heavier = sorted((float(self.before[0]), float(self.after[0])))
        if heavier - lighter > max(limits.mass, limits.relative * heavier):
            return True
        if lighter < limits.mass:
            return False
        shift = self.after[1:] / self.after[0] - self.before[1:] / self.before[0]
        return bool(np.linalg.norm(shift) > limits.center)


class ChangeSearch:
    """
    Rows of the loaded arm, reduced to what mass and first moments leave in each moment.

    Parameters
    ----------
    columns : (b, 10) ndarray
        Change of the base parameters with the load.
    theta : (b,) ndarray
        Base parameters of the arm with its load.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.

    """

    def __init__(self, columns: Array, theta: Array, sigma: Array) -> None:
        self._columns, self._theta, self._sigma = columns[:, :4], theta, sigma
        self._scores: list[Array] = []
        self._information: list[Array] = []
        self._times: list[Array] = []
        self._sources: list[str] = []

    def add(self, source: str, blocks: Iterable[RowBlock]) -> None:
        """Take in the rows of a recording."""
        for block in blocks:
            Y = block.W @ self._columns / self._sigma[:, None]
            left = (block.tau - block.W @ self._theta) / self._sigma
            self._scores.append(np.einsum('kia,ki->ka', Y, left))
            self._information.append(np.einsum('kia,kib->kab', Y, Y))
            self._times.append(block.t)
            self._sources += [source] * len(block.t)

    def largest(self, load: Array, rate_hz: float) -> Change | None:
        """
        Find the largest change.

        Parameters
        ----------
        load : (10,) ndarray
            The load in all rows, by least squares.
        rate_hz : float
            Rate of the rows.

        Returns
        -------
        Change or None
            None if the rows are too few to be divided.

        """
        if not self._scores:
            return None
        score, information, t = map(
            np.concatenate, (self._scores, self._information, self._times))
        edges = np.linspace(0, len(score), THRESHOLDS.parts + 1).astype(int).tolist()
        if len(score) < 4 * THRESHOLDS.parts:
            return None
        found = [self._at(edge, load, score, information, t, rate_hz) for edge in edges[1:-1]]
        return max((change for change in found if change is not None),
                   key=lambda change: change.statistic, default=None)

    def _at(
        self, edge: int, load: Array, score: Array, information: Array, t: Array, rate_hz: float,
    ) -> Change | None:
        """Compare the rows before and after a row; None where one side is too short."""
        if min(edge, len(score) - edge) < THRESHOLDS.side * rate_hz:
            return None
        sides, prior = [], np.eye(score.shape[1]) / HEAVIEST**2
        for rows in (slice(0, edge), slice(edge, None)):
            total = information[rows].sum(axis=0)
            inverse = np.linalg.inv(total + prior)
            step = inverse @ score[rows].sum(axis=0)
            # What is left with the load of this side: with that of both, a change is no noise.
            left = score[rows] - information[rows] @ step
            scatter = score_covariance([left], rate_hz, len(step)) + prior
            sides.append((load[:4] + step, inverse @ scatter @ inverse))
        (before, its_spread), (after, spread) = sides
        step = after - before
        statistic = float(step @ np.linalg.solve(its_spread + spread, step))
        return Change(self._sources[edge], float(t[edge]), before, after, statistic)
