# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Names of columns as people and tools write them: quantity, joint and unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
import math
import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that name a quantity. Drive signals have three kinds, and words that any of them may have.
WORDS = {
    word: quantity for quantity, words in {
        'position': 'q qpos pos position positions jpos ang angle angles th theta winkel '
                    'istposition istwinkel',
        'velocity': 'qd dq qdot qp qvel vel velocity velocities jvel speed speeds v thd dtheta '
                    'thetadot angvel omega geschwindigkeit istgeschwindigkeit',
        'effort': 'tau torque torques torq tor tq trq jtor jtau jtrq jtorque qfrc moment moments '
                  'drehmoment istmoment',
        'current': 'current currents cur curr i iq amps strom iststrom',
        'voltage': 'voltage voltages volt volts',
        'signal': 'effort efforts eff jeff u',
        'time': 't ts time tout elapsed duration stamp timestamp timestamps date datetime seconds '
                'secs sec nsecs nanosec nanoseconds milliseconds microseconds zeit zeitstempel',
    }.items() for word in words.split()}
#: Words of drive signals beside a joint; elsewhere they are of the tool or of a sensor.
BESIDE_JOINTS = {'force': 'effort', 'forces': 'effort'}
SIGNAL_WORDS = ('effort', 'current', 'voltage', 'signal')
#: Words that say nothing, or that a value was measured.
FILLERS = _words(
    'joint joints jnt j axis axes a link field data robot arm value values msg state states '
    'header actual act measured measurement meas msr real present fb feedback angular achse '
    'achsen gelenk ist')
#: Words that a joint follows or precedes.
_JOINTS = _words('joint joints jnt j axis axes actuator actuators motor motors achse gelenk')
#: Words of columns that are no measured quantity of a joint: commands, errors, limits, the tool.
OTHERS = _words(
    'error err ext external limit lim max min std tcp pose ee cartesian cart tool wrench temp '
    'temperature temperatures gravity model mode output control hat predicted pred gripper finger '
    'cycle execution period delay dt qdd ddq qacc acc acceleration accelerations ddot bias '
    'passive constraint applied')
#: Words of columns of commands, which may be the signal of a drive.
COMMAND_WORDS = _words(
    'target targets desired des d soll cmd command commands commanded ref reference references '
    'goal goals set setpoint setpoints sp action actions ctrl')
#: Factors to rad or m, rad/s or m/s, Nm (A, V) and s.
_LENGTHS = {'rad': 1.0, 'radians': 1.0, 'mrad': 1e-3, 'm': 1.0, 'mm': 1e-3,
            **dict.fromkeys(('deg', 'degree', 'degrees', 'grad', '°'), math.pi / 180)}
COLUMN_UNITS = {
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
#: Letters of a joint's name from which on a word may be written to it without a mark between.
GLUED = 3
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
        for found in re.finditer(re.escape(joint), text, re.IGNORECASE):
            if _stands_alone(text, *found.span()):
                return replace(_column(name, *found.span(), named=True), label=joint)
    return None


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a joint's name has marks, other case or words of quantities beside it."""
    before, after = re.split('[\\W_]', text[:start])[-1], re.split('[\\W_]', text[end:])[0]
    if not before and not after:
        return True
    if end - start < GLUED:
        return False
    return all(
        not word or (word.isalpha() and (upper or {word.lower()} & (WORDS.keys() | FILLERS)))
        for word, upper in (
            (before, before[-1:].islower() and text[start].isupper()),
            (after, text[end - 1].islower() and after[:1].isupper())))


def with_number(name: str) -> Column | None:
    """Read a column that ends its name with the number of a joint, or holds one."""
    numbers = list(re.finditer(r'\d+', _without_unit(name)[0]))
    return _column(name, *numbers[-1].span()) if numbers else None


def with_label(name: str) -> Column | None:
    """Read a column of an unknown joint, whose name is the rest beside the quantity."""
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
    parts = [part.lower() for word in _TOKEN.findall(text)
             # mNm is no m of Nm.
             for part in ([word] if word.lower() in BARE_UNITS else _CAMEL.split(word))]
    # As in i_q, the current that makes torque.
    words = re.sub(r'\bi q\b', 'iq', ' '.join(parts)).split()
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


def _column(name: str, start: int, end: int, *, named: bool = False) -> Column:
    text, unit = _without_unit(name)
    pattern = text[:start] + '*' * (end > start) + text[end:]
    words = [word for word in tokens(pattern) if not word.isdigit()]
    meaning = (WORDS if not named and _JOINTS.isdisjoint(words) else
               {**WORDS, **BESIDE_JOINTS})
    quantity = _quantity(words, meaning)
    units = COLUMN_UNITS['time'] if quantity == 'time' else BARE_UNITS
    unit = unit or next((word for word in words if word in units), '')
    further = [word for word in words if word not in units]
    known = all(word in meaning or word in FILLERS for word in further)
    others, commanded = OTHERS.intersection(further), COMMAND_WORDS.intersection(further)
    rank = 2 if others or commanded else int(not known)
    return Column(
        name, pattern, text[start:end], quantity, unit, rank,
        bool(commanded and not others and quantity in ('position', '')))


def _quantity(words: Sequence[str], meaning: Mapping[str, str] = WORDS) -> str:
    """Name the quantity of the last word that has one; "current" before it is an adjective."""
    found = [(word, meaning[word]) for word in words if word in meaning]
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
    if found and any(unit in known for known in COLUMN_UNITS.values()):
        return name[:found.start()], unit
    return name, ''
