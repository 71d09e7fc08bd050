# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Names of columns as people and tools write them: quantity, joint and unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
import math
import re

#: Each word of names of columns, and what it means. Drive signals have three kinds, and words that
#: any of them may have.
MEANING = {
    word: meaning for meaning, words in {
        'position': 'q qpos pos position positions jpos ang angle angles th theta winkel '
                    'istposition istwinkel achswinkel gelenkwinkel',
        'velocity': 'qd dq qdot qp qvel vel velocity velocities jvel speed speeds v thd dtheta '
                    'thetadot angvel omega geschwindigkeit istgeschwindigkeit',
        'effort': 'tau torque torques torq tor tq trq jtor jtau jtrq jtorque qfrc moment moments '
                  'drehmoment istmoment motormoment achsmoment gelenkmoment',
        'current': 'current currents cur curr i iq amps strom iststrom motorstrom',
        'voltage': 'voltage voltages volt volts',
        'signal': 'effort efforts eff jeff u',
        'time': 't ts time tout elapsed duration stamp timestamp timestamps date datetime seconds '
                'secs sec nsecs nanosec nanoseconds milliseconds microseconds zeit zeitstempel '
                'datum uhrzeit',
        # An effort beside a joint; elsewhere of the tool or of a sensor.
        'force': 'force forces',
        # What a joint follows or precedes: words that say nothing, and words of its drive.
        'joint': 'joint joints jnt j axis axes achse gelenk',
        'motor': 'actuator actuators motor motors',
        # Nothing: a feedback may be measured, or the part of a command; others say which.
        'filler': 'a link field data robot arm value values msg state states header fb feedback '
                  'angular achsen',
        'measured': 'actual act measured measurement meas msr real present ist',
        # Commands, which may be the signal of a drive.
        'command': 'target targets desired des d soll cmd command commands commanded ref '
                   'reference references goal goals set setpoint setpoints sp action actions ctrl',
        # No measured quantity of a joint: errors, limits, the tool.
        'other': 'error err ext external limit lim max min std tcp pose ee cartesian cart tool '
                 'wrench temp temperature temperatures gravity model mode output control hat '
                 'predicted pred gripper finger cycle execution period delay dt qdd ddq qacc acc '
                 'acceleration accelerations ddot bias passive constraint applied',
    }.items() for word in words.split()}
SIGNAL_WORDS = ('effort', 'current', 'voltage', 'signal')
QUANTITIES = ('position', 'velocity', *SIGNAL_WORDS, 'time')
#: Meanings of words that tell nothing more than the quantity of a joint.
UNDERSTOOD = (*QUANTITIES, 'joint', 'filler', 'measured')
#: Names that the documents give to columns, and those of them that hold the time; others are
#: guesses.
_DOCUMENTED = re.compile(
    r'(q|qd|dq|tau|u|q_des|action)([_.]?\*|\[\*\])'
    r'|\*\.(position|velocity|effort|torque|current|voltage|command)')
TIME_NAMES = ('t', 'time', 'stamp')
#: Factors to rad or m, rad/s or m/s, Nm (A, V) and s; NaN for units without a size of their own.
_LENGTHS = {
    'rad': 1.0, 'radians': 1.0, 'mrad': 1e-3, 'm': 1.0, 'cm': 1e-2, 'mm': 1e-3,
    **dict.fromkeys(('deg', 'degree', 'degrees', 'grad', '°'), math.pi / 180),
    **dict.fromkeys(('rev', 'revs', 'turn', 'turns'), 2 * math.pi),
    **dict.fromkeys(('count', 'counts', 'tick', 'ticks', 'inc', 'incs', 'increments', 'steps',
                     'pulses', '%', 'percent'), math.nan)}
