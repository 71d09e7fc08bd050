# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Arguments that several commands share, positions of an arm among them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from math import inf, isfinite
from pathlib import Path
from typing import Any, TYPE_CHECKING, TypeVar

from dynid_ros.arm.shipped import shipped_arms
from dynid_ros.errors import InputError

if TYPE_CHECKING:
    from dynid_ros.arm.model import ArmModel
    from dynid_ros.utilities.arrays import Array

Number = TypeVar('Number', int, float)

#: Largest number of starts, harmonics and periods.
LARGEST_COUNT = 1_000_000


def add_arm(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add ``--arm``, and how bags of it are read."""
    parser.add_argument(
        '--arm', required=required, metavar='ARM',
        help=f'a shipped arm ({", ".join(shipped_arms())}), or the path of an arm.yaml, of its '
             'folder, or of a URDF')
    add_reading(parser)


def add_recordings(
    parser: argparse.ArgumentParser, name: str, metavar: str, about: str | None, second: str,
    about_second: str,
) -> None:
    """Add recordings, and an option that takes others: any number, and any number of times."""
    # An option that stands before would take the first ones, too.
    parser.usage = f'%(prog)s {metavar} [{metavar} ...] [{second} BAG [BAG ...]] [options]'
    parser.add_argument(name, nargs='+', type=Path, metavar=metavar, help=about)
    parser.add_argument(second, nargs='+', action='extend', default=[], type=Path, metavar='BAG',
                        help=f'{about_second}; behind the other recordings')


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add how bags are read: ``--topic`` and ``--received``."""
    parser.add_argument(
        '--topic', default='joint_states', help='JointState topic in bags (default: %(default)s)')
    parser.add_argument(
        '--received', action='store_true',
        help='use the times of reception in a bag, for drivers that set no stamps')


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """Return the choices of `add_reading`, for functions that read themselves."""
    return {'topic': args.topic, 'received': args.received}


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


def checked(
    kind: Callable[[str], Number], wanted: str, fits: Callable[[Number], bool],
) -> Callable[[str], Number]:
    """Make a parser of numbers in a range; its error states the range."""
    def parse(text: str) -> Number:
        # Of no number, and of one with thousands of digits.
        with suppress(ValueError):
            value = kind(text)
            if fits(value):
                return value
        raise argparse.ArgumentTypeError(f'{text} is not {wanted}')

    return parse


share = checked(float, 'a share from 0 to below 1', lambda value: 0 <= value < 1)
positive = checked(float, 'a number above zero', lambda value: 0 < value < inf)
not_negative = checked(float, 'a number of zero or more', lambda value: 0 <= value < inf)
finite = checked(float, 'a finite number', isfinite)
#: A number of starts, harmonics or periods, and a seed of random numbers.
count = checked(int, f'a whole number from 1 to {LARGEST_COUNT}',
                lambda value: 0 < value <= LARGEST_COUNT)
seed = checked(int, 'a whole number of zero or more, below 2**63',
               lambda value: 0 <= value < 2**63)


def cutoff(text: str) -> float:
    """Parse the cut-off of a filter, Hz."""
    from dynid_ros.arm.settings import LEAST_CUTOFF

    return checked(float, f'a frequency of {LEAST_CUTOFF:g} Hz or more',
                   lambda value: LEAST_CUTOFF <= value < inf)(text)


def delay(text: str) -> float:
    """Parse the delay of a signal, s."""
    from dynid_ros.arm.settings import LONGEST_DELAY

    return checked(float, f'a delay from {-LONGEST_DELAY:g} to {LONGEST_DELAY:g} s',
                   lambda value: abs(value) <= LONGEST_DELAY)(text)


def add_friction(parser: argparse._ActionsContainer) -> None:
    """Add ``--friction``."""
    parser.add_argument(
        '--friction', default='auto', metavar='TERMS',
        help='auto (all, as strong as they predict in cross-validation on the fitted samples), or '
             'names joined by commas, such as viscous,coulomb,offset (default: %(default)s)')


def add_position(parser: argparse.ArgumentParser) -> argparse._ActionsContainer:
    """Add ``--at``, ``--deg`` and ``--body``; return the group of those that exclude ``--at``."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        '--at', nargs='+', type=finite, metavar='Q',
        help='joint positions, rad or m; the middle of the limits if not given')
    parser.add_argument('--deg', action='store_true', help='--at is in degrees')
    parser.add_argument(
        '--body', default='tool', help='tool, or the joint that moves the link (default: tool)')
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
