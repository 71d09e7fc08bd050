# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Which columns of a table hold time, positions, velocities and drive signals of the joints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
import re

from dynid_ros.arm.drive import COMMAND
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.tables.column_words import (
    Column,
    MEANING,
    plain,
    SIGNAL_WORDS,
    summary,
    TIME_NAMES,
    tokens,
    with_joints,
    with_label,
    with_number,
)
from dynid_ros.data.tables.joint_names import likely_names
from dynid_ros.data.tables.text_table import repeated
from dynid_ros.errors import listed, RecordingError

#: Short names of quantities.
_STEMS = {'position': 'q', 'velocity': 'qd', 'signal': 'tau'}

#: Words for positions and velocities of motors beside q and dq of links, where joints are elastic
#: (Spong 1987), such as in the state of a Franka.
MOTOR_SIDE = {'theta', 'dtheta'}

#: Place of columns that hold a joint alone, behind all others.
_BARE = 9

Family = list[Column]


class Choice:
    """
    Choice among the columns of one table.

    Parameters
    ----------
    path : Path
        File, for messages; words of its name decide what columns hold that are joint names alone.
    names : sequence of str
        Column names.
    arm : ArmModel
        Names of the joints, and kind of the drive signal.

    """

    def __init__(self, path: Path, names: Sequence[str], arm: ArmModel) -> None:
        self.path, self.names, self._arm = path, names, arm

    def of(self, quantity: str, *, bare: bool = False) -> Family | None:
        """
        Find the columns of a quantity of the joints.

        Parameters
        ----------
        quantity : str
            ``position``, ``velocity`` or ``signal``.
        bare : bool
            Whether columns are of this quantity whose names hold a joint alone.

        Returns
        -------
        list of Column or None
            In the order of the joints; None if there are none.

        Raises
        ------
        RecordingError
            Some joints have none, or several columns are as likely.

        """
        fits: dict[tuple[int, ...], list[Family]] = defaultdict(list)
        unfit = False
        for mode, family, ordered in self._candidates():
            order = self._order(family[0], quantity, bare)
            if order is None:
                continue
            if ordered:
                fits[(order[0] == _BARE, mode, *order)].append(ordered)
            elif order[0] != _BARE:
                # A log without velocities is complete.
                unfit |= mode == 0 or (mode == 1 and (
                    family[0].documented
                    or (quantity != 'velocity' and len(family) >= self._arm.n - 1)))
        if not fits:
            if unfit:
                raise self.missing(quantity)
            return None
        chosen = fits[min(fits)]
        if len(chosen) > 1:
            chosen = [family for family in chosen if family[0].measured] or chosen
        if len(chosen) > 1:
            chosen = [family for family in chosen
                      if not MOTOR_SIDE & set(tokens(family[0].pattern))] or chosen
        if len(chosen) > 1:
            shown = ' or '.join(summary([column.name for column in family]) for family in chosen)
            raise RecordingError(f'{self.path}: {quantity} may be {shown}; name the right ones '
                                 'under table in arm.yaml')
        return chosen[0]

    def time(self, alike: Callable[[Sequence[str]], bool]) -> Family:
        """
        Find the columns of time: none, one, or seconds and nanoseconds.

        Parameters
        ----------
        alike : callable
            Whether columns of these names hold the same values, as the times of each signal that
            Simulink saves, which are then one.

        Raises
        ------
        RecordingError
            Several columns are as likely.

        """
        found: dict[tuple[int, int], Family] = defaultdict(list)
        for column in map(plain, self.names):
            if column.quantity == 'time' and column.rank < 2 and not column.name[-1:].isdigit():
                stamp = {'stamp', 'header'} <= set(tokens(column.name))
                exact = column.name.lower() in TIME_NAMES
                found[column.rank, 0 if stamp else 1 if exact else 2].append(column)
        for (_, kind), chosen in sorted(found.items(), key=lambda item: item[0]):
            whole = [column for column in chosen if column.unit in ('sec', 'secs')]
            parts = [column for column in chosen if column.unit in ('nsec', 'nsecs', 'nanosec')]
            if len(whole) == len(parts) == 1:
                return [*whole, *parts]
            if kind == 1 or len(chosen) == 1 or alike([column.name for column in chosen]):
                return chosen[:1]
        if found:
            every = [column.name for columns in found.values() for column in columns]
            raise RecordingError(f'{self.path}: the time may be {listed(every)}; name the right '
                                 'one in table.time of arm.yaml')
        return []

    def missing(self, quantity: str) -> RecordingError:
        """Return the error that a quantity is not there, with the columns that come next to it."""
        near = max((family for _, family, _ in self._candidates()
                    if self._order(family[0], quantity, False) is not None),
                   key=len, default=[])
        for column in near:
            if self.names.count(column.name) > 1:
                return repeated(self.path, self.names, column.name)
        labels = {column.label for column in near}
        lacking = [name for name in self._arm.joint_names if name not in labels]
        commanded = quantity == 'signal' and self._arm.drive.signal == COMMAND
        stem, word = ('q_des', COMMAND) if commanded else (_STEMS[quantity], quantity)
        shown = f': {summary([column.name for column in near])} do not fit' if near else (
            f' (such as {stem}_0 or {lacking[0]}.{word})')
        return RecordingError(
            f'{self.path} has no columns of {quantity} for {listed(lacking, 12)}{shown}; it has '
            f'{summary(self.names) or "none"}; name the right ones, once each, under table in '
            'arm.yaml, or set joints or aliases there'
            + (', or table.signal_file' if quantity == 'signal' else '')
            + ('' if commanded or quantity != 'signal' else self._commands()))

    def _commands(self) -> str:
        """Name columns of commands, which may serve where there is no other drive signal."""
        found = max((family for _, family, ordered in self._candidates()
                     if ordered and family[0].commands), key=len, default=[])
        return '' if not found else (
            f'; if its drives follow {summary([column.name for column in found])}, state '
            'drive: {signal: command} there')

    def _order(self, column: Column, quantity: str, bare: bool) -> tuple[int, int] | None:
        """How likely columns hold a quantity, least first; None if they do not."""
        if quantity == 'signal' and self._arm.drive.signal == COMMAND:
            if column.commands:
                return 0, int(not column.quantity)
            return (_BARE, 0) if bare and not column.quantity and not column.rank else None
        if column.rank > 1:
            return None
        rank = -1 if column.documented else column.rank
        if not column.quantity:
            return (_BARE, rank) if bare and not column.rank else None
        if quantity != 'signal':
            return (0, rank) if column.quantity == quantity else None
        if column.quantity not in SIGNAL_WORDS:
            return None
        kinds = (self._arm.drive.signal, 'signal', *SIGNAL_WORDS)
        return kinds.index(column.quantity), rank

    def _candidates(self) -> Iterator[tuple[int, Family, Family | None]]:
        """Families by names of joints, numbers, likely names; and in their order if complete."""
        sets = (self._arm.joint_names, *self._arm.aliases)
        for joints in sets:
            for family in _families(self.names, partial(with_joints, joints=joints)):
                by = {column.label: column for column in family}
                yield 0, family, [by[j] for j in joints] if set(joints) <= set(by) else None
        for family in _families(self.names, with_number):
            if not any(with_joints(family[0].name, joints) for joints in sets):
                yield 1, family, self._in_order(family)
        for family in _families(self.names, with_label):
            yield 2, family, self._same_but_affixes(family)
        if self._arm.n == 1:
            yield from ((3, [column], [column]) for column in map(plain, self.names))

    def _in_order(self, family: Family) -> Family | None:
        """Put numbered columns in the order of the joints, by the numbers of these if any."""
        numbers = sorted(int(column.label) for column in family)
        first = numbers[0]
        if first > 1 or numbers != list(range(first, first + self._arm.n)):
            return None
        by = {int(column.label) - first: column for column in family}
        return [by[place] for place in _numbers(self._arm.joint_names)]

    def _same_but_affixes(self, family: Family) -> Family | None:
        """Match names that differ from the joint names by a part that all of them share."""
        by = {column.label: column for column in family}
        likely = likely_names(self._arm, by)
        return [by[name] for name in likely[0]] if len(likely) == 1 else None