COLUMN_UNITS = {
    'position': _LENGTHS,
    'velocity': {**_LENGTHS, **dict.fromkeys(('rpm', 'rev/min', 'u/min'), math.pi / 30)},
    'effort': {'nm': 1.0, 'n': 1.0, 'mnm': 1e-3, 'nmm': 1e-3, 'ncm': 1e-2, 'knm': 1e3, 'kn': 1e3,
               'kgcm': 0.0980665, 'kgfcm': 0.0980665},
    'current': {'a': 1.0, 'ma': 1e-3},
    'voltage': {'v': 1.0, 'mv': 1e-3},
    'time': {'s': 1.0, 'sec': 1.0, 'secs': 1.0, 'seconds': 1.0, 'ms': 1e-3, 'msec': 1e-3,
             'milliseconds': 1e-3, 'us': 1e-6, 'µs': 1e-6, 'usec': 1e-6, 'microseconds': 1e-6,
             'ns': 1e-9, 'nsec': 1e-9, 'nsecs': 1e-9, 'nanosec': 1e-9, 'nanoseconds': 1e-9,
             'min': 60.0},
}
#: Units that may follow a name without brackets; others are letters of names.
BARE_UNITS = ('deg', 'degrees', 'rad', 'mrad', 'radians', 'rev', 'turns', 'counts', 'ticks', 'rpm',
              'mm', 'nm', 'mnm', 'knm', 'ma', 'ms', 'us', 'ns')
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
        One of `QUANTITIES`; empty where no word names one.
    unit : str
        Unit in lower case, without ``/s`` and dots; empty if none is stated.
    rank : int
        0 if all words are known, 1 if some are not, 2 for commands and other quantities.
    commands : bool
        Whether it holds commands of positions, and nothing else.
    measured : bool
        Whether a word says that the values were measured.

    """

    name: str
    pattern: str
    label: str
    quantity: str
    unit: str
    rank: int
    commands: bool = False
    measured: bool = False

    @property
    def documented(self) -> bool:
        """Whether the documents name it, so that it is no guess."""
        return _DOCUMENTED.fullmatch(self.pattern) is not None


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
        not word or (word.isalpha() and (upper or MEANING.get(word.lower()) in UNDERSTOOD))
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
        if all(MEANING.get(word) in UNDERSTOOD or word in BARE_UNITS for word in tokens(part)):
            beside = [parts[i] for i in (k + 1, k - 1) if 0 <= i < len(parts)]
            return _column(name, *beside[0]) if beside else None
        # A joint and its quantity in one word, such as ``elbow_pos`` and ``pos_elbow``.
        words = [found.span() for found in re.finditer(r'[^\W_]+', part)]
        known = [MEANING.get(word) in QUANTITIES or word in BARE_UNITS
                 for word in (part[a:b].lower() for a, b in words)]
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
    return [found[1] if (found := _COMPOUND.fullmatch(word))
            and MEANING.get(found[1]) in QUANTITIES else word for word in words]


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


def unit_in(text: str) -> str:
    """Return a unit as `COLUMN_UNITS` has it, without ``/s``; empty if it is none."""
    unit = re.sub(r'[\s.·*⋅-]|/s(ec)?$|s\^?-1$', '', text.strip(' []()').lower())
    return unit if any(unit in known for known in COLUMN_UNITS.values()) else ''


def _column(name: str, start: int, end: int, *, named: bool = False) -> Column:
    text, unit = _without_unit(name)
    pattern = text[:start] + '*' * (end > start) + text[end:]
    words = [word for word in tokens(pattern) if not word.isdigit()]
    quantity = _quantity(words, named=named)
    # As a word, min is a minimum.
    units = {word for word in words if MEANING.get(word) != 'other' and word in (
        COLUMN_UNITS['time'] if quantity == 'time' else BARE_UNITS)}
    unit = unit or next((word for word in words if word in units), '')
    meanings = {_meaning(word, named or _has_joint(words)) for word in words if word not in units}
    rank = 2 if meanings & {'other', 'command'} else int(not meanings <= {*UNDERSTOOD})
    return Column(
        name, pattern, text[start:end], quantity, unit, rank,
        'command' in meanings and 'other' not in meanings and quantity in ('position', ''),
        'measured' in meanings)


def _meaning(word: str, beside: bool) -> str:
    found = MEANING.get(word, '')
    return 'effort' if beside and found == 'force' else found


def _has_joint(words: Sequence[str]) -> bool:
    return any(MEANING.get(word) in ('joint', 'motor') for word in words)


def _quantity(words: Sequence[str], *, named: bool = False) -> str:
    """Name the quantity of the last word that has one; "current" before it is an adjective."""
    beside = named or _has_joint(words)
    found = [(word, meaning) for word in words
             if (meaning := _meaning(word, beside)) in QUANTITIES]
    if not found:
        return ''
    if 'dot' in words and found[-1][1] == 'position':
        return 'velocity'
    others = [quantity for word, quantity in found if word != 'current']
    return (others or ['current'])[-1]


def _without_unit(name: str) -> tuple[str, str]:
    """Split a name from the unit in brackets behind it."""
    found = _BRACKETS.search(name)
    unit = unit_in(found[1]) if found else ''
    return (name[:found.start()], unit) if found and unit else (name, '')
