"""Choice of the bodies and pairs to keep apart: hulls of meshes, without contact they feign."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.feasibility.convex_hull import convex_hull, convex_pieces, hull_gap
from dynid_ros.motion.feasibility.link_shapes import Body
from dynid_ros.motion.feasibility.pair_distances import PairDistances
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.utilities.arrays import Array

#: Random positions at which bodies that touch nearly everywhere are found.
POSITIONS = 200
SEED = 1979


@dataclass(frozen=True)
class TouchThresholds:
    """
    What random positions show about a pair of bodies.

    Attributes
    ----------
    contact : float
        Distance at which bodies count as touching, m: shapes that fit into each other overlap by
        less than rounding, and no clearance is as small.
    always : float
        Share of positions from which on a pair is left out: neighbours overlap at every one.
    often : float
        Share from which on hulls are compared with their meshes: of ten arms of
        example-robot-data, hulls feign contact at 25 to 83 % of the positions, and below a fifth
        contact costs little room.
    feigned : float
        Part of the contacts of hulls that their meshes share, below which a mesh is cut.
    compared : int
        Contacts that are compared; exact distances cost up to milliseconds.
    gap : float
        Gap between a mesh and its hulls from which on it is cut into many, m: torso and pedestal
        of Baxter leave 0.16 and 0.21; links of arms leave 0.06 at most.
    pieces, many_pieces : int
        Parts of a mesh that feigns contact, and of one with such a gap. Eight parts instead of
        four triple the pairs of a UR5 for no better motion; in eight, the torso of Baxter seems
        72 mm too near to its arms in the median, and in 32 it seems 2 mm too near.
    apart : float
        Multiple of the clearance beyond which a pair must get at some positions to keep all of
        it; one and a half leave room for the spare of a design.
    part : float
        Part of the distance of a pair that never gets so far apart that it keeps instead.

    """

    contact: float = 1e-3
    always: float = 0.95
    often: float = 0.2
    feigned: float = 0.5
    compared: int = 20
    gap: float = 0.08
    pieces: int = 4
    many_pieces: int = 32
    apart: float = 3.0
    part: float = 1 / 3


THRESHOLDS = TouchThresholds()


@dataclass(frozen=True, eq=False)
class ChosenPairs:
    """
    Bodies and pairs to keep apart.

    Attributes
    ----------
    bodies : list of Body
        Convex bodies, and meshes that no hull can stand for.
    pairs : list of (int, int)
        Indices of bodies.
    clearance : (P,) ndarray
        Distance that each pair keeps, m.
    ignored : tuple of str
        Names of the pairs of links that touch nearly everywhere.
    gaps : dict of str to float
        Largest distance of the hulls of each mesh from it, m.

    """

    bodies: list[Body]
    pairs: list[tuple[int, int]]
    clearance: Array
    ignored: tuple[str, ...]
    gaps: dict[str, float]


def choose_pairs(
    arm: ArmModel, links: list[Body], obstacles: list[Body], clearance: float, strict: bool,
) -> ChosenPairs:
    """
    Replace meshes by hulls, and choose the pairs to keep apart.

    Neighbouring links and pairs of links that touch nearly everywhere are left out. Where the
    hulls of a pair often touch although the meshes do not, the meshes are cut into several hulls,
    as are those to which one hull does not fit; where these touch nearly everywhere still, the
    pair is kept as meshes. Links that are never as far apart as the clearance keep a part of
    their distance.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    links : list of Body
        Bodies of the arm.
    obstacles : list of Body
        Bodies around it.
    clearance : float
        Distance to keep, m.
    strict : bool
        Whether links that are never so far apart must keep all of it too.

    """
    allowed, exact, limit = planning_limits(arm), links + obstacles, THRESHOLDS
    q = np.random.default_rng(SEED).uniform(allowed.lower, allowed.upper, (POSITIONS, arm.n))
    shapes: dict[str, list[Any]] = {}
    for body in links:
        if body.is_mesh and body.source not in shapes:
            shapes[body.source] = [convex_hull(body.shape)]
    pairs = _candidates(arm, links, obstacles)
    if not pairs:
        return ChosenPairs(exact, [], np.zeros(0), (), {})
    convex, _ = _pieces(exact, shapes, [])
    touched = _contacts(arm, convex, pairs, q)
    true = _true_shares(PairDistances.of(arm, exact, pairs), q, touched)
    ignored = [pair for pair, share in zip(pairs, true, strict=True)
               if share >= limit.always and pair[1] < len(links)]
    for k in np.flatnonzero(true < limit.feigned * touched.mean(axis=0)):
        for body in (exact[i] for i in pairs[k]):
            if body.is_mesh and len(shapes[body.source]) == 1:
                shapes[body.source] = convex_pieces(body.shape, limit.pieces)
    gaps = _gaps(links, shapes)
    bodies, kept = _pieces(exact, shapes, [pair for pair in pairs if pair not in ignored])
    bodies, kept = _meshes_where_needed(arm, q, exact, bodies, kept)
    return ChosenPairs(
        bodies, [pair for pair, _ in kept],
        np.full(len(kept), clearance) if strict else (
            _clearances(arm, q, bodies, kept, clearance, len(links))),
        tuple(f'{exact[a].name} - {exact[b].name}' for a, b in ignored),
        {body.name: gaps[body.source] for body in links if body.is_mesh})


def _gaps(links: list[Body], shapes: dict[str, list[Any]]) -> dict[str, float]:
    """Gap of the hulls of each mesh, m; those of which one hull leaves too wide a gap are cut."""
    gaps = {}
    for source, body in {body.source: body for body in links if body.is_mesh}.items():
        gaps[source] = hull_gap(body.shape, shapes[source])
        if gaps[source] > THRESHOLDS.gap:
            shapes[source] = convex_pieces(body.shape, THRESHOLDS.many_pieces)
            gaps[source] = hull_gap(body.shape, shapes[source])
    return gaps


def _candidates(
    arm: ArmModel, links: list[Body], obstacles: list[Body],
) -> list[tuple[int, int]]:
    """Pairs of links, and of links and obstacles, that are not neighbours."""
    joints = [body.joint for body in links + obstacles]
    carriers = [int(arm.parent[joint]) if joint >= 0 else None for joint in joints]
    return [
        (a, b) for a in range(len(links)) for b in range(a + 1, len(joints))
        if joints[a] not in (joints[b], carriers[b]) and joints[b] != carriers[a]]


def _contacts(
    arm: ArmModel, bodies: list[Body], pairs: list[tuple[int, int]], q: Array,
) -> NDArray[np.bool_]:
    """Whether pairs touch at positions (K, n), (K, P)."""
    contact = THRESHOLDS.contact
    return np.asarray(PairDistances.of(arm, bodies, pairs).distances(q, contact) < contact)


def _true_shares(exact: PairDistances, q: Array, touched: NDArray[np.bool_]) -> Array:
    """Share of positions (P,) at which meshes touch, from some at which their hulls do (K, P)."""
    shares = touched.mean(axis=0)
    rare = shares < THRESHOLDS.often
    for k in np.flatnonzero(~(rare | exact.convex)):
        where = np.flatnonzero(touched[:, k])[:THRESHOLDS.compared]
        only = np.arange(len(shares)) == k
        found = exact.refined(q[where], exact.lower_bounds(q[where]), only[None].repeat(
            len(where), axis=0))[:, k]
        shares[k] *= (found < THRESHOLDS.contact).mean()
    return np.asarray(shares)


#: Bodies of a pair, and those of the links or obstacles that they stand for.
_Owned = tuple[tuple[int, int], tuple[int, int]]


def _pieces(
    exact: list[Body], shapes: dict[str, list[Any]], pairs: list[tuple[int, int]],
) -> tuple[list[Body], list[_Owned]]:
    """Replace bodies by their hulls, and pairs of bodies by those of all their hulls."""
    bodies: list[Body] = []
    places: list[list[int]] = []
    for body in exact:
        hulls = [replace(body, shape=shape, source='') for shape in shapes[body.source]] if (
            body.is_mesh) else [body]
        places.append([len(bodies) + i for i in range(len(hulls))])
        bodies += hulls
    return bodies, [((i, j), (a, b)) for a, b in pairs for i in places[a] for j in places[b]]


def _meshes_where_needed(
    arm: ArmModel, q: Array, exact: list[Body], bodies: list[Body], kept: list[_Owned],
) -> tuple[list[Body], list[_Owned]]:
    """Put the meshes in place of hulls that touch nearly everywhere although the meshes do not."""
    touched = _contacts(arm, bodies, [pair for pair, _ in kept], q).mean(axis=0)
    owners = {
        owned for (_, owned), share in zip(kept, touched, strict=True)
        if share >= THRESHOLDS.always and any(exact[i].is_mesh for i in owned)}
    result = [entry for entry in kept if entry[1] not in owners]
    for pair in sorted(owners):
        result.append(((len(bodies), len(bodies) + 1), pair))
        bodies = [*bodies, *(exact[i] for i in pair)]
    return bodies, result


def _clearances(
    arm: ArmModel, q: Array, bodies: list[Body], kept: list[_Owned], clearance: float, links: int,
) -> Array:
    """Distance (P,) that each pair keeps, less where links are never so far apart."""
    enough = THRESHOLDS.apart * clearance
    found = PairDistances.of(arm, bodies, [pair for pair, _ in kept]).distances(q, enough)
    nearest: dict[tuple[int, int], Array] = {}
    for column, (_, owners) in zip(found.T, kept, strict=True):
        nearest[owners] = np.minimum(column, nearest.get(owners, np.inf))
    result = np.full(len(kept), clearance)
    for k, (_, owners) in enumerate(kept):
        farthest = float(np.quantile(nearest[owners], THRESHOLDS.always))
        if farthest < enough and owners[1] < links:
            result[k] = min(clearance, THRESHOLDS.part * farthest)
    return result
