# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Arguments that several commands share and no function has: pages, outputs, positions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.described import number

if TYPE_CHECKING:
    from dynid_ros.arm.model import ArmModel
    from dynid_ros.utilities.arrays import Array


def add_address(parser: argparse.ArgumentParser, remark: str) -> None:
    """Add ``--host`` and ``--port`` of a page."""
    parser.add_argument(
        '--host', default='127.0.0.1', metavar='ADDRESS',
        help=f'address to listen on (default: %(default)s, this computer alone); {remark}')
    parser.add_argument(
        '--port', type=int, default=8080,
        help='port of the page, 0 for any that is free (default: %(default)s)')


def add_output(parser: argparse.ArgumentParser, what: str, *, required: bool = True) -> None:
    """Add ``-o``."""
    parser.add_argument('-o', '--output', required=required, type=Path, metavar='PATH', help=what)


def add_position(parser: argparse.ArgumentParser) -> argparse._ActionsContainer:
    """Add ``--at`` and ``--deg``; return the group of options that exclude ``--at``."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        '--at', nargs='+', type=number('Finite'), metavar='Q',
        help='joint positions, rad or m; the middle of the limits if not given')
    parser.add_argument('--deg', action='store_true', help='--at is in degrees')
    return where


def position(arm: ArmModel, args: argparse.Namespace) -> Array:
    """
    Position (n,) of an arm from the command line.

    Raises
    ------
    InputError
        The number of values differs from the number of joints.

    """
    import numpy as np

    at = args.at
    if at is None:
        ends = np.array([arm.limits.lower, arm.limits.upper])
        return np.asarray(np.where(np.isfinite(ends).all(axis=0), ends, 0.0).mean(axis=0))
    if len(at) != arm.n:
        raise InputError(f'--at needs {arm.n} numbers, not {len(at)}: one for each of '
                         f'{", ".join(arm.joint_names)}')
    scale = np.where(arm.prismatic, 1.0, np.pi / 180 if args.deg else 1.0)
    return np.asarray(at) * scale
