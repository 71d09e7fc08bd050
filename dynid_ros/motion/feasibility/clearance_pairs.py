# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Choose bodies and pairs that need clearance: hulls of meshes, without false contacts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.feasibility.convex_hull import convex_hull, convex_pieces, hull_gap
from dynid_ros.motion.feasibility.link_shapes import Body
from dynid_ros.motion.feasibility.pair_distances import Pair, PairDistances
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.utilities.arrays import Array

#: Random positions at which bodies that touch nearly everywhere are found.
TRIED_POSITIONS = 200
POSITION_SEED = 1979
#: Distance at which bodies count as touching, m: more than the rounding of shapes that fit into
#: each other, and less than any clearance.
CONTACT_DISTANCE_M = 1e-3
#: Share of positions with contact above which a pair is left out: neighbours always overlap.
ALWAYS = 0.95
#: Share of positions with contact above which hulls are compared with their meshes: in ten arms of
#: example-robot-data, false contacts of hulls are at 25 to 83 % of the positions, and contact
#: below a fifth costs little room.
OFTEN = 0.2
#: Share of true contacts of hulls below which a mesh is cut; and contacts that are compared: exact
#: distances take up to milliseconds.
FEIGNED, COMPARED_CONTACTS = 0.5, 20
#: Gap between a mesh and its hull above which it is cut into many, m: 0.16 and 0.21 for torso and
#: pedestal of Baxter, at most 0.06 for links of arms.
HULL_GAP_M = 0.08
#: Parts of a mesh with false contacts, and of one with such a gap. Eight parts instead of four
#: triple the pairs of a UR5 for no better motion; with eight, the torso of Baxter appears 72 mm
#: too near to its arms in the median, with 32, 2 mm.
MESH_PIECES, MANY_PIECES = 4, 32
#: Multiple of the clearance that a pair must exceed at some positions to keep all of it; 1.5
#: leaves room for the spare of a design.
APART_CLEARANCES = 3.0
#: Share of its distance that another pair keeps instead.
PART = 1 / 3


def choose_pairs(
    arm: ArmModel, links: list[Body], obstacles: list[Body], clearance: float, strict: bool,
) -> tuple[list[Pair], tuple[str, ...], Array, tuple[str, ...], dict[str, float]]:
    """
    Replace meshes by hulls, and choose the pairs that need clearance.

    Neighbouring links and pairs of links that touch nearly everywhere are left out. If the hulls
    of a pair often touch although the meshes do not, or one hull fits a mesh badly, the meshes are
    cut into several hulls; if these still touch nearly everywhere, the pair is kept as meshes.
    Links that are never as far apart as the clearance keep a share of their distance.

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
        Whether links that are never so far apart must keep all of it, too.

    Returns
    -------
    pairs : list of (Body, Body)
        P pairs of convex bodies, or of meshes that no hull can replace.
    names : tuple of str
        Names of these pairs.
    clearance : (P,) ndarray
        Distance that each pair keeps, m.
    ignored : tuple of str
        Names of the pairs of links that touch nearly everywhere.
    gaps : dict of str to float
        Largest distance of the hulls of each mesh from it, m.

    """
    allowed = planning_limits(arm)
    q = np.random.default_rng(POSITION_SEED).uniform(
        allowed.lower, allowed.upper, (TRIED_POSITIONS, arm.n))
    meshes = {body.source: body.shape for body in links if body.is_mesh}
    hulls = {source: [convex_hull(mesh)] for source, mesh in meshes.items()}
    pairs = _candidates(arm, links, obstacles)
    if not pairs:
        return [], (), np.zeros(0), (), {}
    touched = _contacts(arm, _hulled(pairs, hulls), q)
    true = _true_shares(PairDistances(arm, pairs), q, touched)
    ignored = [pair for pair, share in zip(pairs, true, strict=True)
               if share >= ALWAYS and pair[1] not in obstacles]
    for k in np.flatnonzero(true < FEIGNED * touched.mean(axis=0)):
        for body in pairs[k]:
            if body.is_mesh and len(hulls[body.source]) == 1:
                hulls[body.source] = convex_pieces(body.shape, MESH_PIECES)
    gaps = {}
    for source, mesh in meshes.items():
        gaps[source] = hull_gap(mesh, hulls[source])
        if gaps[source] > HULL_GAP_M:
            hulls[source] = convex_pieces(mesh, MANY_PIECES)
            gaps[source] = hull_gap(mesh, hulls[source])
    kept = _with_meshes_where_needed(
        arm, q, [pair for pair in pairs if pair not in ignored], hulls)
    names = _names(kept)
    distance = np.full(len(kept), clearance) if strict else (
        _clearances(arm, q, kept, names, clearance, obstacles))
    return (kept, names, distance, _names(ignored),
            {body.name: gaps[body.source] for body in links if body.is_mesh})


