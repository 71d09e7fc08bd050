# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Compare the online result with that of the recording and with the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.simulation.plausible_drive import with_plausible_drives
from dynid_ros.utilities.arrays import Array


def compare(arm: str, online: Path, batch: Path) -> dict[str, Any]:
    """
    Compare two results with each other and with the simulated arm.

    Parameters
    ----------
    arm : str
        The simulated arm, whose nominal or plausible parameters are the truth.
    online, batch : Path
        Folders of the results.

    Returns
    -------
    dict
        Under the keys of ``dynid demo --json``: number of ``parameters``, quality of the result
        ``online`` and from the recording (``batch``), and the distance of one set of parameters
        from the other, of the norm (``apart_percent``).

    """
    model, _ = with_plausible_drives(load_arm(arm))
    true = base_parameters(model).grouping @ nominal_parameters(model)
    first, second = read_result(online), read_result(batch)
    return {'parameters': len(true), 'online': _quality(first, true),
            'batch': _quality(second, true), 'apart_percent': _off(first.theta, second.theta)}


def _quality(result: IdentifiedModel, true: Array) -> dict[str, Any]:
    """
    Return how good one result is.

    Torque error on samples before their use, condition number of the regressor, distance of the
    base parameters from the simulated ones, relative to their norm, and its root mean square in
    standard deviations, about one if the error bars are right.
    """
    metrics = result.validation or result.fit
    return {
        'torque_error_percent': metrics.relative_error_percent,
        'condition_number': result.condition_number, 'off_percent': _off(result.theta, true),
        'off_in_std': float(np.sqrt(np.mean(((result.theta - true) / result.std) ** 2))),
        'trustworthy': result.verdict.trustworthy}


def _off(theta: Array, true: Array) -> float:
    return 100 * float(np.linalg.norm(theta - true) / np.linalg.norm(true))
