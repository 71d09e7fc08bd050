"""Names of columns as people and tools write them: quantity, joint and unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
import math
import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that name a quantity. Drive signals have three kinds, and words that any of them may have.
WORDS = {
    word: quantity for quantity, words in {
        'position': 'q pos position positions jpos angle angles theta winkel',
        'velocity': 'qd dq qdot vel velocity velocities speed speeds v dtheta thetadot omega '
                    'geschwindigkeit',
        'effort': 'tau torque torques trq moment moments drehmoment',
        'current': 'current currents cur curr i amps strom',
        'voltage': 'voltage voltages volt volts',
        'signal': 'effort efforts u',
        'time': 't time tout elapsed duration stamp timestamp timestamps date datetime seconds '
                'secs sec nsecs nanosec nanoseconds milliseconds microseconds zeit',
    }.items() for word in words.split()}
SIGNALS = ('effort', 'current', 'voltage', 'signal')
#: Words that say nothing, or that a value was measured.
FILLERS = _words(
    'joint joints jnt j axis axes a link field data robot arm value values msg state states '
    'header actual act measured measurement meas real fb feedback achse achsen gelenk ist')
#: Words of columns that are no measured quantity of a joint: commands, errors, limits, the tool.
OTHERS = _words(
    'error err ext external limit lim max min std tcp pose ee cartesian cart tool wrench temp '
    'temperature temperatures gravity model mode output control estimated est hat predicted pred '
    'gripper finger cycle execution period delay dt qdd ddq acc acceleration accelerations ddot')
#: Words of columns of commands, which may be the signal of a drive.
COMMANDS = _words(
    'target targets desired des d soll cmd command commands commanded ref reference references '
    'goal goals set setpoint setpoints sp action actions ctrl')
#: Factors to rad or m, rad/s or m/s, Nm (A, V) and s.
_LENGTHS = {'rad': 1.0, 'radians': 1.0, 'mrad': 1e-3, 'm': 1.0, 'mm': 1e-3,
            **dict.fromkeys(('deg', 'degree', 'degrees', 'grad', '°'), math.pi / 180)}
UNITS = {
    'position': _LENGTHS, 'velocity': {**_LENGTHS, 'rpm': math.pi / 30},
    'effort': {'nm': 1.0, 'n': 1.0, 'mnm': 1e-3, 'nmm': 1e-3, 'ncm': 1e-2},
    'current': {'a': 1.0, 'ma': 1e-3},
    'voltage': {'v': 1.0, 'mv': 1e-3},
    'time': {'s': 1.0, 'sec': 1.0, 'secs': 1.0, 'seconds': 1.0, 'ms': 1e-3, 'msec': 1e-3,
             'milliseconds': 1e-3, 'us': 1e-6, 'µs': 1e-6, 'usec': 1e-6, 'microseconds': 1e-6,
             'ns': 1e-9, 'nsec': 1e-9, 'nsecs': 1e-9, 'nanosec': 1e-9, 'nanoseconds': 1e-9},
}
#: Units that may follow a name without brackets; others are letters of names.
BARE_UNITS = _words('deg degrees rad radians mm nm mnm ma ms us ns')
_BRACKETS = re.compile(r'\s*[\[({]\s*([^\d\[\](){}]+?)\s*[\])}]\s*$')
_COMPOUND = re.compile(r'(?:joint|axis)(\w+)')
_TOKEN = re.compile(r'[^\W\d_]+|\d+')
# As in actualI1; dQ is one word.
_CAMEL = re.compile(r'(?<=[a-z])(?<![^a-zA-Z]d)(?<!^d)(?=[A-Z])')


@dataclass(frozen=True)
class Column:
    """
    What the name of a column says.

    Attributes
    ----------
    name : str
        The name.
    pattern : str
        The name with ``*`` for its joint: equal for the joints of one quantity.
    label : str
        Name or number of the joint; empty for a column of no joint.
    quantity : str
        One of `WORDS`; empty where no word names one.
    unit : str
        Unit in lower case, without ``/s`` and dots; empty if none is stated.
    rank : int
        0 if all words are known, 1 if some are not, 2 for commands and other quantities.
    commands : bool
        Whether it holds commands of positions, and nothing else.

    """

    name: str
    pattern: str
    label: str
    quantity: str
    unit: str
    rank: int
    commands: bool = False


def with_joints(name: str, joints: Sequence[str]) -> Column | None:
    """Read a column that holds the name of a known joint, the longest one."""
    text = _without_unit(name)[0]
    for joint in sorted(joints, key=len, reverse=True):
        found = re.search(rf'(?<![^\W_]){re.escape(joint)}(?![^\W_])', text, re.IGNORECASE)
        if found:
            return replace(_column(name, found.start(), found.end()), label=joint)
    return None


def with_number(name: str) -> Column | None:
    """Read a column that ends its name with the number of a joint, or holds one."""
    numbers = list(re.finditer(r'\d+', _without_unit(name)[0]))
    return _column(name, *numbers[-1].span()) if numbers else None


def with_label(name: str) -> Column | None:
    """Read a column of a joint that is not known: what stands beside the quantity."""
    text = _without_unit(name)[0]
    parts = [found.span() for found in re.finditer(r'[^/.]+', text)]
    for k, (start, end) in reversed([*enumerate(parts)]):
        part = text[start:end]
        if not _quantity(tokens(part)):
            continue
        if all(word in WORDS or word in FILLERS or word in BARE_UNITS for word in tokens(part)):
            beside = [parts[i] for i in (k + 1, k - 1) if 0 <= i < len(parts)]
            return _column(name, *beside[0]) if beside else None
        # A joint and its quantity in one word, such as ``elbow_pos`` and ``pos_elbow``.
        words = [found.span() for found in re.finditer(r'[^\W_]+', part)]
        known = [part[a:b].lower() in WORDS or part[a:b].lower() in BARE_UNITS for a, b in words]
        inner = (words[:known.index(True)] if known[-1] else
                 words[known.index(False):] if known[0] else [])
        return _column(name, start + inner[0][0], start + inner[-1][1]) if inner else None
    return None


def plain(name: str) -> Column:
    """Read a column of no joint."""
    return _column(name, 0, 0)


def tokens(text: str) -> list[str]:
    """Split a name into words and numbers, in lower case."""
    words = [word.lower() for part in _CAMEL.split(text) for word in _TOKEN.findall(part)]
    return [found[1] if (found := _COMPOUND.fullmatch(word)) and found[1] in WORDS else word
            for word in words]


def summary(names: Sequence[str]) -> str:
    """Name columns, those that are counted by the first and last of them."""
    def counted(item: tuple[int, str]) -> tuple[str, int]:
        place, name = item
        found = re.search(r'\d+(?=\D*$)', name)
        return (name, 0) if found is None else (
            f'{name[:found.start()]}*{name[found.end():]}', int(found[0]) - place)

    shown = []
    for _, group in groupby(enumerate(names), key=counted):
        same = [name for _, name in group]
        shown.append(same[0] if len(same) == 1 else f'{same[0]} ... {same[-1]}')
    return ', '.join(shown)


def _column(name: str, start: int, end: int) -> Column:
    text, unit = _without_unit(name)
    pattern = text[:start] + '*' * (end > start) + text[end:]
    words = [word for word in tokens(pattern) if not word.isdigit()]
    quantity = _quantity(words)
    units = UNITS['time'] if quantity == 'time' else BARE_UNITS
    unit = unit or next((word for word in words if word in units), '')
    said = [word for word in words if word not in units]
    known = all(word in WORDS or word in FILLERS for word in said)
    others, told = OTHERS.intersection(said), COMMANDS.intersection(said)
    return Column(
        name, pattern, text[start:end], quantity, unit, 2 if others or told else int(not known),
        bool(told and not others and quantity in ('position', '')))


def _quantity(words: Sequence[str]) -> str:
    """Name the quantity of the last word that has one; "current" before it is an adjective."""
    found = [(word, WORDS[word]) for word in words if word in WORDS]
    if not found:
        return ''
    if 'dot' in words and found[-1][1] == 'position':
        return 'velocity'
    others = [quantity for word, quantity in found if word != 'current']
    return (others or ['current'])[-1]


def _without_unit(name: str) -> tuple[str, str]:
    """Split a name from the unit in brackets behind it."""
    found = _BRACKETS.search(name)
    unit = re.sub(r'[\s.·*⋅-]|/s(ec)?$|s\^?-1$', '', found[1].lower()) if found else ''
    if found and any(unit in known for known in UNITS.values()):
        return name[:found.start()], unit
    return name, ''
