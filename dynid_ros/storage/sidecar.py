"""``recording.yaml`` beside a recording: the arm that moved, and how it was recorded."""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
from pathlib import Path
from typing import Any

import yaml

from dynid_ros.arm.model import ArmModel
from dynid_ros.storage.plain import arm_to_plain
from dynid_ros.whole_file import write_whole

SIDECAR = 'recording.yaml'


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
