"""Sidecar of a simulated recording: the arm that moved, and the sensors that read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dynid_ros.simulation.plausible_drive import PlausibleArm
from dynid_ros.simulation.record import Simulation
from dynid_ros.storage.sidecar import arm_entry, write_sidecar


def write_simulation(
    bag: Path, simulated: PlausibleArm, simulation: Simulation, seed: int,
) -> None:
    """
    Write what was simulated into the folder of its bag.

    Parameters
    ----------
    bag : Path
        Folder of the bag.
    simulated : PlausibleArm
        The arm; its nominal values are the truth behind the recording.
    simulation : Simulation
        Its recording and sensors.
    seed : int
        Of the noise.

    Raises
    ------
    ResultError
        The file cannot be written.

    """
    sensors = simulation.sensors
    write_sidecar(bag, {
        'simulation': {
            'seed': seed,
            'assumed': {name: value.tolist() for name, value in simulated.assumed.items()},
            'torque_noise': _plain(sensors.effort_noise),
            'velocity_noise': _plain(sensors.velocity_noise),
            'encoder_counts': _plain(sensors.encoder_counts)},
        **arm_entry(simulated.arm)})


def _plain(values: Any) -> Any:
    """Numbers as YAML has them, or None."""
    return None if values is None else np.asarray(values, dtype=float).tolist()