def role(path: Path) -> str:
    """Quantity that the name of a file states, such as ``positions.csv``; empty if none."""
    words = [word for word in tokens(path.stem) if MEANING.get(word) != 'time']
    quantity = plain('_'.join(words)).quantity
    return 'signal' if quantity in SIGNAL_WORDS else quantity


def joints_in(names: Sequence[str]) -> tuple[str, ...]:
    """Name the joints of a table of which no arm is known: by their names, else their numbers."""
    for parse in (with_label, with_number):
        families = [family for family in _families(names, parse) if family[0].rank < 2]
        places = [family for family in families if family[0].quantity == 'position']
        forces = [family for family in families if family[0].quantity in SIGNAL_WORDS]
        # Without drive signals, these are in another file.
        shared = [[column.label for column in one
                   if not forces or column.label in {x.label for x in other}]
                  for one in places for other in forces or [one]]
        best = max(shared, key=len, default=[])
        if best and all(re.fullmatch(r'[^\W\d].*\w', label) for label in best):
            return tuple(best)
        if best and parse is with_number:
            first = min(map(int, best))
            return tuple(f'joint_{int(label) - first + 1}' for label in sorted(best, key=int))
    return tuple(column.name for column in map(plain, names) if not column.quantity)


def _families(
    names: Iterable[str], parse: Callable[[str], Column | None]
) -> list[Family]:
    """Group columns whose names differ in the joint alone."""
    found: dict[str, Family] = defaultdict(list)
    for name in names:
        column = parse(name)
        if column is not None:
            found[column.pattern].append(column)
    return list(found.values())


def _numbers(joints: Sequence[str]) -> list[int]:
    """Count the joints from 0 as their names do, or in their order if these do not count."""
    last = [re.findall(r'\d+', name)[-1:] for name in joints]
    numbers = [int(each[0]) for each in last if each]
    first = min(numbers, default=0)
    count = list(range(len(joints)))
    if sorted(number - first for number in numbers) != count:
        return count
    return [number - first for number in numbers]
