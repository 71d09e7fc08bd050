# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sources of pose errors, one parameter each, and arms perturbed by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.arm.bodies import find_body, path_to, TOOL
from dynid_ros.arm.description.tree import Tolerances
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.rotations import turned
from dynid_ros.utilities.arrays import Array

X, Z = 0, 2
#: Groups of the rows of a DH table: axis of their screw, and whether they turn about it.
SCREWS = {'alpha': (X, True), 'a': (X, False), 'theta': (Z, True), 'd': (Z, False)}


@dataclass(frozen=True)
class ErrorSource:
    """
    One source of error.

    Attributes
    ----------
    group : str
        ``base``, ``mounting``, ``tool``, ``reading``; ``alpha``, ``a``, ``d``, ``theta`` of a
        DH table, or ``rotation``, ``translation`` of the joint placements of any other arm.
    joint : int
        Joint or row concerned; -1 for ``base``, ``mounting`` and ``tool``.
    axis : int
        0, 1, 2 for x, y, z; 2 for a reading.
    turning : bool
        True for a rotation (rad), False for a shift (m).

    """

    group: str
    joint: int
    axis: int
    turning: bool

    def label(self, arm: ArmModel) -> str:
        """Printable name, such as ``a of elbow_joint`` or ``base, about z``."""
        names = arm.tree.link_names
        if self.group in SCREWS or self.group == 'reading':
            return f'{self.group} of {names[self.joint]}'
        where = f'{self.group} of {names[self.joint]}' if self.joint >= 0 else self.group
        return f'{where}, {"about" if self.turning else "along"} {"xyz"[self.axis]}'


def error_sources(arm: ArmModel, body: str = TOOL) -> tuple[ErrorSource, ...]:
    """
    List the sources that can move a body, from the world to the body.

    Errors of a placement (of base, mounting, tool, or a joint of an arm without DH table) are
    shifts along, and rotations about, the axes of its reference frame, rotations about its own
    origin: ``R' = exp(e) R``, ``p' = p + e``. A row of a DH table has the errors of its four
    parameters.

    Raises
    ------
    InputError
        There is no such body.

    """
    path = path_to(arm, find_body(arm, body)[0])
    sources = [*_placement('base'), *_placement('mounting')]
    for joint in path:
        if arm.dh:
            # In a standard table, a and alpha follow the joint and place the next one, or the
            # tool.
            screws = sorted(SCREWS.items(), key=lambda each: arm.dh == 'dh' and each[1][0] == X)
            sources += [ErrorSource(group, joint, *screw) for group, screw in screws
                        if screw[0] == Z or arm.dh == 'mdh' or body == TOOL or joint != path[-1]]
        else:
            sources += [ErrorSource('rotation', joint, axis, True) for axis in range(3)]
            sources += [ErrorSource('translation', joint, axis, False) for axis in range(3)]
        if joint < arm.n:
            sources.append(ErrorSource('reading', joint, Z, not bool(arm.prismatic[joint])))
    return (*sources, *(_placement('tool') if body == TOOL else ()))


def standard_deviations(sources: Sequence[ErrorSource], tolerances: Tolerances) -> Array:
    """Look up the standard deviation of each source, (S,), rad or m."""
    result = np.zeros(len(sources))
    for k, source in enumerate(sources):
        if source.joint < 0:
            frame: Array = getattr(tolerances, source.group)
            result[k] = frame[source.axis + (0 if source.turning else 3)]
        elif source.group in tolerances.joints:
            result[k] = tolerances.joints[source.group][source.joint]
    return result


def uniform_tolerances(arm: ArmModel, angle: float, length: float) -> Tolerances:
    """
    Make equal tolerances for all angles, and for all lengths, of an arm that states none.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    angle, length : float
        Standard deviation of each angle (readings too) and each length, rad and m; base,
        mounting and tool are exact.

    """
    each = np.ones(arm.links)
    reading = np.where(arm.tree.prismatic, length, angle)
    geometry = {group: each * (angle if turning else length)
                for group, (_, turning) in SCREWS.items()} if arm.dh else {
        'rotation': each * angle, 'translation': each * length}
    return Tolerances(joints={**geometry, 'reading': reading})


def _placement(group: str) -> list[ErrorSource]:
    return [
        ErrorSource(group, -1, axis, turning) for turning in (True, False) for axis in range(3)]


def perturbed_arm(arm: ArmModel, source: ErrorSource, error: float) -> ArmModel:
    """
    Return an arm with one error of its geometry.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    source : ErrorSource
        A source between base and last link, other than a reading.
    error : float
        Its size, rad or m.

    Raises
    ------
    ValueError
        The source is a reading, or lies outside the chain from base frame to last link.

    """
    if source.joint < 0 or source.group == 'reading':
        raise ValueError(f'{source.label(arm)} is no part of the geometry between the links')
    unit = error * np.eye(3)[source.axis]
    turn = turned(unit if source.turning else np.zeros(3))
    shift = np.zeros(3) if source.turning else unit
    joint = source.joint
    if arm.dh == 'dh' and source.axis == X:
        # The standard a and alpha of a row place the next joint.
        joint += 1
        if joint == arm.n:
            raise ValueError(f'{source.label(arm)} moves the tool only')
    rotation, translation = arm.rotation.copy(), arm.translation.copy()
    if source.group not in SCREWS:
        rotation[joint], translation[joint] = turn @ rotation[joint], translation[joint] + shift
    elif source.axis == Z:
        translation[joint] = translation[joint] + rotation[joint] @ shift
        rotation[joint] = rotation[joint] @ turn
    else:
        rotation[joint] = turn @ rotation[joint]
        translation[joint] = shift + turn @ translation[joint]
    return arm.with_tree(rotation=rotation, translation=translation)
