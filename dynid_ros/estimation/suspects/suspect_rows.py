# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of a recording as sums of products, so that each suspect is fitted quickly."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.filtered_friction import fill_filtered_friction
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.blocks.filtered_columns import Places
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class SuspectRows:
    """
    Rows ``[W tau]`` of an arm and its motion.

    Attributes
    ----------
    arm : ArmModel
        The arm, without friction terms that depend on the load.
    samples : TrialSamples
        Its motion and torque.
    columns : (b,) ndarray of int
        Standard parameters of the first columns.
    changed : (l,) ndarray of int
        Standard parameters with another value in some samples; none by default. The mass of a
        load comes first.
    presence : (k,) ndarray or None
        Share of that change in each sample, from 0 to 1; if None, it is everywhere.
    low_passed : (k, n, c) ndarray or None
        Change of the columns by the low-pass of the torque; if None, it is computed for friction
        only, see `fill_filtered_friction`.
    silent : tuple of int
        Joints whose torque depends on their offset alone.
    bending : tuple of int
        Joints with a further column each: friction of a contact that bends before it slides.
    compensated : tuple of int
        Joints with a last column each: viscous friction that the signal lacks.

    """

    arm: ArmModel
    samples: TrialSamples
    columns: NDArray[np.intp]
    changed: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    presence: Array | None = None
    low_passed: Array | None = None
    silent: tuple[int, ...] = ()
    bending: tuple[int, ...] = ()
    compensated: tuple[int, ...] = ()

    @cached_property
    def products(self) -> Array:
        """
        Sum the products of the rows of each joint, (n, c + n, c + n).

        The columns are those of the parameters, then the torque of all joints.
        """
        return self._products(self.regressor(), None)

    @cached_property
    def counts(self) -> Array:
        """Count the samples in which each joint moves, (n,)."""
        return np.asarray(self.samples.moving.sum(axis=0), dtype=float)

    @property
    def added(self) -> NDArray[np.intp]:
        """Return the standard parameters of the last columns; a bend has Coulomb friction."""
        added = [self.changed]
        for symbol, joints in (('Fc', self.bending), ('Fv', self.compensated)):
            # The arm may have no such term.
            if joints:
                added.append(self.arm.layout.friction_columns(symbol)[list(joints)])
        return np.concatenate(added)

    def regressor(self) -> Array:
        """Evaluate W, (k, n, c)."""
        arm, samples = self.arm, self.samples
        Y = regressor(arm, samples.q, samples.qd, samples.qdd, load=np.zeros_like(samples.q))
        fill_filtered_friction(arm, samples.qd, samples.qdd, samples.period, Y)
        columns = np.append(self.columns, self.added)
        # An index would leave columns far apart in memory, and their products take twice as long.
        W, b = Y.take(columns, axis=2), len(self.columns)
        if self.presence is not None:
            W[:, :, b:b + len(self.changed)] *= self.presence[:, None, None]
        for column, joint in enumerate(self.bending, b + len(self.changed)):
            W[:, joint, column] = samples.bend[:, joint]
        if self.compensated:
            W[:, :, -len(self.compensated):] *= -1.0
        if self.low_passed is not None:
            W += self.low_passed
        for joint in self.silent:
            W[:, joint, columns != arm.layout.friction_columns('Fo')[joint]] = 0.0
        return np.asarray(W)

    def by_group(self, numbers: Places) -> tuple[Array, Array]:
        """Products (K, n, c + n, c + n) and counts (K, n) of the groups of samples (k,)."""
        W, groups = self.regressor(), np.unique(numbers)
        products = np.array([self._products(W, numbers == k) for k in groups])
        counts = np.array([self.samples.moving[numbers == k].sum(axis=0) for k in groups])
        return products, counts.astype(float)

    def _products(self, W: Array, chosen: NDArray[np.bool_] | None) -> Array:
        samples, (_, n, c) = self.samples, W.shape
        used = samples.moving if chosen is None else samples.moving & chosen[:, None]
        products = np.zeros((n, c + n, c + n))
        # Outer joints have no entry for the links before them, whose columns come first.
        firsts = W.any(axis=0).argmax(axis=1).tolist()
        for j, (result, first) in enumerate(zip(products, firsts, strict=True)):
            # A copy of some samples only where it is needed.
            rows = slice(None) if used[:, j].all() else used[:, j]
            own, tau = W[:, j, first:][rows], samples.tau[rows]
            result[first:c, first:c] = own.T @ own
            result[first:c, c:] = own.T @ tau
            result[c:, first:c] = result[first:c, c:].T
            result[c:, c:] = tau.T @ tau
        return products
