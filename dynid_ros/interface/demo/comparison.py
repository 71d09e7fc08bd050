"""The result of the online identification beside that of the recording and the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.simulation.plausible_drive import with_plausible_drives
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True)
class Quality:
    """
    How good one result is.

    Attributes
    ----------
    torque_error_percent : float
        Error of the torque predicted for samples that were not used by then.
    condition_number : float
        Of the regressor.
    off_percent : float
        Distance of the base parameters from those of the simulation, of their norm.
    off_in_std : float
        Root mean square of the same distances, each in its stated standard deviation: about one
        if the error bars are honest.
    trustworthy : bool
        The verdict.

    """

    torque_error_percent: float
    condition_number: float
    off_percent: float
    off_in_std: float
    trustworthy: bool


@dataclass(frozen=True)
class Comparison:
    """
    Both results of one motion.

    Attributes
    ----------
    parameters : int
        Number of base parameters.
    online, batch : Quality
        While the arm moved, and from the recording.
    apart_percent : float
        Distance of one set of parameters from the other, of the norm.

    """

    parameters: int
    online: Quality
    batch: Quality
    apart_percent: float


def compare(arm: str, online: Path, batch: Path) -> Comparison:
    """
    Compare two results with each other and with the simulated arm.

    Parameters
    ----------
    arm : str
        The simulated arm, whose nominal or plausible parameters are the truth.
    online, batch : Path
        Folders of the results.

    """
    model, _ = with_plausible_drives(load_arm(arm))
    true = base_parameters(model).grouping @ nominal_parameters(model)
    first, second = read_result(online), read_result(batch)
    return Comparison(
        len(true), _quality(first, true), _quality(second, true),
        _off(first.theta, second.theta))


def _quality(result: IdentifiedModel, true: Array) -> Quality:
    metrics = result.validation or result.fit
    return Quality(
        metrics.relative_error_percent, result.condition_number, _off(result.theta, true),
        float(np.sqrt(np.mean(((result.theta - true) / result.std) ** 2))),
        result.verdict.trustworthy)


def _off(theta: Array, true: Array) -> float:
    return 100 * float(np.linalg.norm(theta - true) / np.linalg.norm(true))
