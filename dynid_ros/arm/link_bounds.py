# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Stated bounds on masses and centres of mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.schema import Section
from dynid_ros.arm.parameters import inertial_from_com, inertial_to_com
from dynid_ros.utilities.arrays import Array

#: Distance of a prior from the ends of a range, as a share of it, so that a search starts inside.
INNER = 0.1


@dataclass(frozen=True, eq=False)
class LinkBounds:
    """
    Ranges of masses and of centres of mass; infinite where nothing is known.

    Attributes
    ----------
    total_mass : (2,) ndarray
        Least and largest mass of all links that move, kg.
    mass : (n, 2) ndarray
        The same of each link.
    center : (n, 3, 2) ndarray
        Box of its centre of mass along x, y and z of the joint's frame, m.

    """

    total_mass: Array
    mass: Array
    center: Array

    def rows(self, links: NDArray[np.intp], size: int) -> tuple[Array, Array]:
        """
        Return the bounds as linear conditions.

        Parameters
        ----------
        links : (n, 10) ndarray of int
            Columns of the inertial parameters of each link.
        size : int
            Number of parameters p.

        Returns
        -------
        rows, offsets : (k, p) and (k,) ndarray
            ``rows @ x + offsets`` is positive inside.

        """
        rows, offsets = [], []
        conditions = [
            (links[:, 0], self.total_mass, None),
            *((links[i, :1], own, None) for i, own in enumerate(self.mass)),
            *((columns[1 + axis:2 + axis], own, columns[0]) for columns, box in zip(
                links, self.center, strict=True) for axis, own in enumerate(box))]
        for columns, bounds, mass in conditions:
            for sign, bound in zip((1.0, -1.0), bounds, strict=True):
                if np.isfinite(bound):
                    rows.append(np.zeros(size))
                    rows[-1][columns] = sign
                    offsets.append(0.0 if mass is not None else -sign * bound)
                    if mass is not None:
                        # Of m c = (first moment), m times the distance from the side.
                        rows[-1][mass] = -sign * bound
        return np.array(rows).reshape(-1, size), np.array(offsets, dtype=np.float64)

    def inside(self, links: Array) -> Array:
        """
        Move links (n, 10) into the bounds.

        Centres of mass move into their boxes, with the inertia about them; masses are scaled, with
        all other parameters.
        """
        moved = []
        for link, box in zip(links, self.center, strict=True):
            mass, center, inertia = inertial_to_com(link)
            low, high = _inner(box)
            moved.append(inertial_from_com(mass, np.clip(center, low, high), inertia))
        found = np.array(moved)
        low, high = _inner(self.mass)
        masses = found[:, 0]
        least, most = (float(side) for side in _inner(self.total_mass[None])[:, 0])
        total = float(np.clip(masses, low, high).sum())
        wanted = min(max(total, least), most)
        factor = 1.0
        if wanted != total:
            from scipy.optimize import brentq

            # The sum grows with the factor.
            factor = np.exp(brentq(
                lambda x: np.clip(np.exp(x) * masses, low, high).sum() - wanted, -30, 30))
        return found * (np.clip(factor * masses, low, high) / masses)[:, None]


def _inner(bounds: Array) -> Array:
    """Lower and upper ends (2, k) of ranges (k, 2), somewhat inside of them."""
    low, high = bounds.T
    with np.errstate(invalid='ignore'):
        margin = INNER * np.where(np.isfinite(high - low), high - low, 0.0)
    # Masses, which are positive, have one-sided ranges.
    one = ~np.isfinite(high - low)
    return np.array([np.where(one, low * (1 + INNER), low + margin),
                     np.where(one, high * (1 - INNER), high - margin)])


def read_link_bounds(top: Section, names: tuple[str, ...]) -> LinkBounds | None:
    """Bounds from ``links``; None where the section is absent."""
    if 'links' not in top:
        return None
    section = top.section('links', ('total_mass', 'mass', 'center'))
    total = _range(section, 'total_mass')
    masses, boxes = section.section('mass', names), section.section('center', names)
    mass = np.array([_range(masses, name) for name in names])
    center = np.full((len(names), 3, 2), (-np.inf, np.inf))
    for joint, name in enumerate(names):
        sides = boxes.vector(name, 6)
        if sides is not None:
            center[joint] = sides.reshape(3, 2)
            if not (center[joint, :, 0] < center[joint, :, 1]).all():
                raise boxes.error(name, 'must hold x, y and z from and to, m, each rising')
    # The prior has to find room inside all of them.
    low, high = (side.sum() for side in np.clip(_inner(mass), 0.0, None))
    lowest, highest = _inner(total[None])[:, 0]
    if not (low < highest and lowest < high):
        least, most = np.clip(mass, 0.0, None).sum(axis=0)
        raise section.error('total_mass', f'lies outside of the sum of the masses, {least:g} to '
                            f'{most:g} kg, or leaves no room in it')
    return LinkBounds(total, mass, center)


def _range(section: Section, key: str) -> Array:
    """Least and largest mass, kg, infinite where the key is absent."""
    bounds = section.vector(key, 2, finite=False)
    if bounds is None:
        return np.array([-np.inf, np.inf])
    if not (bounds[0] < bounds[1] and bounds[1] > 0):
        raise section.error(key, 'must be the least and the largest mass, kg')
    return np.where(bounds > 0, bounds, -np.inf)
