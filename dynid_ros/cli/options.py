"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from math import isfinite
from pathlib import Path
from typing import Any

from dynid_ros.errors import ResultError


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
        help='take the times at which a bag received its messages, for drivers that set no stamps')


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
