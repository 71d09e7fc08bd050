# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The files of a recording in tables: which columns of which file hold what."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
import re

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.tables.array_table import open_arrays
from dynid_ros.data.tables.column_choice import Choice, Family, role
from dynid_ros.data.tables.column_words import (
    MEANING,
    plain,
    summary,
    TIME_NAMES,
    tokens,
    UNDERSTOOD,
)
from dynid_ros.data.tables.lerobot_table import data_set_of, open_data_set
from dynid_ros.data.tables.text_table import open_text, Table
from dynid_ros.errors import RecordingError

ARRAY_SUFFIXES = ('.npz', '.npy', '.mat')
TEXT_SUFFIXES = ('.csv', '.tsv', '.txt', '.dat', '.log')
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *ARRAY_SUFFIXES)
TABLE_QUANTITIES = ('position', 'velocity', 'signal')
#: Files that an error names.
MOST_SHOWN = 5

#: A file with the columns of it by quantity, ``time`` included.
Part = tuple[Table, dict[str, Family]]


def open_table(path: Path, header: Sequence[str] = (), joints: int = 0) -> Table:
    """
    Find the columns of a table.

    Parameters
    ----------
    path : Path
        File.
    header : sequence of str
        Names of columns that have none.
    joints : int
        Number of joints; 0 if it is not known.

    Raises
    ------
    RecordingError
        The file cannot be read.

    """
    if data_set_of(path) is not None:
        return open_data_set(path)
    arrays = path.suffix.lower() in ARRAY_SUFFIXES
    return open_arrays(path, header) if arrays else open_text(path, header, joints)


def parts_of(path: Path, arm: ArmModel) -> list[Part]:
    """
    Choose the columns of a recording, of which each quantity may have a file of its own.

    Raises
    ------
    RecordingError
        There are no positions or drive signals, or several are as likely.

    """
    beside = arm.table.signal_file
    main = _part(path, arm, TABLE_QUANTITIES[:3 if beside is None else 2])
    if beside is None and 'signal' in main[1]:
        return [main]
    if beside is None and data_set_of(path) is not None:
        raise Choice(path, main[0].names, arm).missing('signal')
    timed = bool(main[1]['time']) or arm.table.rate_hz is not None
    # Who states the files needs no search among others, which may be many.
    others = {} if beside is not None and timed else _others(path, arm, main)
    parts = [main, _signals(path, arm, main, others) if beside is None else
             _part(_signal_file(path, beside), arm, ('signal',))]
    # Who names the positions has seen the velocities.
    for name in ('time',) if arm.table.position else ('velocity', 'time'):
        if not any(columns.get(name) for _, columns in parts):
            parts += [_only(others[other], name) for other in _alone(path, others, name)]
    return parts


def _part(path: Path, arm: ArmModel, wanted: Sequence[str]) -> Part:
    """Choose the columns of one file, of which the first quantity must be there."""
    settings = arm.table
    first = 'position' in wanted
    table = open_table(path, settings.header, arm.n) if first else _opened(path, arm)
    choice = Choice(path, table.names, arm)
    timed = settings.time is not None and first
    found = {'time': _named(table, (settings.time,)) if timed else choice.time(table.alike)}
    for name in wanted:
        # Joint names alone are positions, if the file is not named otherwise.
        bare = len(wanted) == 1 or (role(path) or 'position') == name
        stated = getattr(settings, name)
        family = _named(table, stated) or choice.of(name, bare=bare)
        if family is None and name == wanted[0]:
            if name == 'position' and choice.of('signal', bare=role(path) == 'signal'):
                raise RecordingError(f'{path} holds drive signals alone; give the file of the '
                                     'positions, beside which this one is found')
            raise choice.missing(name)
        # Who names the positions has seen the velocities.
        unseen = name != 'velocity' or not settings.position or stated
        if family and (unseen or family[0].documented):
            found[name] = family
    return table, found


def _signal_file(path: Path, pattern: str) -> Path:
    """Find the file that `Table.signal_file` names, a part of the first one's name for ``*``."""
    if '*' not in pattern:
        return path.parent / pattern
    before, _, after = pattern.partition('*')
    fits = {}
    for other in path.parent.iterdir():
        name = other.name
        part = name[len(before):len(name) - len(after)]
        # run1 is no part of run10.
        if (other != path and part and name == before + part + after
                and re.search(rf'(?<![^\W_]){re.escape(part)}(?![^\W_])', path.stem)):
            fits[part] = other
    if not fits:
        raise RecordingError(
            f'beside {path} lies no {pattern}, the table.signal_file of arm.yaml, with a part of '
            f'"{path.stem}" for *; name the files alike, or state the complete name')
    return fits[max(fits, key=len)]


def _named(table: Table, names: Sequence[str | None]) -> Family:
    """Return the columns that arm.yaml names."""
    stated = [name for name in names if name is not None]
    table.require(stated)
    return [plain(name) for name in stated]


