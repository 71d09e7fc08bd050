# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sums over the factors of bags: one fit to all, and what each bag makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.fleet.cluster import one_by_one, Spread
from dynid_ros.applications.fleet.deviations import Deviations, deviations
from dynid_ros.applications.fleet.settings import FleetSettings, settings_of
from dynid_ros.applications.fleet.sidecar import read_factors
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.errors import ResultError
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack
from dynid_ros.estimation.estimate.weights import Solution, solve
from dynid_ros.utilities.arrays import Array

Part = TypeVar('Part')

#: Bags of one task: as many as a second or so takes, so that workers share even one arm.
CHUNK = 100
#: Bags whose factors are stacked at once: fewer repeat the factorisation, more only take memory.
STACKED_TOGETHER = 16


class Reduction:
    """
    Sums over bags, on a cluster.

    Parameters
    ----------
    settings : FleetSettings
        Settings of the fleet.
    bags : sequence of (str or QRFactors)
        By the number of the bag, its sidecar, or its factors with the base columns of the arm.
    spread : Spread
        Where the work is done.

    """

    def __init__(
        self, settings: FleetSettings, bags: Sequence[str | QRFactors],
        spread: Spread = one_by_one,
    ) -> None:
        self._settings, self._bags, self._spread = settings, bags, spread

    def merge(self, bags: Sequence[int]) -> QRFactors:
        """Merge bags, with the base columns of the arm."""
        return merged(self._chunks(merged, bags))

    def fit(self, bags: Sequence[int]) -> Solution:
        """Fit one model to bags."""
        return solve(self.merge(bags), arm_prior(self._settings.arm))

    def deviations(
        self, bags: Sequence[int], fit: Solution, fitted: NDArray[np.bool_],
    ) -> Deviations:
        """Return the deviations of bags from a fit, in their order, some of which were fitted."""
        order = np.argsort(~fitted, kind='stable')
        own = [[bags[k] for k in order if fitted[k] == inside] for inside in (True, False)]
        parts = [self._by_bag(_deviations, each, self._settings.text, fit, inside)
                 for each, inside in zip(own, (True, False), strict=True) if each]
        back = np.argsort(order)
        return Deviations(*(np.concatenate(each)[back] for each in zip(*parts, strict=True)))

    def changes(self, bags: Sequence[int], solution: Solution) -> list[Array]:
        """Return what `changes` does, in the order of the bags."""
        return self._by_bag(changes, bags, solution)

    def _by_bag(
        self, work: Callable[..., Sequence[Array]], bags: Sequence[int], *further: Any,
    ) -> list[Array]:
        return [np.concatenate(parts)
                for parts in zip(*self._chunks(work, bags, *further), strict=True)]

    def _chunks(
        self, work: Callable[..., Part], bags: Sequence[int], *further: Any,
    ) -> list[Part]:
        """Do the work for all bags, some in each task, with results in the order of the bags."""
        given = [self._bags[k] for k in bags]
        chunks = {k: (self._settings.text, given[k:k + CHUNK], work, *further)
                  for k in range(0, len(given), CHUNK)}
        results = dict(self._spread(_on_factors, chunks))
        if any(result is None for result in results.values()):
            raise ResultError('workers die of merging sidecars; give them more memory')
        return [results[k] for k in chunks]


def merged(parts: Iterable[QRFactors]) -> QRFactors:
    """Merge the factors of bags, which are read one after the other, in any order."""
    waiting: list[QRFactors] = []
    for part in parts:
        waiting.append(part)
        if len(waiting) == STACKED_TOGETHER:
            waiting = [stack(waiting)]
    return stack(waiting) if waiting else QRFactors.empty(0, 0)


def changes(parts: Iterable[QRFactors], solution: Solution) -> tuple[Array, Array]:
    """
    Return the change of a fit without each of its B bags, and the residuals of the bag then.

    Returns
    -------
    changes : (B, b) ndarray
        As of `whitened_changes`; the other bags may lie on other machines.
    left_out_squares : (B, n) ndarray
        Squared residuals of each joint, the bag predicted by the fit to all others, Nm².

    """
    found, left, half = [], [], solution.half
    for part in parts:
        normal = Products.of(part).weighted(solution.sigma)[:-1]
        # theta less that without the bag, (N - A)⁻¹ s, by the bag's normal matrix A and all N.
        system = np.eye(len(solution.theta)) - half.T @ normal[:, :-1] @ half
        own = np.linalg.solve(system, half.T @ (normal @ np.append(-solution.theta, 1.0)))
        found.append(own)
        left.append(part.residual_squares(solution.theta - half @ own))
    return np.array(found), np.array(left)


def _on_factors(
    text: str, bags: Sequence[str | QRFactors], work: Callable[..., Part], *further: Any,
) -> Part:
    columns = settings_of(text).columns
    return work((read_factors(each).part(columns) if isinstance(each, str) else each
                 for each in bags), *further)


def _deviations(
    parts: Iterable[QRFactors], text: str, fit: Solution, fitted: bool,
) -> Deviations:
    return deviations(parts, settings_of(text).arm, fit, fitted)
