"""Sidecar of a simulated recording: the arm that moved, and the sensors that read it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dynid_ros.simulation.plausible_drive import PlausibleArm
from dynid_ros.simulation.record import Simulation
from dynid_ros.storage.plain import arm_to_plain
from dynid_ros.storage.whole_file import write_whole

#: Name of the file in the folder of the bag, as the recorder calls its own.
SIDECAR = 'recording.yaml'


def write_sidecar(bag: Path, simulated: PlausibleArm, simulation: Simulation, seed: int) -> None:
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
    arm = _text(arm_to_plain(simulated.arm))
    sensors = simulation.sensors
    content: dict[str, Any] = {
        'simulation': {
            'seed': seed,
            'assumed': {name: value.tolist() for name, value in simulated.assumed.items()},
            'torque_noise': _plain(sensors.effort_noise),
            'velocity_noise': _plain(sensors.velocity_noise),
            'encoder_counts': _plain(sensors.encoder_counts)},
        'arm_sha256': hashlib.sha256(arm.encode()).hexdigest(), 'arm': yaml.safe_load(arm)}
    write_whole(bag / SIDECAR, _text(content).encode())


def _text(content: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(content, sort_keys=False, default_flow_style=None)
    return text


def _plain(values: Any) -> Any:
    """Numbers as YAML has them, or None."""
    return None if values is None else np.asarray(values, dtype=float).tolist()
