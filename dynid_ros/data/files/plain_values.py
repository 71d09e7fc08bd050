# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Frozen dataclasses, arms among them, as plain values of YAML and back, without loss."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
import json
import math
from operator import attrgetter
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints, Union

import numpy as np

from dynid_ros.arm.description.tree import KinematicTree
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.settings import COUPLED_QUANTITIES, DRIVE_SIGNALS

_SCALARS = (bool, int, float, str)
#: Condition number of a transmission above which joint positions do not follow from motors.
LARGEST_CONDITION = 1e12


@lru_cache(maxsize=64)
def field_hints(kind: type) -> dict[str, Any]:
    """Type hint of each field of a dataclass, in the order of the fields."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def optional_fields(kind: type) -> set[str]:
    """Name the fields of a dataclass that have a default: files of earlier versions lack some."""
    return {field.name for field in dataclasses.fields(kind) if not (
        field.default is field.default_factory is dataclasses.MISSING)}


def to_plain(value: Any) -> Any:
    """
    Turn dataclasses, arrays, tuples, dicts and scalars into dicts, lists, text, numbers and None.

    A scalar NaN, such as a metric of a joint at rest, becomes None.
    """
    if dataclasses.is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name))
                for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    return str(value) if isinstance(value, PurePath) else value


def from_plain(data: Any, hint: Any, where: str) -> Any:
    """
    Restore the value that `to_plain` converted.

    Parameters
    ----------
    data : Any
        Dicts, lists, strings, numbers and None.
    hint : Any
        Its type: a dataclass, ``NDArray[...]``, ``tuple[X, ...]``, ``dict[str, X]``,
        ``X | None`` or a scalar type.
    where : str
        Name of the value, for the message.

    Raises
    ------
    ValueError
        The data do not fit the hint; the message names the value.

    """
    if data is None and type(None) in get_args(hint):
        return None
    hint = _without_none(hint)
    origin = get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return _made(hint, data, where)
    if origin is np.ndarray:
        return _array(data, get_args(get_args(hint)[1])[0], where)
    if origin is tuple:
        entries = _checked(data, list, where)
        return tuple(from_plain(entry, get_args(hint)[0], where) for entry in entries)
    if origin is dict:
        entries = _checked(data, dict, where)
        return {key: from_plain(entry, get_args(hint)[1], f'{where}.{key}')
                for key, entry in entries.items()}
    return _scalar(data, hint, where)


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (UnionType, Union):
        return next(inner for inner in get_args(hint) if inner is not NoneType)
    return hint


def _made(kind: Any, data: Any, where: str, **ready: Any) -> Any:
    """Make a dataclass from its fields, some of which are converted already."""
    entries = _checked(data, dict, where)
    hints = {name: hint for name, hint in field_hints(kind).items() if name not in ready}
    for name in sorted(hints.keys() - entries.keys() - optional_fields(kind)):
        raise ValueError(f'{where}.{name} is missing')
    for name in sorted(entries.keys() - hints.keys()):
        raise ValueError(f'{where}.{name} is not known')
    return kind(**ready, **{name: from_plain(entry, hints[name], f'{where}.{name}')
                            for name, entry in entries.items()})


def _array(data: Any, dtype: Any, where: str) -> Any:
    try:
        array = np.array(_checked(data, list, where))
    except ValueError as error:
        raise ValueError(f'{where} is not a regular array') from error
    # An empty list has no kind of its own.
    if array.size and not np.can_cast(array.dtype, dtype, casting='safe'):
        raise ValueError(f'{where} holds something other than {np.dtype(dtype).name} numbers')
    return array.astype(dtype)


def _scalar(data: Any, kind: Any, where: str) -> Any:
    if kind not in _SCALARS:
        raise TypeError(f'{where}: values of type {kind} cannot be stored')
    if kind is float and data is None:
        return math.nan
    if kind is float and type(data) is int:
        return float(data)
    return _checked(data, kind, where)


def _checked(data: Any, kind: type, where: str) -> Any:
    if type(data) is not kind:
        raise ValueError(f'{where} should be a {kind.__name__}, not {data!r:.40}')
    return data


def same_values(one: Any, other: Any) -> bool:
    """Whether two values that `to_plain` takes hold the same, NaN being like NaN."""
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and all(
            same_values(getattr(one, field.name), getattr(other, field.name))
            for field in dataclasses.fields(one))
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and bool(
            np.array_equal(one, other, equal_nan=one.dtype.kind == 'f'))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(
            same_values(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return isinstance(other, list | tuple) and len(one) == len(other) and all(
            map(same_values, one, other))
    return bool(one == other or (one != one and other != other))


def arm_to_plain(arm: ArmModel) -> dict[str, Any]:
    """Turn an arm into plain values of YAML; the fields of its tree stand among its own."""
    plain: dict[str, Any] = to_plain(arm)
    return {'name': plain.pop('name'), **plain.pop('tree'), **plain}


def arm_from_plain(data: Any) -> ArmModel:
    """
    Turn plain values back into an arm.

    Raises
    ------
    ValueError
        A field is missing, unknown or of the wrong shape; the message names it.

    """
    data = dict(_checked(data, dict, 'arm'))
    # Written when joints could lack friction terms.
    if data.get('friction_lacking') == []:
        del data['friction_lacking']
    tree = _made(KinematicTree, {
        name: data.pop(name) for name in field_hints(KinematicTree) if name in data}, 'arm')
    arm: ArmModel = _made(ArmModel, data, 'arm', tree=tree)
    # The kernels do not check the indices of the tree.
    _check_tree(tree)
    _check_shapes(arm)
    _check_choices(arm)
    return arm


def _check_tree(tree: KinematicTree) -> None:
    n, m = len(tree.joint_names), len(tree.link_names)
    if any(not 0 <= each.leader < n or not math.isfinite(each.multiplier + each.offset)
           for each in tree.followers):
        raise ValueError('arm.followers holds one that no arm can have')
    parent = tree.parent
    if parent.shape != (m,):
        raise ValueError(f'arm.parent has the shape {parent.shape} instead of {(m,)}')
    if not ((parent >= -1) & (parent < m)).all() or (
            np.append(np.argsort(tree.order), -1)[parent] >= np.argsort(tree.order)).any():
        raise ValueError('arm.parent does not describe a tree')


def _check_shapes(arm: ArmModel) -> None:
    n, m = arm.n, len(arm.tree.link_names)
    shapes: dict[str, tuple[int, ...]] = {
        'rotation': (m, 3, 3), 'translation': (m, 3), 'tree.prismatic': (m,),
        'axis': (m, 3), 'gravity': (3,), 'inertial': (m, 10), 'rotor_nominal': (n,),
        'drive.gain': (n,), 'drive.transmission': (n, n), 'drive.offset': (n,),
        'drive.damping': (n,), 'drive.passive': (n,)}
    for name in ('base', 'mounting', 'tool.placement'):
        shapes |= {f'{name}.rotation': (3, 3), f'{name}.translation': (3,)}
    if arm.tolerances is not None:
        shapes |= {f'tolerances.{name}': (6,) for name in ('base', 'mounting', 'tool')}
    if arm.link_bounds is not None:
        shapes |= {'link_bounds.total_mass': (2,), 'link_bounds.mass': (m, 2),
                   'link_bounds.center': (m, 3, 2)}
    shapes |= {f'limits.{name}': (n,) for name in vars(arm.limits)}
    arrays = [(name, attrgetter(name)(arm), shape) for name, shape in shapes.items()]
    arrays += [(f'friction_nominal.{name}', value, (n,))
               for name, value in arm.friction_nominal.items()]
    arrays += [(f'tolerances.joints.{name}', value, (m,))
               for name, value in (arm.tolerances.joints if arm.tolerances else {}).items()]
    arrays += [(f'coupling {column.name}', column.matrix, (n, n)) for column in arm.coupling]
    for name, value, shape in arrays:
        if value is None:
            continue
        if np.shape(value) != shape:
            raise ValueError(f'arm.{name} has the shape {np.shape(value)} instead of {shape}')
        # Only limits and bounds may be infinite, if absent.
        bounds = name.startswith(('limits.', 'link_bounds.'))
        if np.isnan(value).any() or not (bounds or np.isfinite(value).all()):
            raise ValueError(f'arm.{name} holds a number that no arm can have')


def _check_choices(arm: ArmModel) -> None:
    """Make sure that words and indices are valid."""
    wrong = [f'coupling {column.name} has the quantity {column.quantity!r:.40}'
             for column in arm.coupling if column.quantity not in COUPLED_QUANTITIES]
    if arm.drive.signal not in DRIVE_SIGNALS:
        wrong.append(f'drive.signal is {arm.drive.signal!r:.40}')
    if np.linalg.cond(arm.drive.transmission) > LARGEST_CONDITION:
        wrong.append('drive.transmission is singular')
    if not -1 <= arm.tool.joint < arm.links:
        wrong.append(f'tool.joint is {arm.tool.joint}')
    if wrong:
        raise ValueError(f'arm.{wrong[0]}, which no arm can have')


def json_text(content: Any, indent: int | None = None) -> str:
    """Write values, arrays, paths and dataclasses as JSON; infinity and NaN are null."""
    finite = json.loads(json.dumps(to_plain(content)), parse_constant=lambda _: None)
    return json.dumps(finite, indent=indent)
