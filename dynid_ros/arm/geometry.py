# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sections of ``arm.yaml`` on the arm's place, its tool and its tolerances."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.description.schema import near, Section, units
from dynid_ros.arm.description.tree import GEOMETRY, Placement, rotation_rpy, Tolerances, Tool
from dynid_ros.utilities.arrays import Array

_FRAMES = ('base', 'mounting', 'tool')


def read_placement(top: Section, key: str) -> Placement:
    """Placement from ``translation`` and ``rpy`` below a key; the identity where it is absent."""
    return _placement(top.section(key, ('units', 'translation', 'rpy')))


def read_tool(
    top: Section, names: tuple[str, ...], end: Placement, last: int,
) -> Tool:
    """
    Tool from ``tool``.

    Parameters
    ----------
    top : Section
        The file.
    names : tuple of str
        Names of the joints; ``joint`` may name one, to put the tool on its link.
    end : Placement
        Where the description itself ends, in the last link.
    last : int
        Joint of the last link.

    """
    section = top.section('tool', ('units', 'translation', 'rpy', 'joint'))
    name = section.text('joint') or names[last]
    if name not in names:
        raise section.error(
            'joint', f'names no joint of the arm: "{name}"'
            + (near(name, names) or f'; it has {", ".join(names)}'))
    joint = names.index(name)
    own = _placement(section)
    return Tool(end.then(own) if joint == last else own, joint)


def read_tolerances(top: Section, names: tuple[str, ...], *, table: bool) -> Tolerances | None:
    """
    Tolerances from ``tolerances``, or None where the section is absent.

    Parameters
    ----------
    top : Section
        The file.
    names : tuple of str
        Names of the joints.
    table : bool
        Whether a DH table describes the arm.

    """
    if 'tolerances' not in top:
        return None
    geometry = GEOMETRY if table else ('rotation', 'translation')
    section = top.section('tolerances', ('units', *_FRAMES, *geometry, 'reading'))
    length, angle = units(section)
    joints = {key: _spread(section, key, len(names)) for key in (*geometry, 'reading')}
    # Readings of prismatic joints are rare enough to be left in m.
    scale = dict.fromkeys(('alpha', 'theta', 'rotation', 'reading'), angle)
    frames = {}
    for key in _FRAMES:
        frame = section.section(key, ('rotation', 'translation'))
        frames[key] = np.concatenate([
            angle * _spread(frame, 'rotation', 3), length * _spread(frame, 'translation', 3)])
    return Tolerances(
        **frames,
        joints={key: value * scale.get(key, length) for key, value in joints.items()})


def _placement(section: Section) -> Placement:
    length, angle = units(section)
    return Placement(rotation_rpy(angle * section.filled('rpy', 3, 0.0)),
                     length * section.filled('translation', 3, 0.0))


def _spread(section: Section, key: str, count: int) -> Array:
    """Read standard deviations: one for all, or one each; zero where it is absent."""
    value = (section.filled(key, count, 0.0) if isinstance(section.raw(key), list)
             else np.full(count, section.number(key) or 0.0))
    if (value < 0).any():
        raise section.error(key, f'must not be below zero, but holds {value.min():g}')
    return value
