# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Bodies of an arm by name, and the joints that carry them."""

from __future__ import annotations

from dataclasses import replace

from dynid_ros.arm.description.schema import near
from dynid_ros.arm.description.tree import Placement, Tool
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.utilities.inputs import as_text

TOOL = 'tool'


def find_body(arm: ArmModel, name: str) -> tuple[int, Placement]:
    """
    Find a frame that moves with the arm.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    name : str
        ``tool``, or the name of a joint for the frame of the link that it moves.

    Returns
    -------
    joint : int
        Joint that moves the link.
    placement : Placement
        Frame in the frame of the link.

    Raises
    ------
    InputError
        There is no such body; the message suggests similar names.

    """
    if as_text('body', name) in arm.tree.link_names:
        return arm.tree.link_names.index(name), Placement()
    if name == TOOL:
        return arm.tool_link, arm.tool.placement
    known = (*arm.tree.link_names, TOOL)
    raise InputError(
        f"the arm '{arm.name}' has no body '{name}'"
        + (near(name, known) or f'; links go by the joint that moves them: {", ".join(known)}'))


def with_tool_on(arm: ArmModel, name: str) -> ArmModel:
    """Return the same arm with its tool at a body; see `find_body`."""
    joint, placement = find_body(arm, name)
    return replace(arm, tool=Tool(placement, joint))


def path_to(arm: ArmModel, joint: int) -> list[int]:
    """Joints that carry a link, from the base to its own."""
    path = []
    while joint >= 0:
        path.append(joint)
        joint = int(arm.parent[joint])
    return path[::-1]
