# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Motion beyond the range in which a model was identified."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.estimation.blocks.prediction import motion_range, Prediction
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Velocity relative to the largest one in the recording of the model, above which friction is
#: extrapolated.
FASTER = 1.2
#: Share of the range of a joint that the recording of the model must cover.
COVERED = 0.5


def outside_range(
    model: IdentifiedModel, motions: Sequence[ConditionedMotion] | Sequence[Prediction],
) -> tuple[str, ...]:
    """
    Warn of motion beyond the range in which a model was identified.

    Parameters
    ----------
    model : IdentifiedModel
        The model; without samples, its range is unknown.
    motions : sequence of ConditionedMotion or of Prediction
        Motion that it is applied to.

    """
    known = model.recorded_range()
    if known is None or not motions:
        return ()
    lowest, highest, speed = motion_range(motions)
    fast, remarks = known[2], elsewhere(model, lowest, highest)
    faster = np.flatnonzero(speed > FASTER * fast)
    if not len(faster):
        return remarks
    units = joint_units('rad/s', model.arm.prismatic)
    each = ', '.join(
        f'{model.arm.joint_names[j]} ({speed[j]:.2f} instead of {fast[j]:.2f} {units[j]})'
        for j in faster)
    return (*remarks, f'extrapolation: {each} moved slower in the recording of the model; '
            'friction is uncertain above')


def elsewhere(model: IdentifiedModel, lowest: Array, highest: Array) -> tuple[str, ...]:
    """
    Warn of joints that move where the model was not identified.

    Parameters
    ----------
    model : IdentifiedModel
        The model; without samples, its range is unknown.
    lowest, highest : (n,) ndarray
        Range of the positions that it is applied to, rad or m.

    """
    known = model.recorded_range()
    if known is None:
        return ()
    low, high, _ = known
    shared = np.minimum(high, highest) - np.maximum(low, lowest)
    outside = np.array(model.arm.joint_names)[shared < COVERED * (highest - lowest)]
    return () if not len(outside) else (
        f'extrapolation: {", ".join(outside)} moved elsewhere in the recording of the model; its '
        'covariance covers its parameters, not unmodelled torque',)
