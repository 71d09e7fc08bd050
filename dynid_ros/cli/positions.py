"""Positions of an arm on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import sys
import warnings

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError

Array = NDArray[np.float64]


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
        There is not one number a joint.

    """
    if at is None:
        middle = (arm.limits.lower + arm.limits.upper) / 2
        return np.where(np.isfinite(middle), middle, 0.0)
    if len(at) != arm.n:
        raise InputError(f'--at needs {arm.n} numbers, not {len(at)}: one for each of '
                         f'{", ".join(arm.joint_names)}')
    scale = np.where(arm.prismatic, 1.0, np.pi / 180 if degrees else 1.0)
    return np.asarray(at) * scale


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print each warning once as a line of its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print(f'warning: {message}', file=sys.stderr)