def _opened(path: Path, arm: ArmModel) -> Table:
    """Open a file beside the first, of which its name says more than a header for the first."""
    try:
        return open_table(path, (), arm.n)
    except RecordingError:
        if not arm.table.header:
            raise
    return open_table(path, arm.table.header, arm.n)


def _others(path: Path, arm: ArmModel, main: Part) -> dict[Path, Part]:
    """Choose the columns of the files beside one that does not hold all quantities."""
    own = main[0].names
    # The same columns, of which some are neither time nor positions, are another recording.
    several = len(own) > sum(map(len, main[1].values()))
    parts = {}
    for other in sorted(path.parent.iterdir()):
        if other != path and other.suffix.lower() in TABLE_SUFFIXES:
            try:
                table = _opened(other, arm)
                if several and table.names == own:
                    continue
                choice = Choice(other, table.names, arm)
                parts[other] = table, {'time': choice.time(table.alike)} | {
                    name: family for name in TABLE_QUANTITIES
                    if (family := choice.of(name, bare=(role(other) or 'position') == name))}
            # Of another recording, or of none.
            except RecordingError:
                continue
    return parts


def _alone(path: Path, others: dict[Path, Part], quantity: str) -> list[Path]:
    """Find the file beside one with positions that holds another quantity of the same run."""
    apart = {'position', 'signal', 'velocity'} - {quantity}
    if quantity == 'signal':
        apart.remove('velocity')
    found = [other for other, (_, columns) in others.items()
             if columns.get(quantity) and not apart & set(columns)]
    # One that differs in the words for its quantity alone goes with the positions.
    same = [other for other in found if _stem(other) == _stem(path)]
    lone = not any('position' in columns and 'signal' not in columns
                   for _, columns in others.values())
    return same if len(same) == 1 else found if len(found) == 1 and lone else []


def _only(part: Part, quantity: str) -> Part:
    """Take time and one quantity of a file."""
    table, columns = part
    return table, {name: columns[name] for name in dict.fromkeys(('time', quantity))}


def _signals(path: Path, arm: ArmModel, main: Part, others: dict[Path, Part]) -> Part:
    """Take the drive signals from the file beside one that holds none."""
    for other in _alone(path, others, 'signal'):
        return _only(others[other], 'signal')
    found = [other for other, (_, columns) in others.items()
             if 'signal' in columns and 'position' not in columns]
    # Without words for their quantity, two files of joint names look alike.
    alike = found or [other for other, (_, columns) in others.items()
                      if 'position' in columns and 'signal' not in columns and not role(other)]
    if alike:
        # A name that ends alike is more likely of the same run.
        alike.sort(key=lambda other: tokens(other.stem)[-1:] != tokens(path.stem)[-1:])
        shown = ' or '.join(other.name for other in alike[:MOST_SHOWN])
        raise RecordingError(
            f'{path} holds no drive signals; if they are those in {shown}, write into arm.yaml: '
            f'table: {{signal_file: {_line(path, alike[0])}}}')
    raise Choice(path, main[0].names, arm).missing('signal')


def _line(path: Path, other: Path) -> str:
    """Write the name of a file of drive signals, with ``*`` for a part that both names share."""
    for part in sorted(re.findall(r'[^\W_]+', path.stem), key=len, reverse=True):
        pattern = re.sub(rf'(?<![^\W_]){re.escape(part)}(?![^\W_])', '*', other.stem, count=1)
        if '*' in pattern and pattern != '*':
            return f"'{pattern}{other.suffix}'"
    return other.name


def _stem(path: Path) -> list[str]:
    return [word for word in tokens(path.stem)
            if word != 'dot' and MEANING.get(word) not in UNDERSTOOD]


def guesses(parts: Sequence[Part], arm: ArmModel) -> list[str]:
    """Say which columns were taken, unless arm.yaml or the documents name all of them."""
    settings = arm.table
    named = {settings.time, *settings.position, *settings.velocity, *settings.signal, *TIME_NAMES}
    every = [column for _, columns in parts for family in columns.values() for column in family]
    known = {'', *arm.joint_names, *chain(*arm.aliases)}
    others = [column.label for column in parts[0][1]['position']
              if column.label not in known and not column.label.isdigit()]
    stated = len(parts) == 1 or settings.signal_file is not None
    if stated and not others and all(
            column.name in named or (column.documented and not column.unit)
            for column in every):
        return []
    found = [f'{name} from {summary([column.name for column in family])}'
             + f' of {table.path.name}' * (len(parts) > 1)
             for table, columns in parts for name, family in columns.items() if family]
    if others:
        found.append(f'joints {", ".join(others)} as {", ".join(arm.joint_names)}')
    if any(column.label.isdigit() for column in every):
        found.append(f'joints by number, {", ".join(arm.joint_names)}')
    return found
