# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``recording.yaml`` beside a recording: the arm that moved, and how it was recorded."""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dynid_ros.arm.description.yaml_source import parse_yaml, YamlError
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.plain_values import arm_to_plain
from dynid_ros.errors import RecordingError
from dynid_ros.utilities.atomic_write import read_whole, write_whole

SIDECAR = 'recording.yaml'
#: Default topic of the joint states.
STATES = 'joint_states'
#: Values that recordings of one arm with the same settings share, without offsets of the drive,
#: which identification may correct, and gravity, which a signal may lack.
_TREE = ('joint_names', 'parent', 'rotation', 'translation', 'prismatic', 'axis')
_DRIVE = ('signal', 'gain', 'transmission', 'includes_gravity')


def arm_entry(arm: ArmModel) -> dict[str, Any]:
    """Return the entries of an arm: ``arm_sha256`` of its YAML, and ``arm``."""
    plain = arm_to_plain(arm)
    return {'arm_sha256': hashlib.sha256(sidecar_text(plain)).hexdigest(), 'arm': plain}


def write_sidecar(folder: Path, content: Mapping[str, Any]) -> None:
    """
    Write the file into a folder.

    Raises
    ------
    ResultError
        It cannot be written.

    """
    write_whole(folder / SIDECAR, sidecar_text(content))


def sidecar_text(content: Mapping[str, Any]) -> bytes:
    """Make the content of the file."""
    text: str = yaml.safe_dump(dict(content), sort_keys=False, default_flow_style=None)
    return text.encode()


def check_same_arm(recording: Path, arm: ArmModel) -> None:
    """
    Compare the arm that a sidecar states with another one.

    Parameters
    ----------
    recording : Path
        Folder of the recording, or a file in it; without a sidecar there is nothing to compare.
    arm : ArmModel
        The arm that it should be of.

    Raises
    ------
    RecordingError
        Joints, geometry or drive settings differ; or the sidecar is unreadable.

    """
    path, content = read_sidecar(recording)
    other = different_setting(content.get('arm'), arm)
    if other is not None:
        raise RecordingError(
            f'{path} states another {other[0]} than the arm {arm.name} of the model: {other[1]} '
            f'instead of {other[2]}; give a recording and a model of one arm with the same '
            'settings')


def validation_spans(recording: Path) -> tuple[tuple[float, float], ...]:
    """
    Read begin and end of each validation motion, by the stamps of the states, s.

    Raises
    ------
    RecordingError
        The sidecar is unreadable, or states something else.

    """
    path, content = read_sidecar(recording)
    try:
        spans = [(float(begin), float(end)) for begin, end in content.get('validation', ())]
    except (TypeError, ValueError) as error:
        raise RecordingError(
            f'{path}: "validation" must list pairs of stamps, s; correct or remove it') from error
    return tuple(sorted(spans))


def recorded_topic(recording: Path) -> str:
    """Return the topic of the joint states of a recording; the usual one without a sidecar."""
    return str(read_sidecar(recording)[1].get('joint_states', STATES))


def recorded_wrench(recording: Path) -> str | None:
    """Return the topic of the force-torque sensor of a recording, where its sidecar states one."""
    topic = read_sidecar(recording)[1].get('wrench')
    return str(topic) if topic else None


def read_sidecar(recording: Path) -> tuple[Path, dict[str, Any]]:
    """
    Read the sidecar in the folder of a recording, or beside its bag.

    Parameters
    ----------
    recording : Path
        Folder of the recording, or a file in it.

    Returns
    -------
    Path, dict
        The file and its entries; the recording and none without a sidecar.

    Raises
    ------
    RecordingError
        The sidecar is unreadable.

    """
    path = next((folder / SIDECAR for folder in (recording, recording.parent)
                 if (folder / SIDECAR).is_file()), None)
    if path is None:
        return recording, {}
    try:
        content = parse_yaml(read_whole(path))
    except (OSError, YamlError) as error:
        raise RecordingError(f'{path} cannot be read: {error}; remove it to go on') from error
    return path, content if isinstance(content, dict) else {}


def different_setting(stated: Any, arm: ArmModel) -> tuple[str, str, str] | None:
    """Find the first difference between a stated arm and an arm: its name, and both values."""
    own = arm_to_plain(arm)
    for place in (*((name,) for name in _TREE), *(('drive', name) for name in _DRIVE)):
        given, wanted = _entry(stated, place), _entry(own, place)
        if given is not None and not _same(given, wanted):
            return '.'.join(place), _short(given), _short(wanted)
    return None


def _entry(content: Any, place: tuple[str, ...]) -> Any:
    """Find an entry of nested mappings, or None."""
    for name in place:
        content = content.get(name) if isinstance(content, dict) else None
    return content


def _same(one: Any, other: Any) -> bool:
    """Whether two plain values are the same but for rounding."""
    try:
        first, second = (np.asarray(value, dtype=float) for value in (one, other))
    except (TypeError, ValueError):
        return bool(one == other)
    return first.shape == second.shape and bool(
        np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f'{text[:57]}...'
