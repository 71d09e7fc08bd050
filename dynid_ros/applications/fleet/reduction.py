"""Steps of the reduction that read sidecars, each for some bags of one arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast, TypeVar

import numpy as np

from dynid_ros.applications.fleet.bag_features import bag_features, Features
from dynid_ros.applications.fleet.cluster import Spread
from dynid_ros.applications.fleet.merge import Clustered, clustered, merged
from dynid_ros.applications.fleet.settings import FleetSettings, settings_of
from dynid_ros.applications.fleet.shared_inertia import eliminated, own_frictions, solve_shared
from dynid_ros.applications.fleet.sidecar import read_factors
from dynid_ros.dynamics.base import friction_places
from dynid_ros.errors import ResultError
from dynid_ros.estimation.regression.qr_factors import QRFactors
from dynid_ros.estimation.regression.weighted_least_squares import Solution
from dynid_ros.utilities.arrays import Array

Paths = Sequence[str]
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

    """

    def __init__(self, settings: FleetSettings, spread: Spread) -> None:
        self._text, self._spread = settings.text, spread
        self._own = friction_places(settings.arm)

    def merge(self, paths: Paths) -> QRFactors | None:
        """Merge bags, with the base columns of the arm; None without any."""
        return merged(self._chunks(merge_chunk, paths))

    def features(self, paths: Paths, solution: Solution) -> Features:
        """Return the deviations of bags from a fit, in their order."""
        parts = self._chunks(feature_chunk, paths, solution)
        return Features(*(np.concatenate([getattr(part, each.name) for part in parts])
                          for each in fields(Features)))

    def clustered(self, paths: Paths, solution: Solution) -> Clustered:
        """Sum up the scores and held-out residuals of bags."""
        parts = self._chunks(score_chunk, paths, solution)
        return Clustered(
            np.sum([part.meat for part in parts], axis=0), sum(part.bags for part in parts),
            np.sum([part.left_out_squares for part in parts], axis=0),
            np.sum([part.torque_squares for part in parts], axis=0))

    def frictions(self, paths: Paths, reference: Solution) -> tuple[Array, Array, Array]:
        """
        Return friction and offsets of each bag beside inertial parameters that all share.

        Parameters
        ----------
        paths : sequence of str
            Sidecars.
        reference : Solution
            Fit whose residuals weight the joints, with the prior of the parameters.

        Returns
        -------
        values, std, data_share : (B, f) ndarray
            In the order of the bags, as from `own_frictions`.

        """
        weights = reference.sigma, reference.prior
        shared = solve_shared(
            self._chunks(shared_chunk, paths, *weights), self._own, reference.prior)
        parts = self._chunks(friction_chunk, paths, *weights, shared)
        values, std, share = (np.concatenate(each) for each in zip(*parts, strict=True))
        return values, std, share

    def _chunks(self, work: Callable[..., Part], paths: Paths, *further: Any) -> list[Part]:
        """Do the work for all bags, some in each task, with results in the order of the bags."""
        chunks = [tuple(paths[k:k + CHUNK]) for k in range(0, len(paths), CHUNK)]
        results = dict(self._spread(
            work, [(self._text, chunk, *further) for chunk in chunks]))
        if any(result is None for result in results.values()):
            raise ResultError('workers die of merging sidecars; give them more memory')
        return [cast('Part', results[k]) for k in range(len(chunks))]


def merge_chunk(text: str, paths: Paths) -> QRFactors:
    """Merge some bags, at least one."""
    found = merged(_parts(settings_of(text), paths))
    assert found is not None
    return found


def feature_chunk(text: str, paths: Paths, solution: Solution) -> Features:
    """Return the deviations of some bags."""
    settings = settings_of(text)
    return bag_features(list(_parts(settings, paths)), settings.arm, solution)


def score_chunk(text: str, paths: Paths, solution: Solution) -> Clustered:
    """Sum up the scores of some bags."""
    return clustered(_parts(settings_of(text), paths), solution)


def shared_chunk(text: str, paths: Paths, sigma: Array, prior: Array) -> Array:
    """Compress the rows of the shared parameters of some bags."""
    settings = settings_of(text)
    own = friction_places(settings.arm)
    rows = [eliminated(part, own, sigma, prior)[1] for part in _parts(settings, paths)]
    return np.asarray(np.linalg.qr(np.concatenate(rows), mode='r'))


def friction_chunk(
    text: str, paths: Paths, sigma: Array, prior: Array, shared: Array,
) -> tuple[Array, Array, Array]:
    """Return the friction of some bags."""
    settings = settings_of(text)
    own = friction_places(settings.arm)
    found = own_frictions(_parts(settings, paths), own, sigma, prior, shared)
    values, std, share = (np.array(each) for each in zip(*found, strict=True))
    return values, std, share


def _parts(settings: FleetSettings, paths: Paths) -> Iterator[QRFactors]:
    for path in paths:
        yield read_factors(Path(path)).part(settings.columns)
