"""Steps of the reduction that read sidecars, each for some bags of one arm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from dynid_ros.applications.fleet.bag_features import bag_features, Features
from dynid_ros.applications.fleet.cluster import Spread
from dynid_ros.applications.fleet.merge import (
    changes,
    merged,
    own_frictions,
    shared_rows,
    solve_shared,
)
from dynid_ros.applications.fleet.settings import FleetSettings, settings_of
from dynid_ros.applications.fleet.sidecar import read_factors
from dynid_ros.dynamics.base import friction_places
from dynid_ros.errors import ResultError
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

Part = TypeVar('Part')

#: Bags of one task: as many as a second or so takes, so that workers share even one arm.
CHUNK = 100


class Reduction:
    """
    Sums over the sidecars of arms, on a cluster.

    Parameters
    ----------
    settings : FleetSettings
        Settings of the fleet.
    spread : Spread
        Where the work is done.
    sidecars : sequence of str
        Paths, by the number of the bag.

    """

    def __init__(self, settings: FleetSettings, spread: Spread, sidecars: Sequence[str]) -> None:
        self._text, self._spread, self._sidecars = settings.text, spread, sidecars
        self._own = friction_places(settings.arm)

    def merge(self, bags: Sequence[int]) -> QRFactors:
        """Merge bags, with the base columns of the arm."""
        return merged(self._chunks(merged, bags))

    def features(self, bags: Sequence[int], solution: Solution) -> Features:
        """Return the deviations of bags from a fit, in their order."""
        return Features(*self._by_bag(_features, bags, self._text, solution))

    def changes(self, bags: Sequence[int], solution: Solution) -> list[Array]:
        """Return what `merge.changes` does, in the order of the bags."""
        return self._by_bag(changes, bags, solution)

    def frictions(self, bags: Sequence[int], reference: Solution) -> list[Array]:
        """
        Return friction and offsets of each bag beside inertial parameters that all share.

        Parameters
        ----------
        bags : sequence of int
            Bags of one arm.
        reference : Solution
            Fit whose residuals weight the joints, with the prior of the parameters.

        Returns
        -------
        list of (B, f) ndarray
            Values, standard deviations and share of the data, as from `own_frictions`.

        """
        known = self._own, reference.sigma, reference.prior
        shared = solve_shared(
            self._chunks(shared_rows, bags, *known), self._own, reference.prior)
        return self._by_bag(own_frictions, bags, *known, shared)

    def _by_bag(
        self, work: Callable[..., Sequence[Array]], bags: Sequence[int], *further: Any,
    ) -> list[Array]:
        return [np.concatenate(parts)
                for parts in zip(*self._chunks(work, bags, *further), strict=True)]

    def _chunks(
        self, work: Callable[..., Part], bags: Sequence[int], *further: Any,
    ) -> list[Part]:
        """Do the work for all bags, some in each task, with results in the order of the bags."""
        paths = [self._sidecars[k] for k in bags]
        chunks = {k: (self._text, paths[k:k + CHUNK], work, *further)
                  for k in range(0, len(paths), CHUNK)}
        results = dict(self._spread(_on_sidecars, chunks))
        if any(result is None for result in results.values()):
            raise ResultError('workers die of merging sidecars; give them more memory')
        return [results[k] for k in chunks]


def _on_sidecars(
    text: str, paths: Sequence[str], work: Callable[..., Part], *further: Any,
) -> Part:
    columns = settings_of(text).columns
    return work((read_factors(path).part(columns) for path in paths), *further)


def _features(parts: Iterable[QRFactors], text: str, solution: Solution) -> Features:
    return bag_features(parts, settings_of(text).arm, solution)
