# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Obstacles of an arm, its own links and the objects around it, from ``arm.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dynid_ros.arm.description.schema import near, read_yaml, Section
from dynid_ros.arm.description.tree import rotation_rpy
from dynid_ros.arm.load import arm_file, ARM_KEYS, description_file, is_robot_file, locked_joints
from dynid_ros.arm.model import ArmModel
from dynid_ros.utilities.arrays import Array

BASE_FRAME = 'base'
#: Default distance of a motion from all bodies, m.
CLEARANCE = 0.01


@dataclass(frozen=True, eq=False)
class Capsule:
    """
    All points near a line; the hull of a link, or of a part of the base.

    Attributes
    ----------
    name : str
        Name for messages.
    joint : int
        Joint that moves the link; -1 for the base.
    start, end : (3,) ndarray
        Ends of the line in the frame of the link, m.
    radius : float
        Distance from the line, m.

    """

    name: str
    joint: int
    start: Array
    end: Array
    radius: float


@dataclass(frozen=True, eq=False)
class Wall:
    """
    Half-space that the arm must not enter.

    Attributes
    ----------
    name : str
        Name for messages.
    point, normal : (3,) ndarray
        A point of its surface, and the direction away from it, in the base frame; m.

    """

    name: str
    point: Array
    normal: Array


@dataclass(frozen=True, eq=False)
class Box:
    """
    Box in the base frame.

    Attributes
    ----------
    name : str
        Name for messages.
    center, size : (3,) ndarray
        Its middle, and its lengths along its own axes, m.
    rotation : (3, 3) ndarray
        Its axes.

    """

    name: str
    center: Array
    size: Array
    rotation: Array


@dataclass(frozen=True)
class Surroundings:
    """
    All obstacles of an arm.

    Attributes
    ----------
    capsules : tuple of Capsule
        Hulls of links.
    walls : tuple of Wall
        Floor and walls.
    boxes : tuple of Box
        Boxes.
    clearance : float
        Least distance that a motion keeps, m.
    urdf : Path or None
        File whose collision geometry replaces absent capsules.
    locked : dict of str to float
        Positions of its locked joints, rad or m.

    """

    capsules: tuple[Capsule, ...] = ()
    walls: tuple[Wall, ...] = ()
    boxes: tuple[Box, ...] = ()
    clearance: float = CLEARANCE
    urdf: Path | None = None
    locked: dict[str, float] = field(default_factory=dict)


def load_surroundings(name_or_path: str | Path, arm: ArmModel) -> Surroundings:
    """
    Read the sections ``collision`` and ``environment`` of an arm.

    Parameters
    ----------
    name_or_path : str or Path
        As for `load_arm`.
    arm : ArmModel
        The arm.

    Returns
    -------
    Surroundings
        Empty where the file has no such section.

    Raises
    ------
    ArmError
        The file or one of its values is unusable; the message names file and key.

    """
    path = arm_file(name_or_path)
    if is_robot_file(path):
        return Surroundings(urdf=path)
    top = Section(read_yaml(path), path, ARM_KEYS)
    around = top.section('environment', ('floor', 'walls', 'boxes', 'clearance'))
    floor = around.number('floor')
    walls = [] if floor is None else [
        Wall('floor', np.array([0.0, 0.0, floor]), np.array([0.0, 0.0, 1.0]))]
    walls += [_wall(entry, i) for i, entry in enumerate(around.sections(
        'walls', ('name', 'point', 'normal'), 'entry'), start=1)]
    boxes = [_box(entry, i) for i, entry in enumerate(around.sections(
        'boxes', ('name', 'center', 'size', 'rpy'), 'entry'), start=1)]
    capsules = [_capsule(entry, arm) for entry in top.sections(
        'collision', ('link', 'from', 'to', 'radius'), 'entry')]
    clearance = around.number('clearance')
    return Surroundings(
        tuple(capsules), tuple(walls), tuple(boxes),
        CLEARANCE if clearance is None else clearance,
        description_file(path), locked_joints(top))


def _capsule(entry: Section, arm: ArmModel) -> Capsule:
    link = entry.needed('link', entry.text('link'))
    known = (BASE_FRAME, *arm.tree.link_names)
    if link not in known:
        raise entry.error('link', f'names no joint of the arm: "{link}"' + (
            near(link, known) or f'; a link goes by the joint that moves it: {", ".join(known)}'))
    start = entry.needed('from', entry.vector('from', 3))
    end = entry.vector('to', 3)
    return Capsule(
        link, known.index(link) - 1, start, start if end is None else end,
        entry.needed('radius', entry.positive('radius')))


def _wall(entry: Section, number: int) -> Wall:
    normal = entry.needed('normal', entry.vector('normal', 3))
    length = float(np.linalg.norm(normal))
    if not length > 0:
        raise entry.error('normal', 'has no direction')
    point = entry.needed('point', entry.vector('point', 3))
    return Wall(entry.text('name') or f'wall {number}', point, normal / length)


def _box(entry: Section, number: int) -> Box:
    size = entry.needed('size', entry.vector('size', 3))
    if not (size > 0).all():
        raise entry.error('size', 'must be above zero along every axis')
    return Box(
        entry.text('name') or f'box {number}',
        entry.needed('center', entry.vector('center', 3)), size,
        rotation_rpy(entry.filled('rpy', 3, 0.0)))
