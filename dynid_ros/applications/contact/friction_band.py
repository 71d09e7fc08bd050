# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of joints at rest or at a reversal: a band instead of a value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.applications.payload.known_friction import friction_coefficients
from dynid_ros.arm.friction import friction_terms, JointHistory
from dynid_ros.estimation.blocks.prediction import friction_load
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Speed at which friction reaches that of sliding, as a multiple of the speed up to which it is
#: uncertain.
SLIDING = 2.0


class FrictionBand:
    """
    Bound the difference of friction from the modelled one, by the speed of each joint.

    A joint at rest holds any torque up to its sliding friction F; at a reversal, friction changes
    from -F to F over displacements that no encoder velocity resolves. Up to the speed v0, the
    ``smooth_speed`` of the arm's friction shape, friction therefore counts as ``F qd / v0``, with
    a band of ``F (1 - |qd| / v0)`` on either side. Beyond v0 it is the model's.

    Parameters
    ----------
    model : IdentifiedModel
        The model.

    Attributes
    ----------
    slow : float
        v0, rad/s or m/s.

    """

    def __init__(self, model: IdentifiedModel) -> None:
        self._model = model
        self.slow = model.arm.friction_shape.smooth_speed
        self._terms = friction_terms(model.arm.friction)
        self._coefficients = friction_coefficients(model)

    def at(self, q: Array, qd: Array, history: JointHistory) -> tuple[Array, Array]:
        """
        Correct the modelled friction, and bound its error.

        Parameters
        ----------
        q, qd : (N, n) ndarray
            rad, rad/s (m for prismatic joints).
        history : JointHistory
            History of the joints.

        Returns
        -------
        change : (N, n) ndarray
            Friction as above minus the model's terms, Nm.
        width : (N, n) ndarray
            Half of the band around it, Nm.

        """
        load = friction_load(self._model.arm, self._model.theta, q)
        weight = np.zeros_like(qd) if load is None else load
        share = qd / self.slow
        inside = np.abs(share) < 1
        sliding = replace(history, presliding=np.ones_like(qd))
        begin = self._odd(np.full_like(qd, self.slow), weight, sliding)
        level = np.abs(self._odd(np.full_like(qd, SLIDING * self.slow), weight, sliding))
        change = np.where(inside, begin * share - self._odd(qd, weight, history), 0.0)
        return change, np.where(inside, level * (1 - np.abs(share)), 0.0)

    def _odd(self, qd: Array, load: Array, history: JointHistory) -> Array:
        """Part of the friction that changes its sign with the velocity, (N, n), Nm."""
        shape, total = self._model.arm.friction_shape, np.zeros_like(qd)
        back = replace(history, presliding=-history.presliding)
        for term in self._terms:
            total += self._coefficients[term.name] * (
                term.at(qd, load, history, shape) - term.at(-qd, load, back, shape)) / 2
        return total
