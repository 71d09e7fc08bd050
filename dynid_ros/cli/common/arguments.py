"""Arguments that several commands share, positions of an arm among them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError, ResultError

Array = NDArray[np.float64]


def add_arm(parser: argparse.ArgumentParser) -> None:
    """Add ``--arm``."""
    parser.add_argument(
        '--arm', required=True, metavar='ARM',
        help='a shipped arm (gluon_6l3, hand_leg, panda, tx40, two_axis, ur10), or the path of an '
             'arm.yaml, of its folder, or of a URDF')


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add how bags are read: ``--topic`` and ``--received``."""
    parser.add_argument(
        '--topic', default='joint_states', help='JointState topic in bags (default: %(default)s)')
    parser.add_argument(
        '--received', action='store_true',
        help='use the times of reception in a bag, for drivers that set no stamps')


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument('--json', action='store_true', help='print one JSON object instead')


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``-o``."""
    parser.add_argument('-o', '--output', required=True, type=Path, metavar='PATH', help=what)


def check_folder_of(path: Path) -> None:
    """Refuse a file in a folder that does not exist, before the work begins."""
    if not path.parent.is_dir():
        raise ResultError(f'{path} cannot be written: there is no folder {path.parent}')


def check_folder(path: Path) -> None:
    """Refuse a folder that cannot be one, before the work begins."""
    for part in (path, *path.parents):
        if part.exists():
            if not part.is_dir():
                raise ResultError(f'{path} cannot be a folder for results: {part} is a file')
            return


def share(text: str) -> float:
    """Parse a share of a recording, from 0 to below 1."""
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f'{text} is not a share from 0 to below 1')
    return value


def positive(text: str) -> float:
    """Parse a number above zero."""
    value = float(text)
    if not 0 < value < float('inf'):
        raise argparse.ArgumentTypeError(f'{text} is not a number above zero')
    return value


def seconds(text: str) -> float:
    """Parse a time, which may be negative."""
    value = float(text)
    if not isfinite(value):
        raise argparse.ArgumentTypeError(f'{text} is not a time in s')
    return value


Subparsers = Any


def add_position(parser: argparse._ActionsContainer) -> None:
    """Add ``--at``."""
    parser.add_argument(
        '--at', nargs='+', type=float, metavar='Q',
        help='joint positions, rad or m; the middle of the limits if not given')


def position(arm: ArmModel, at: Sequence[float] | None, *, degrees: bool) -> Array:
    """
    Position (n,) of an arm from the command line.

    Raises
    ------
    InputError
        The number of values differs from that of joints.

    """
    if at is None:
        middle = (arm.limits.lower + arm.limits.upper) / 2
        return np.where(np.isfinite(middle), middle, 0.0)
    if len(at) != arm.n:
        raise InputError(f'--at needs {arm.n} numbers, not {len(at)}: one for each of '
                         f'{", ".join(arm.joint_names)}')
    scale = np.where(arm.prismatic, 1.0, np.pi / 180 if degrees else 1.0)
    return np.asarray(at) * scale
