# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Prior information from earlier recordings, for sequential design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.estimate.possible_parameters import inverse
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.excitation.design_objective import DesignObjective
from dynid_ros.utilities.arrays import Array

#: Share of the covariance of standardised parameters that rounding may hide.
COVARIANCE_ROUNDING = 1e-8


def objective_given(
    objective: DesignObjective, arm: ArmModel, results: Sequence[IdentifiedModel], seconds: float,
) -> DesignObjective:
    """
    Add the information of earlier results to the objective of a design.

    Parameters
    ----------
    objective : DesignObjective
        The objective without them.
    arm : ArmModel
        The arm with the columns that will be identified.
    results : sequence of IdentifiedModel
        From earlier recordings of the same arm, one at least.
    seconds : float
        Length of the motion to come, s.

    Returns
    -------
    DesignObjective
        With the noise of the joints and the information of the results, scaled to one sample of
        the motion to come.

    Raises
    ------
    InputError
        A result is of another arm, or states no errors.

    Notes
    -----
    The information of a result is the inverse of its covariance, which allows for coloured
    residuals and model errors. The motion to design is assumed to have the same rate, colour and
    dispersion, so that each of its samples counts less than a white one by the ratio of the two
    variances.

    """
    names = base_parameters(arm.memoryless).names
    prior = np.zeros((len(names), len(names)))
    for result in results:
        own = result.arm.joint_names
        if own != arm.joint_names:
            raise InputError(
                f"the model of {', '.join(result.sources)} has the joints {', '.join(own)}, "
                f"but '{arm.name}' has {', '.join(arm.joint_names)}; give results of this arm")
        if not ((np.diag(result.covariance) > 0).all() and (result.sigma > 0).all()):
            raise InputError(
                f"the model of {', '.join(result.sources)} states no standard deviation above "
                'zero, so that its information is not known; identify again')
        prior += _information(result, names)
    weights = np.mean([1 / result.sigma**2 for result in results], axis=0)
    return replace(objective, weights=weights, prior=prior / (white_rate(results) * seconds))


def white_rate(results: Sequence[IdentifiedModel]) -> float:
    """Return the rate of white samples that carry as much information as results, Hz."""
    return float(np.mean([
        result.row_rate_hz / (result.colour * result.dispersion) for result in results]))


def _information(result: IdentifiedModel, names: tuple[str, ...]) -> Array:
    """Information (b, b) on the requested base parameters, with the others of the result free."""
    own = base_parameters(result.arm).names
    shared = [name for name in names if name in own]
    at = [own.index(name) for name in shared]
    to = [names.index(name) for name in shared]
    information = np.zeros((len(names), len(names)))
    information[np.ix_(to, to)] = inverse(result.covariance[np.ix_(at, at)], COVARIANCE_ROUNDING)
    return information
