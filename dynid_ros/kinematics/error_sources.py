"""The sources of pose errors of an arm, one small number each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.tree import Tolerances
from dynid_ros.arm.model import ArmModel, find_body, path_to, TOOL

Array = NDArray[np.float64]

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
        Whether it turns (rad) or shifts (m).

    """

    group: str
    joint: int
    axis: int
    turning: bool

    def label(self, arm: ArmModel) -> str:
        """Printable name, such as ``a of elbow_joint`` or ``base, about z``."""
        if self.group in SCREWS or self.group == 'reading':
            return f'{self.group} of {arm.joint_names[self.joint]}'
        where = f'{self.group} of {arm.joint_names[self.joint]}' if self.joint >= 0 else self.group
        return f'{where}, {"about" if self.turning else "along"} {"xyz"[self.axis]}'


def error_sources(arm: ArmModel, body: str = TOOL) -> tuple[ErrorSource, ...]:
    """
    List the sources that can move a body, from the world to the body.

    The error of a placement (of base, mounting, tool, or a joint of an arm without table) is along
    and about the axes of the frame in which it is placed, about its own origin: ``R' = exp(e) R``,
    ``p' = p + e``. The errors of a row of a DH table are those of its four parameters.

    Raises
    ------
    InputError
        There is no such body.

    """
    path = path_to(arm, find_body(arm, body)[0])
    found = [*_placement('base'), *_placement('mounting')]
    for joint in path:
        if arm.dh:
            # The standard a and alpha of the last row place the tool, not the link.
            groups = [group for group, (axis, _) in SCREWS.items()
                      if axis == Z or arm.dh == 'mdh' or body == TOOL or joint != path[-1]]
            found += [ErrorSource(group, joint, *SCREWS[group]) for group in groups]
        else:
            found += [ErrorSource('rotation', joint, axis, True) for axis in range(3)]
            found += [ErrorSource('translation', joint, axis, False) for axis in range(3)]
        found.append(ErrorSource('reading', joint, Z, not bool(arm.prismatic[joint])))
    return (*found, *(_placement('tool') if body == TOOL else ()))


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
    Tolerances of an arm that states none: the same for each angle and for each length.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    angle, length : float
        Standard deviation of each angle (readings too) and each length, rad and m; base,
        mounting and tool are exact.

    """
    each = np.ones(arm.n)
    reading = np.where(arm.prismatic, length, angle)
    geometry = {group: each * (angle if turning else length)
                for group, (_, turning) in SCREWS.items()} if arm.dh else {
        'rotation': each * angle, 'translation': each * length}
    return Tolerances(joints={**geometry, 'reading': reading})


def _placement(group: str) -> list[ErrorSource]:
    return [
        ErrorSource(group, -1, axis, turning) for turning in (True, False) for axis in range(3)]
