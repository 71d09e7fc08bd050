"""Which joints of a robot move: those that are asked for, or the arm among grippers and heads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dynid_ros.arm.description.schema import near
from dynid_ros.arm.description.urdf_xml import MOVING, UrdfJoint
from dynid_ros.errors import ArmError

#: A link that carries several moving parts after so many joints is a hand, not a torso: torsos of
#: the humanoids in example-robot-data 6.0 have up to three joints, and their arms seven.
HAND = 4

Joints = Mapping[str, UrdfJoint]


def choose_joints(
    known: Joints, joints: tuple[str, ...], locked: dict[str, float], path: Path,
) -> tuple[tuple[str, ...], dict[str, float]]:
    """
    Names of the joints that move, and the positions of all that could but do not.

    Parameters
    ----------
    known : mapping of str to UrdfJoint
        All joints of the robot.
    joints : tuple of str
        Joints that are asked for; empty for all that neither are locked nor mimic another one.
    locked : dict of str to float
        Positions of locked joints, rad or m.
    path : Path
        Their file, for messages.

    Raises
    ------
    ArmError
        A joint does not exist or cannot move, or none is left.

    """
    able = {name: joint for name, joint in known.items() if joint.kind in MOVING}
    if not able:
        raise ArmError(f'{path} has no moving joint; a revolute, continuous or prismatic one is '
                       'needed')
    for name in (*joints, *locked):
        if name not in known:
            hint = near(name, tuple(able)) or f'; it has {", ".join(able)}'
            raise ArmError(f'{path} has no joint "{name}"{hint}')
        if name not in able:
            raise ArmError(f'joint "{name}" in {path} is fixed and can neither move nor be locked')
        if name in joints and name in locked:
            raise ArmError(f'joint "{name}" cannot be both among the joints and locked')
    moving = joints or tuple(name for name in free_joints(known) if name not in locked)
    if not moving:
        raise ArmError(f'no joint of {path} is left to move: all are locked or mimic another one')
    rest = dict.fromkeys((name for name in able if name not in moving), 0.0) | locked
    for name in rest:
        mimics = able[name].mimics
        if mimics is not None and name not in locked:
            leader, multiplier, offset = mimics
            rest[name] = multiplier * locked.get(leader, 0.0) + offset
    return moving, rest


def main_chain(known: Joints) -> tuple[str, ...]:
    """
    Joints of the arm: the longest serial chain of free joints, without its hand.

    Of several chains of the same length the first is taken. After at least `HAND` joints it ends
    before a link that carries several moving parts, and before a joint that others mimic: both are
    grippers.

    Parameters
    ----------
    known : mapping of str to UrdfJoint
        All joints of the robot.

    Returns
    -------
    tuple of str
        Names from the base on; empty where no joint moves.

    """
    led = {joint.mimics[0] for joint in known.values() if joint.mimics is not None}
    after = _following(known)
    depth: dict[str, int] = {}
    for name in reversed(_outwards(known, after)):
        depth[name] = 1 + max((depth[each] for each in after[known[name].child]), default=0)
    chain: list[str] = []
    link = root_link(known)
    while following := after[link]:
        if len(chain) >= HAND and (len(following) > 1 or following[0] in led):
            break
        chain.append(max(following, key=depth.__getitem__))
        link = known[chain[-1]].child
    return tuple(chain)


def chain_to(known: Joints, tip: str, path: Path) -> tuple[str, ...]:
    """
    Free joints from the base to a link.

    Raises
    ------
    ArmError
        There is no such link, or no joint moves it.

    """
    carrier = {joint.child: name for name, joint in known.items()}
    if tip not in carrier:
        links = tuple(carrier)
        raise ArmError(f'{path} has no link "{tip}" that a joint carries'
                       + (near(tip, links) or f'; it has {", ".join(links)}'))
    chain: list[str] = []
    link = tip
    while link in carrier:
        name = carrier[link]
        if _is_free(known[name]):
            chain.append(name)
        link = known[name].parent
    if not chain:
        raise ArmError(f'no joint of {path} moves the link "{tip}"')
    return tuple(reversed(chain))


def free_joints(known: Joints) -> tuple[str, ...]:
    """All joints that move and follow no other one."""
    return tuple(name for name, joint in known.items() if _is_free(joint))


def tips(known: Joints) -> tuple[str, ...]:
    """Link at the end of each chain of free joints, from the base outwards."""
    after = _following(known)
    links = (known[name].child for name in _outwards(known, after))
    return tuple(link for link in links if not after[link])


def root_link(known: Joints) -> str:
    """Link that no joint carries; empty where there are no joints."""
    carried = {joint.child for joint in known.values()}
    return next((joint.parent for joint in known.values() if joint.parent not in carried), '')


def _is_free(joint: UrdfJoint) -> bool:
    return joint.kind in MOVING and joint.mimics is None


def _following(known: Joints) -> dict[str, list[str]]:
    """Find the next free joints outwards from each link."""
    carried: dict[str, list[str]] = {root_link(known): []}
    for name, joint in known.items():
        carried.setdefault(joint.parent, []).append(name)
        carried.setdefault(joint.child, [])

    following: dict[str, list[str]] = {}
    # From the tips inwards, as hundreds of fixed joints may follow each other.
    for link in reversed(_links_outwards(carried, known)):
        following[link] = [
            each for name in carried[link]
            for each in ([name] if _is_free(known[name]) else following[known[name].child])]
    return following


def _links_outwards(carried: Mapping[str, list[str]], known: Joints) -> list[str]:
    links = [root_link(known)]
    for link in links:
        links += [known[name].child for name in carried[link]]
    return links


def _outwards(known: Joints, after: Mapping[str, list[str]]) -> list[str]:
    """Order the free joints so that each comes after the one that carries it."""
    order = list(after[root_link(known)])
    for name in order:
        order += after[known[name].child]
    return order
