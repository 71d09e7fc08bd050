"""Consistency of recordings with the arm's description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.diagnosis.exchanged_torques import exchanged_torques
from dynid_ros.diagnosis.gravity_direction import gravity_direction
from dynid_ros.regression.fit import fit
from dynid_ros.signals.conditioning import ConditionedMotion, ConditioningSettings

Array = NDArray[np.float64]

HELD = ('effort holds gravity torque although arm.yaml states otherwise: remove '
        '"includes_gravity: false" under "drive"')


@dataclass(frozen=True)
class Doubts:
    """
    Findings of the data about the description.

    Attributes
    ----------
    reasons : tuple of str
        Contradictions, a sentence each.
    notes : tuple of str
        Remarks.

    """

    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check_plausibility(
    arm: ArmModel, gravity: Array, motions: Sequence[ConditionedMotion],
    treatment: ConditioningSettings, sigma: Array,
) -> Doubts:
    """
    Check the order of torque columns, the direction of gravity, and its presence in the torque.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the gravity included in its torque.
    gravity : (3,) ndarray
        Gravity as the arm states it, m/s².
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    treatment : ConditioningSettings
        Cut-off and decimation.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint in a fit, Nm; where a method gives less
        than that, the torque is fitted here.

    """
    arm = arm.without_load
    exchange = exchanged_torques(arm, motions, treatment)
    if exchange is not None:
        # The gravity check is meaningless with exchanged columns.
        return Doubts((exchange.sentence,))
    if len(sigma) < arm.n:
        sigma = fit(arm, motions, treatment).sigma
    check = gravity_direction(replace(arm, gravity=gravity), motions, treatment, sigma)
    if not arm.drive.includes_gravity:
        return Doubts((HELD,)) if check.loaded else Doubts()
    if check.wrong or check.removed:
        return Doubts((check.sentence,))
    return Doubts(notes=(check.sentence,))
