"""Arguments that several commands share, positions of an arm among them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf, isfinite
from pathlib import Path
from typing import Any, TYPE_CHECKING, TypeVar

import numpy as np

from dynid_ros.arm.load import shipped_arms
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.settings import LEAST_CUTOFF, LONGEST_DELAY
from dynid_ros.errors import InputError
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    from dynid_ros.data.recordings.recording import Recording
    from dynid_ros.estimation.model.identified_model import IdentifiedModel

Number = TypeVar('Number', int, float)

#: Largest number of starts, harmonics and periods.
MOST = 1_000_000


def add_arm(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add ``--arm``."""
    parser.add_argument(
        '--arm', required=required, metavar='ARM',
        help=f'a shipped arm ({", ".join(shipped_arms())}), or the path of an arm.yaml, of its '
             'folder, or of a URDF')


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add how bags are read: ``--topic`` and ``--received``."""
    parser.add_argument(
        '--topic', default='joint_states', help='JointState topic in bags (default: %(default)s)')
    parser.add_argument(
        '--received', action='store_true',
        help='use the times of reception in a bag, for drivers that set no stamps')


def arm_or_result(given: str) -> tuple[IdentifiedModel | None, ArmModel]:
    """Read a result from its folder with its arm, or else an arm."""
    from dynid_ros.arm import load_arm
    from dynid_ros.estimation.result_files.result_file import read_result, RESULT

    if (Path(given) / RESULT).is_file():
        result = read_result(Path(given))
        return result, result.arm
    return None, load_arm(given)


def read_recording(args: argparse.Namespace, path: Path, arm: ArmModel) -> Recording:
    """Read a recording as `add_reading` lets users choose."""
    from dynid_ros.data.files import recording_reader

    return recording_reader.read_recording(path, arm, **reading(args))


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """Return the choices of `add_reading`, for functions that read themselves."""
    return {'topic': args.topic, 'received': args.received}


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``-o``."""
    parser.add_argument('-o', '--output', required=True, type=Path, metavar='PATH', help=what)


def checked(
    kind: Callable[[str], Number], wanted: str, fits: Callable[[Number], bool],
) -> Callable[[str], Number]:
    """Make a parser of numbers that fit; its error says what is wanted."""
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
#: Cut-off of a filter, Hz, and delay of a signal, s.
cutoff = checked(float, f'a frequency of {LEAST_CUTOFF:g} Hz or more',
                 lambda value: LEAST_CUTOFF <= value < inf)
delay = checked(float, f'a delay from {-LONGEST_DELAY:g} to {LONGEST_DELAY:g} s',
                lambda value: abs(value) <= LONGEST_DELAY)
#: A number of starts, harmonics or periods, and a seed of random numbers.
count = checked(int, f'a whole number from 1 to {MOST}', lambda value: 0 < value <= MOST)
seed = checked(int, 'a whole number of zero or more, below 2**63',
               lambda value: 0 <= value < 2**63)


def add_friction(parser: argparse._ActionsContainer) -> None:
    """Add ``--friction``."""
    parser.add_argument(
        '--friction', default='auto', metavar='TERMS',
        help='auto (all, as strong as they predict in cross-validation on the fitted samples), or '
             'names joined by commas, such as viscous,coulomb,offset (default: %(default)s)')


def add_position(parser: argparse._ActionsContainer) -> None:
    """Add ``--at``."""
    parser.add_argument(
        '--at', nargs='+', type=finite, metavar='Q',
        help='joint positions, rad or m; the middle of the limits if not given')


def position(arm: ArmModel, at: Sequence[float] | None, degrees: bool) -> Array:
    """
    Position (n,) of an arm from the command line.

    Raises
    ------
    InputError
        The number of values differs from that of joints.

    """
    if at is None:
        lower, upper = arm.limits.lower, arm.limits.upper
        limited = np.isfinite(lower) & np.isfinite(upper)
        middle: Array = np.where(limited, lower, 0.0) / 2 + np.where(limited, upper, 0.0) / 2
        return middle
    if len(at) != arm.n:
        raise InputError(f'--at needs {arm.n} numbers, not {len(at)}: one for each of '
                         f'{", ".join(arm.joint_names)}')
    scale = np.where(arm.prismatic, 1.0, np.pi / 180 if degrees else 1.0)
    return np.asarray(at) * scale
