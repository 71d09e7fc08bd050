"""Designs that go on where earlier recordings left off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.excitation.design_objective import DesignObjective

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EarlierModel:
    """
    What an earlier recording tells of the base parameters.

    Attributes
    ----------
    source : str
        Name of the recording, for messages.
    joint_names : tuple of str
        Joints of its arm.
    names : tuple of str
        Base parameters, b of them.
    covariance : (b, b) ndarray
        With regard to coloured residuals.
    std_white : (b,) ndarray
        Standard deviations as if residuals were white.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    rate_hz : float
        Rate of the rows of the fit.

    """

    source: str
    joint_names: tuple[str, ...]
    names: tuple[str, ...]
    covariance: Array
    std_white: Array
    sigma: Array
    rate_hz: float


def objective_given(
    objective: DesignObjective, arm: ArmModel, results: Sequence[EarlierModel], seconds: float,
) -> DesignObjective:
    """
    Add what earlier results tell to the goal of a design.

    Parameters
    ----------
    objective : DesignObjective
        The goal without them.
    arm : ArmModel
        The arm with the columns that will be identified.
    results : sequence of EarlierModel
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
        A result is of another arm.

    Notes
    -----
    The information of a result is the inverse of its covariance, which regards coloured
    residuals. The motion to come is expected to be sampled and coloured alike: each of its
    samples then counts less than a white one by the ratio of the two variances.

    """
    names = base_parameters(arm.without_load).names
    prior, rates = np.zeros((len(names), len(names))), []
    for result in results:
        if result.joint_names != arm.joint_names:
            raise InputError(
                f"{result.source} is of an arm with the joints {', '.join(result.joint_names)}, "
                f"but '{arm.name}' has {', '.join(arm.joint_names)}; give results of this arm")
        prior += _information(result, names)
        colour = float(np.mean(np.diag(result.covariance) / result.std_white**2))
        rates.append(result.rate_hz / colour)
    weights = np.mean([1 / result.sigma**2 for result in results], axis=0)
    return replace(objective, weights=weights, prior=prior / (float(np.mean(rates)) * seconds))


def _information(result: EarlierModel, names: tuple[str, ...]) -> Array:
    """Information (b, b) on the wanted base parameters; the others of the result may vary."""
    own = result.names
    shared = [name for name in names if name in own]
    at = [own.index(name) for name in shared]
    to = [names.index(name) for name in shared]
    information = np.zeros((len(names), len(names)))
    information[np.ix_(to, to)] = np.linalg.inv(result.covariance[np.ix_(at, at)])
    return information