def _names(pairs: list[Pair]) -> tuple[str, ...]:
    return tuple(f'{a.name} - {b.name}' for a, b in pairs)


def _candidates(arm: ArmModel, links: list[Body], obstacles: list[Body]) -> list[Pair]:
    """Pairs of links, and of links and obstacles, that are not neighbours."""
    def carrier(body: Body) -> int | None:
        return int(arm.parent[body.joint]) if body.joint >= 0 else None

    return [
        (a, b) for k, a in enumerate(links) for b in links[k + 1:] + obstacles
        if a.joint not in (b.joint, carrier(b)) and b.joint != carrier(a)]


def _contacts(arm: ArmModel, pairs: list[Pair], q: Array) -> NDArray[np.bool_]:
    """Whether pairs touch at positions (K, n), (K, P)."""
    distances = PairDistances(arm, pairs).distances(q, CONTACT_DISTANCE_M)
    return np.asarray(distances < CONTACT_DISTANCE_M)


def _true_shares(exact: PairDistances, q: Array, touched: NDArray[np.bool_]) -> Array:
    """Share of true contacts (P,), from some contacts of hulls (K, P)."""
    shares = touched.mean(axis=0)
    rare = shares < OFTEN
    for k in np.flatnonzero(~(rare | exact.convex)):
        where = np.flatnonzero(touched[:, k])[:COMPARED_CONTACTS]
        only = np.arange(len(shares)) == k
        found = exact.refined(q[where], exact.lower_bounds(q[where]), only[None].repeat(
            len(where), axis=0))[:, k]
        shares[k] *= (found < CONTACT_DISTANCE_M).mean()
    return np.asarray(shares)


def _hulled(pairs: list[Pair], hulls: dict[str, list[Any]]) -> list[Pair]:
    """Replace the meshes of pairs by their hulls, in all combinations."""
    bodies = {body: [replace(body, shape=shape, source='') for shape in hulls[body.source]]
              if body.is_mesh else [body] for pair in pairs for body in pair}
    return [(x, y) for a, b in pairs for x in bodies[a] for y in bodies[b]]


def _with_meshes_where_needed(
    arm: ArmModel, q: Array, pairs: list[Pair], hulls: dict[str, list[Any]],
) -> list[Pair]:
    """Return pairs of hulls, and of meshes whose hulls alone touch nearly always."""
    hulled = _hulled(pairs, hulls)
    touched = _contacts(arm, hulled, q).mean(axis=0)
    names = _names(hulled)
    touching = {
        name for name, share in zip(names, touched, strict=True) if share >= ALWAYS}
    meshes = {name: pair for name, pair in zip(_names(pairs), pairs, strict=True)
              if name in touching and any(body.is_mesh for body in pair)}
    return [pair for name, pair in zip(names, hulled, strict=True) if name not in meshes] + list(
        meshes.values())


def _clearances(
    arm: ArmModel, q: Array, pairs: list[Pair], names: tuple[str, ...], clearance: float,
    obstacles: list[Body],
) -> Array:
    """Distance (P,) that each pair keeps, less where links are never so far apart."""
    enough = APART_CLEARANCES * clearance
    nearest: dict[str, Array] = {}
    for name, column in zip(names, PairDistances(arm, pairs).distances(q, enough).T,
                            strict=True):
        nearest[name] = np.minimum(column, nearest.get(name, np.inf))
    result = np.full(len(pairs), clearance)
    for k, (_, other) in enumerate(pairs):
        farthest = float(np.quantile(nearest[names[k]], ALWAYS))
        if farthest < enough and other not in obstacles:
            result[k] = min(clearance, PART * farthest)
    return result
