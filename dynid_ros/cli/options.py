"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_arm(parser: argparse.ArgumentParser) -> None:
    """Add ``--arm``."""
    parser.add_argument(
        '--arm', required=True, metavar='ARM',
        help='a shipped arm (gluon_6l3, hand_leg, panda, tx40, two_axis, ur10), or the path of an '
             'arm.yaml, of its folder, or of a URDF')


def add_topic(parser: argparse.ArgumentParser) -> None:
    """Add ``--topic``."""
    parser.add_argument(
        '--topic', default='joint_states', help='JointState topic in bags (default: %(default)s)')


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument('--json', action='store_true', help='print one JSON object instead')


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``-o``."""
    parser.add_argument('-o', '--output', required=True, type=Path, metavar='PATH', help=what)


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


Subparsers = Any
