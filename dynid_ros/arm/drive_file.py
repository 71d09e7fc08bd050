# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Copy an arm.yaml with other drive gains, the rest of the text unchanged."""

from __future__ import annotations

from os.path import relpath
from pathlib import Path

import numpy as np
import yaml

from dynid_ros.arm.drive import COMMAND
from dynid_ros.arm.load import arm_file, is_robot_file, load_arm
from dynid_ros.errors import ArmError, ResultError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import check_output, read_whole, write_whole

#: Key that changes the gain of each kind of signal.
_KEYS = {'current': 'gain', 'voltage': 'torque_constant', 'effort': 'gear_ratio', COMMAND: 'kp'}
#: Relative error of a gain due to its written digits.
_DIGITS, _ROUNDED = 8, 1e-7


def check_copy(arm: str, target: Path) -> None:
    """
    Refuse a copy that cannot be made, before the work starts.

    Raises
    ------
    ArmError
        The arm has no arm.yaml, or holds joints of a table.
    ResultError
        The target exists already, or is no arm.yaml.

    """
    if is_robot_file(arm_file(arm)):
        raise ArmError(f'{arm} is no arm.yaml and cannot hold gains; make one with '
                       '"dynid init"')
    if target.suffix.lower() not in ('.yaml', '.yml'):
        raise ResultError(f'{target} is no name for an arm.yaml; it must end in .yaml')
    check_output(target)


def write_copy(arm: str, gain: Array, target: Path) -> None:
    """
    Write a copy of an arm.yaml with other drive gains.

    Comments stay, and paths of the description are adapted to the new place.

    Parameters
    ----------
    arm : str
        Name of a shipped arm, or path of an arm.yaml or its folder.
    gain : (n,) ndarray
        Nm (or N) per unit of the drive signal.
    target : Path
        The copy.

    Raises
    ------
    ArmError, ResultError
        As for `check_copy`, or the text is of a form in which gains cannot be replaced.

    """
    check_copy(arm, target)
    source = arm_file(arm)
    text = read_whole(source).decode('utf-8-sig')
    text = _with_path(_with_gain(text, load_arm(source).drive.gain, gain), source, target)
    write_whole(target, text.encode())
    try:
        right = np.allclose(load_arm(target).drive.gain, gain, rtol=_ROUNDED, atol=0)
    except ArmError:
        right = False
    if not right:
        target.unlink()
        raise ResultError(f'the gains of {source} could not be replaced; write them yourself: '
                          f'{_list(gain)}')


def _with_gain(text: str, stated: Array, gain: Array) -> str:
    drive = _child(yaml.compose(text, yaml.SafeLoader), 'drive')
    if drive is None:
        return f'{text.rstrip()}\ndrive: {{signal: effort, gear_ratio: {_list(gain)}}}\n'
    signal = _child(drive, 'signal')
    key = _KEYS['effort' if signal is None else signal.value]
    old = _child(drive, key)
    if old is not None:
        # A single kp stands for all joints.
        items = old.value if isinstance(old, yaml.SequenceNode) else [old] * len(gain)
        before = np.array([float(item.value) for item in items])
        return _replaced(text, old, _list(before * gain / stated))
    first = drive.value[0][0].start_mark
    between = ', ' if drive.flow_style else '\n' + ' ' * first.column
    entry = f'{key}: {_list(gain / stated)}{between}'
    return text[:first.index] + entry + text[first.index:]


def _with_path(text: str, source: Path, target: Path) -> str:
    """Make the path of the description valid from the folder of the copy."""
    description = _child(yaml.compose(text, yaml.SafeLoader), 'description')
    path = None if description is None else _child(description, 'urdf')
    if path is None or source.parent.resolve() == target.parent.resolve():
        return text
    moved = relpath((source.parent / path.value).resolve(), target.parent.resolve())
    return _replaced(text, path, "'" + moved.replace("'", "''") + "'")


def _child(node: yaml.Node, key: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for name, value in node.value if name.value == key), None)


def _replaced(text: str, node: yaml.Node, value: str) -> str:
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        # A list in lines of its own is moved behind its key.
        before = text[:node.start_mark.index].rstrip()
        return f'{before} {value}' + text[node.value[-1].end_mark.index:]
    return text[:node.start_mark.index] + value + text[node.end_mark.index:]


def _list(values: Array) -> str:
    return '[' + ', '.join(f'{value:.{_DIGITS}g}' for value in values.tolist()) + ']'
