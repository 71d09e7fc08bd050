# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Whether the model still fits: residuals that stay large, and a load that explains them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.bodies import TOOL
from dynid_ros.dynamics.rigid_body import jacobians
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Time between the samples used, and time over which they are averaged, s.
SAMPLE_SECONDS, AVERAGING_SECONDS = 0.1, 60.0
#: Motion after which a joint is judged, s.
LEAST_MOTION_SECONDS = 20.0
#: Root mean square residual of an aged model, relative to the residual of the identification.
AGED = 2.0
#: Bound on a residual, so that a contact of some seconds does not count as an aged model.
RESIDUAL_BOUND = 4.0
#: Share of the residuals that a load must explain to be named.
EXPLAINED = 0.5


@dataclass(frozen=True)
class Aged:
    """
    A model that no longer fits.

    Attributes
    ----------
    joints : tuple of str
        Joints whose residual has grown.
    ratio : float
        Largest residual of a joint, relative to its residual in the identification.
    payload : float or None
        Mass at the tool that explains the residuals, beside the one that was identified, kg.
    sentence : str
        The finding and its remedy.

    """

    joints: tuple[str, ...]
    ratio: float
    payload: float | None
    sentence: str


class ModelAge:
    """
    Compare residuals of the last `AVERAGING_SECONDS` of motion with those of the identification.

    Parameters
    ----------
    model : IdentifiedModel
        The model.

    """

    def __init__(self, model: IdentifiedModel) -> None:
        self._arm = model.arm
        # Seconds of motion, and sum of squared residuals in standard deviations.
        self._seconds, self._squares = np.zeros((2, model.arm.n))
        self._load = np.zeros(3)
        self._next = -np.inf

    def take(self, t: Array, q: Array, torque: Array, std: Array,
             moving: NDArray[np.bool_]) -> None:
        """
        Take in samples; one in `SAMPLE_SECONDS` is used.

        Parameters
        ----------
        t : (m,) ndarray
            s.
        q, torque, std : (m, n) ndarray
            Position, external torque without tare, and its standard deviation.
        moving : (m, n) ndarray of bool
            Joints in motion.

        """
        for k in range(len(t)):
            if t[k] >= self._next or t[k] < self._next - 2 * SAMPLE_SECONDS:
                self._next = t[k] + SAMPLE_SECONDS
                if moving[k].any():
                    self._look(q[k], torque[k] / std[k], 1 / std[k], moving[k])

    @property
    def judged(self) -> bool:
        """Whether any joint has moved for long enough."""
        return bool((self._seconds >= LEAST_MOTION_SECONDS).any())

    @property
    def finding(self) -> Aged | None:
        """Return the reason to doubt the model, if there is one."""
        known = self._seconds >= LEAST_MOTION_SECONDS
        mean = np.where(known, self._squares / np.maximum(self._seconds, SAMPLE_SECONDS), 0.0)
        ratio = np.sqrt(mean)
        if not (ratio > AGED).any():
            return None
        worst = int(np.argmax(ratio))
        names = tuple(name for name, r in zip(self._arm.joint_names, ratio, strict=True)
                      if r > AGED)
        mass, seconds = self._mass(), f'{self._seconds[worst]:.0f} s of motion'
        return Aged(names, float(ratio[worst]), mass, (
            f'the residual of {", ".join(names)} is {ratio[worst]:.1f} times the residual of the '
            f'identification over {seconds}: the model has aged, or something leans on the arm; '
            'identify again') if mass is None else (
            f'the torque of the last {seconds} fits about {abs(mass):.2g} kg '
            f'{"more" if mass > 0 else "less"} at the tool than the model has; estimate the load '
            'with dynid payload'))

    def _look(self, q: Array, deviation: Array, weight: Array,
              moving: NDArray[np.bool_]) -> None:
        keep = np.where(moving, 1 - SAMPLE_SECONDS / AVERAGING_SECONDS, 1.0)
        new = np.where(moving, np.clip(deviation, -RESIDUAL_BOUND, RESIDUAL_BOUND), 0.0)
        self._seconds = keep * self._seconds + SAMPLE_SECONDS * moving
        self._squares = keep * self._squares + SAMPLE_SECONDS * new**2
        # Torque that holds 1 kg at the tool.
        pull = np.concatenate([np.zeros(3), self._arm.gravity])
        column = -jacobians(self._arm, q[None], TOOL)[0].T @ pull * weight * moving
        own = deviation * moving
        self._load = (1 - SAMPLE_SECONDS / AVERAGING_SECONDS) * self._load + [
            column @ column, column @ own, own @ own]

    def _mass(self) -> float | None:
        weight, product, total = self._load
        if not weight or product**2 < EXPLAINED * weight * total:
            return None
        return float(product / weight)
