"""Check of the direction of gravity, and of its presence in the torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.estimation.diagnosis.gravity_regression import (
    gravity_rows,
    GravityProblem,
    GravityRows,
)
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import within

#: Passes in which the weights of the joints settle.
REWEIGHTINGS = 4
#: Smallest mean square torque of a joint to begin with, relative to the most loaded one.
LEAST_LOADED = 1e-6

# Bounds of the check of gravity. Measured figures come from benchmarks/thresholds.py: real arms
# (UR10, Panda, TX40), simulated arms, and planted defects.
#: Standard deviation beyond which the data leave the direction open, rad. Good recordings reach
#: 0.028.
VAGUE_STD = float(np.radians(10.0))
#: Angle to the stated direction that is not reported, rad: models of real arms are no better. Good
#: recordings give 0.022 rad; a direction tilted by 20 degrees gives 0.34 and more.
TOLERATED_ANGLE = float(np.radians(5.0))
#: Standard deviations beyond which a difference is not chance.
CERTAIN_DEVIATIONS = 4.0
#: Angle between directions beyond which they are different answers, rad.
APART_ANGLE = float(np.radians(30.0))
#: Residual without any gravity torque, relative to that with the best direction, below which the
#: torque holds none. Good recordings start at 1.3; a separate trial, with gravity taken out of
#: simulated and of real torque, gave 0.80 to 0.95.
REMOVED_RATIO = 0.97
#: The same residual above which gravity matters enough to judge a direction. Good recordings start
#: at 1.3.
LOADED_RATIO = 1.1
#: Remedy where the signal lacks the torque of gravity.
LEAVE_OUT = 'set "includes_gravity: false" under "drive" in arm.yaml'


@dataclass(frozen=True, eq=False)
class GravityCheck:
    """
    Direction of gravity, estimated together with the dynamics.

    Attributes
    ----------
    direction, stated : (3,) ndarray
        Unit vectors in the base frame: estimated from the data, and stated by the arm.
    std : float
        Standard deviation of the direction in its least certain tilt, rad.
    ambiguous : bool
        Whether a very different direction fits as well; then `direction` is the nearest to the
        stated one.
    without : float
        Residual without any gravity torque, relative to that with `direction`: the mean over
        joints, in the geometric sense.
    chance : float
        Standard deviation of that residual by chance.

    """

    direction: Array
    stated: Array
    std: float
    ambiguous: bool
    without: float
    chance: float

    @property
    def angle(self) -> float:
        """Angle between the two directions, rad."""
        return float(np.arctan2(np.linalg.norm(np.cross(self.direction, self.stated)),
                                self.direction @ self.stated))

    @property
    def determined(self) -> bool:
        """Whether the data determine the direction."""
        return self.std < VAGUE_STD

    @property
    def removed(self) -> bool:
        """Whether the torque excludes gravity, for any direction."""
        return self.without < min(REMOVED_RATIO, 1 - self.chance)

    @property
    def loaded(self) -> bool:
        """Whether the torque includes a significant gravity torque."""
        return self.without > max(LOADED_RATIO, 1 + self.chance)

    @property
    def elsewhere(self) -> bool:
        """Whether the data determine another direction than the stated one."""
        far = self.angle > max(TOLERATED_ANGLE, CERTAIN_DEVIATIONS * self.std)
        return self.determined and far

    @property
    def agrees(self) -> bool:
        """Whether the stated direction is confirmed."""
        near = self.angle <= TOLERATED_ANGLE
        return self.determined and not self.removed and near

    @property
    def sentence(self) -> str:
        """One sentence for the user, where no other direction predicts better."""
        if self.removed:
            return (f'effort holds no gravity torque: without gravity, the residual is '
                    f'{100 * (1 - self.without):.0f} % smaller than with gravity in any '
                    'direction; ' + LEAVE_OUT)
        if not self.determined:
            return 'the gravity direction is unidentifiable: gravity loads the joints too little'
        degrees = within(np.degrees(self.angle), np.degrees(self.std), 'degrees')
        if not self.agrees:
            return (f'gravity cannot be checked with these data: a direction {degrees} off fits, '
                    'but does not predict better than the stated one')
        return f'the stated gravity agrees with the data to {degrees}'


def gravity_direction(arm: ArmModel, samples: TrialSamples) -> GravityCheck:
    """
    Estimate the direction of gravity with the dynamics, and check whether torque includes it.

    Torque is linear in the parameters for any direction, so variable projection eliminates
    them and only the two angles of the direction are searched: first over the directions
    of the faces, edges and corners of a cube and the stated one, then by Gauss and Newton.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the stated gravity.
    samples : TrialSamples
        Motion and torque.

    Returns
    -------
    GravityCheck
        Estimate and verdict.

    References
    ----------
    Golub and Pereyra 1973, The differentiation of pseudo-inverses and nonlinear least squares
    problems whose variables separate, SIAM J. Numer. Anal. 10(2).

    """
    rows = gravity_rows(arm, samples)
    length = float(np.linalg.norm(arm.gravity))
    stated = arm.gravity / length if length else np.array([0.0, 0.0, -1.0])
    starts = [stated, *_cube()]
    power = (rows.tau**2 * rows.moving).sum(axis=0) / np.maximum(rows.moving.sum(axis=0), 1)
    # A joint that is hardly loaded must not take all weight.
    sigma: Array = np.sqrt(np.maximum(power, LEAST_LOADED * max(float(power.max()), TINY)))
    for _ in range(REWEIGHTINGS):
        problem = GravityProblem(rows, sigma)
        hollows = _hollows(problem, starts)
        # A wrong direction also gives wrong weights, under which it may have the least cost.
        direction = min((way for way, _ in hollows), key=problem.log_residual)
        sigma, starts = problem.residual_std(direction), [stated, *(way for way, _ in hollows)]
    inflation = problem.inflation(direction)
    lowest = min(cost for _, cost in hollows)
    chance = lowest * (1 + CERTAIN_DEVIATIONS**2 * inflation**2 / problem.freedom)
    good = [way for way, cost in hollows if cost <= chance]
    direction = max(good, key=lambda way: float(way @ stated))
    others = any(way @ direction < np.cos(APART_ANGLE) for way in good)
    # Twice the logarithm of the likelihood ratio is chi-squared, with up to a degree of freedom
    # for each column that gravity adds to.
    chance = (CERTAIN_DEVIATIONS**2 + len(rows.loaded)) * inflation**2 / (2 * problem.freedom)
    return GravityCheck(
        direction, stated, inflation * problem.std(direction), others,
        _left_without(rows, problem.residual_std(direction)), chance)


def _left_without(rows: GravityRows, found: Array) -> float:
    """Residual without gravity torque, relative to `found` (n,): the geometric mean over rows."""
    nowhere, sigma = np.zeros(3), found
    for _ in range(REWEIGHTINGS):
        sigma = GravityProblem(rows, sigma).residual_std(nowhere)
    count = rows.moving.sum(axis=0)
    return float(np.exp((count * np.log(sigma / found)).sum() / max(count.sum(), 1)))


def _hollows(problem: GravityProblem, starts: Sequence[Array]) -> list[tuple[Array, float]]:
    """Directions of locally least cost, from the stated one and the best of the others."""
    costs = [problem.log_residual(direction) for direction in starts]
    best = np.argsort(costs)[:3]
    # The opposite of the best often fits as well; among equal costs rounding would choose.
    chosen = [starts[k] for k in dict.fromkeys([0, *best])] + [-starts[best[0]]]
    return [problem.descend(start) for start in chosen]


def _cube() -> list[Array]:
    """Directions from the middle of a cube to its faces, edges and corners."""
    grid = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3)).reshape(3, -1).T
    grid = grid[np.abs(grid).sum(axis=1) > 0]
    return list(grid / np.linalg.norm(grid, axis=1, keepdims=True))
