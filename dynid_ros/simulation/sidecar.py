"""Sidecar of a simulated recording: the arm that moved, and the sensors that read it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynid_ros.simulation.plausible_drive import PlausibleArm
from dynid_ros.simulation.record import Simulation
from dynid_ros.storage.sidecar import arm_entry


def simulation_notes(
    simulated: PlausibleArm, simulation: Simulation, seed: int,
) -> dict[str, Any]:
    """
    State a simulation, for ``recording.yaml`` beside its bag.

    Parameters
    ----------
    simulated : PlausibleArm
        The arm; its nominal values are the truth behind the recording.
    simulation : Simulation
        Its recording and sensors.
    seed : int
        Of the noise.

    Returns
    -------
    dict
        Plain values of YAML.

    """
    sensors = simulation.sensors
    return {
        'simulation': {
            'seed': seed,
            'assumed': {name: value.tolist() for name, value in simulated.assumed.items()},
            'torque_noise': _plain(sensors.effort_noise),
            'velocity_noise': _plain(sensors.velocity_noise),
            'encoder_counts': _plain(sensors.encoder_counts)},
        **arm_entry(simulated.arm)}


def _plain(values: Any) -> Any:
    """Numbers as YAML has them, or None."""
    return None if values is None else np.asarray(values, dtype=float).tolist()
