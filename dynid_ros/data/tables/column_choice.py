"""Which columns of a table hold time, positions, velocities and drive signals of the joints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
import re

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.tables.column_words import (
    Column,
    OTHERS,
    plain,
    SIGNALS,
    summary,
    tokens,
    with_joints,
    with_label,
    with_number,
    WORDS,
)
from dynid_ros.data.tables.joint_names import likely_names
from dynid_ros.errors import listed, RecordingError

#: Columns that the documents name; others are guesses.
DOCUMENTED = re.compile(
    r'(q|qd|dq|tau|u)([_.]?\*|\[\*\])|\*\.(position|velocity|effort|torque|current|voltage)')
TIME_NAMES = ('t', 'time', 'stamp')
_REMEDY = 'name the right ones under table in arm.yaml'

#: Place of columns that hold a joint alone, behind all others.
_BARE = 9

Family = list[Column]
Order = tuple[int, ...]


class Choice:
    """
    Choice among the columns of one table.

    Parameters
    ----------
    path : Path
        File, for messages; words of its name tell what columns hold that are joint names alone.
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
        fits: dict[Order, list[Family]] = defaultdict(list)
        for mode, family in self._complete():
            order = self._order(family[0], quantity, bare)
            if order is not None:
                fits[(order[0] == _BARE, mode, *order)].append(family)
        if not fits:
            self._refuse_partial(quantity, bare)
            return None
        chosen = fits[min(fits)]
        if len(chosen) > 1:
            shown = ' or '.join(summary([column.name for column in family]) for family in chosen)
            raise RecordingError(f'{self.path}: {quantity} may be {shown}; {_REMEDY}')
        return chosen[0]

    def time(self) -> Family:
        """
        Find the columns of time: none, one, or seconds and nanoseconds.

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
            if kind == 1 or len(chosen) == 1:
                return chosen[:1]
        if found:
            every = [column.name for columns in found.values() for column in columns]
            raise RecordingError(f'{self.path}: the time may be {listed(every)}; name the right '
                                 'one in table.time of arm.yaml')
        return []

    def listing(self) -> str:
        """Name the columns there."""
        return summary(self.names) or 'none'

    def missing(self, quantity: str) -> RecordingError:
        """Return the error that a quantity is not there."""
        stem, ending = {'position': ('q', 'position'), 'signal': ('tau', 'effort')}[quantity]
        text = (f'{self.path} has no columns of {quantity} for {self._arm.name} (such as '
                f'{stem}_0 or {self._arm.joint_names[0]}.{ending}); it has {self.listing()}')
        labels = [[column.label for column in family if not column.label.isdigit()
                   and not OTHERS.intersection(tokens(column.label))]
                  for family in _families(self.names, with_label)
                  if self._order(family[0], quantity, False) is not None]
        most = max(labels, key=len, default=[])
        if most:
            return RecordingError(
                f'{text}; these are of {listed(most, 12)}, and the '
                f'joints of {self._arm.name} are {listed(self._arm.joint_names, 12)}: set joints '
                'or aliases in arm.yaml')
        file = ', or their file in table.signal_file' if quantity == 'signal' else ''
        return RecordingError(f'{text}; name them under table in arm.yaml{file}')

    def _order(self, column: Column, quantity: str, bare: bool) -> tuple[int, int] | None:
        """How likely columns hold a quantity, least first; None if they do not."""
        if column.rank > 1:
            return None
        rank = -1 if DOCUMENTED.fullmatch(column.pattern) else column.rank
        if not column.quantity:
            return (_BARE, rank) if bare and not column.rank else None
        if quantity != 'signal':
            return (0, rank) if column.quantity == quantity else None
        if column.quantity not in SIGNALS:
            return None
        kinds = (self._arm.drive.signal, 'signal', *SIGNALS)
        return kinds.index(column.quantity), rank

    def _complete(self) -> Iterator[tuple[int, Family]]:
        """Families that cover the joints, in their order: by names, numbers, likely names."""
        sets = (self._arm.joint_names, *self._arm.aliases)
        for joints in sets:
            for by in self._by_label(joints):
                if set(joints) <= set(by):
                    yield 0, [by[joint] for joint in joints]
        for family in _families(self.names, with_number):
            ordered = self._in_order(family)
            if ordered and not any(with_joints(ordered[0].name, joints) for joints in sets):
                yield 1, ordered
        for family in _families(self.names, with_label):
            ordered = self._same_but_affixes(family)
            if ordered:
                yield 2, ordered
        if self._arm.n == 1:
            yield from ((3, [column]) for column in map(plain, self.names))

    def _by_label(self, joints: Sequence[str]) -> list[dict[str, Column]]:
        return [{column.label: column for column in family}
                for family in _families(self.names, lambda name: with_joints(name, joints))]

    def _in_order(self, family: Family) -> Family | None:
        """Put numbered columns in the order of the joints, by the numbers of these if any."""
        numbers = sorted(int(column.label) for column in family)
        first = numbers[0]
        if first > 1 or numbers != list(range(first, first + self._arm.n)):
            return None
        by = {int(column.label) - first: column for column in family}
        return [by[place] for place in _numbers(self._arm.joint_names)]

    def _same_but_affixes(self, family: Family) -> Family | None:
        """Match names that differ from those of the joints by what all of them share."""
        by = {column.label: column for column in family}
        likely = likely_names(self._arm, by)
        return [by[name] for name in likely[0]] if len(likely) == 1 else None

    def _refuse_partial(self, quantity: str, bare: bool) -> None:
        """Raise the error of columns that some joints lack."""
        for joints in (self._arm.joint_names, *self._arm.aliases):
            for by in self._by_label(joints):
                column = next(iter(by.values()))
                if self._order(column, quantity, bare) is not None:
                    lacking = [joint for joint in joints if joint not in by]
                    raise RecordingError(
                        f'{self.path} has no {quantity} of {listed(lacking)}: the column '
                        f'{column.pattern.replace("*", lacking[0])} is missing; it has '
                        f'{self.listing()}')
        numbered = [(order, family) for family in _families(self.names, with_number)
                    if (order := self._order(family[0], quantity, False)) is not None
                    and (DOCUMENTED.fullmatch(family[0].pattern)
                         or (quantity != 'velocity' and len(family) >= self._arm.n - 1))]
        if numbered:
            self._refuse_numbers(min(numbered, key=lambda item: (item[0], -len(item[1])))[1])

    def _refuse_numbers(self, family: Family) -> None:
        """Raise the error of numbered columns that are not one for each joint."""
        found = sorted((int(column.label), column.name) for column in family)
        for (before, other), (number, name) in pairwise(found):
            if number == before:
                twice = name if name == other else f'{other} and {name}'
                raise RecordingError(
                    f'{self.path} has two columns of one number, {twice}; give each column a name '
                    'of its own')
        first = min(found[0][0], 1)
        pattern = family[0].pattern
        if len(found) == self._arm.n or found[-1][0] - first == self._arm.n - 1:
            for expected, (number, name) in enumerate(found, start=first):
                if number != expected:
                    raise RecordingError(
                        f'{self.path} has a column {name} where '
                        f'{pattern.replace("*", str(expected))} should be: the numbers must go '
                        f'from 0 or 1 without a gap; it has {self.listing()}; {_REMEDY}')
        raise RecordingError(
            f'{self.path} has {len(found)} columns {found[0][1]} ... {found[-1][1]}, but '
            f'{self._arm.name} has {self._arm.n} joints; {_REMEDY}')


def role(path: Path) -> str:
    """Quantity that the name of a file states, such as ``positions.csv``; empty if none."""
    found = [WORDS[word] for word in tokens(path.stem) if word in WORDS and WORDS[word] != 'time']
    return ('signal' if found[-1] in SIGNALS else found[-1]) if found else ''


def joints_in(names: Sequence[str]) -> tuple[str, ...]:
    """Name the joints of a table of which no arm is known: by their names, else their numbers."""
    for parse in (with_label, with_number):
        families = [family for family in _families(names, parse) if family[0].rank < 2]
        places = [family for family in families if family[0].quantity == 'position']
        forces = [family for family in families if family[0].quantity in SIGNALS]
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
