# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Choose the joints of a robot that move: the given ones, or an arm among grippers and heads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
import re
from typing import NamedTuple

from dynid_ros.arm.description.schema import near
from dynid_ros.arm.description.tree import Follower
from dynid_ros.arm.description.urdf_xml import MOVING, UrdfJoint
from dynid_ros.errors import ArmError

#: A joint that others mimic and that carries no joint drives a gripper, after this many joints.
HAND = 4
#: Most joints of a base; fewest of an arm on a rail, a lift or a mobile base; most of an arm.
MOST_BASE_JOINTS, ON_A_RAIL, SEVEN = 3, 5, 7
#: Names of joints of grippers, and of the links that their last joint moves.
GRIPPER = re.compile('grip|finger|jaw|claw|(?<![a-z])hand(?![a-z])', re.IGNORECASE)
FINGER = re.compile('finger|jaw|claw', re.IGNORECASE)

#: Names of joints of legs.
LEG = re.compile('(?<![a-z])(leg|hip|thigh|knee|calf|shin|ankle|foot)(?![a-z])', re.IGNORECASE)

Joints = Mapping[str, UrdfJoint]


class GuessedArm(NamedTuple):
    """
    Joints of a robot's arm from the base on, and others of its chain.

    Attributes
    ----------
    joints : tuple of str
        The arm; empty where no joint moves.
    base : tuple of str
        Joints before it, of a torso, a lift, a rail or a mobile base.
    gripper : tuple of str
        Joints behind it.

    """

    joints: tuple[str, ...]
    base: tuple[str, ...] = ()
    gripper: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """State the guess; empty where the chain has no other joint."""
        parts = [f'{", ".join(names)} of a {kind}' for names, kind in (
            (self.base, 'torso or base'), (self.gripper, 'gripper')) if names]
        return f'guessed to be no joints of the arm: {"; ".join(parts)}' if parts else ''

    @property
    def leg(self) -> str:
        """State that the names are those of a leg; empty where they are not."""
        named = [name for name in self.joints if LEG.search(name)]
        return f'the chosen chain seems to be a leg, by {", ".join(named)}' if named else ''


def choose_joints(
    known: Joints, joints: tuple[str, ...], locked: dict[str, float], path: Path,
) -> tuple[tuple[str, ...], tuple[Follower, ...], dict[str, float]]:
    """
    Names of the joints that move, those that follow them, and the positions of all that are still.

    Parameters
    ----------
    known : mapping of str to UrdfJoint
        All joints of the robot.
    joints : tuple of str
        Wanted joints; empty for all that neither are locked nor mimic another one.
    locked : dict of str to float
        Positions of locked joints, rad or m.
    path : Path
        Their file, for messages.

    Raises
    ------
    ArmError
        A joint does not exist or cannot move, none is left, or one follows itself.

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
    followers = []
    for name in tuple(rest):
        if able[name].mimics is None or name in locked:
            continue
        leader, multiplier, offset = _led_by(able, name, {*moving, *locked}, path)
        if leader in moving:
            followers.append(Follower(name, moving.index(leader), multiplier, offset))
            del rest[name]
        else:
            rest[name] = multiplier * locked.get(leader, 0.0) + offset
    return moving, tuple(followers), rest


def _led_by(
    able: Joints, name: str, ends: set[str], path: Path,
) -> tuple[str, float, float]:
    """First joint that a joint follows and that follows no other one, multiplier and offset."""
    leader, multiplier, offset = name, 1.0, 0.0
    for _ in able:
        mimics = able[leader].mimics if leader in able and leader not in ends else None
        if mimics is None:
            return leader, multiplier, offset
        offset += multiplier * mimics[2]
        leader, multiplier = mimics[0], multiplier * mimics[1]
    raise ArmError(f'joint "{name}" in {path} follows itself through others; correct its <mimic>')


def guess_arm(known: Joints) -> GuessedArm:
    """
    Guess the joints of the arm: the longest of `arms`, without joints that move all of it.

    Parameters
    ----------
    known : mapping of str to UrdfJoint
        All joints of the robot.

    """
    chain = max(_chains(known), key=len, default=())
    arm, gripper = _without_gripper(known, chain)
    kinds = [known[name].kind == 'prismatic' for name in arm]
    start = max((k + 1 for k, slides in enumerate(kinds[:MOST_BASE_JOINTS]) if slides), default=0)
    if len(arm) - start < ON_A_RAIL or any(kinds[start:]):
        start = 0
    elif start > 1 and len(arm) - start > SEVEN - all(kinds[:start]):
        # A mobile base moves along x and y, or turns and drives, and turns: no arm has eight
        # joints.
        start += 1
    before = () if not arm else tuple(reversed([
        name for name in _inwards(known, known[arm[0]].parent) if _is_free(known[name])]))
    return GuessedArm(arm[start:], before + arm[:start], gripper)


def chain_lengths(known: Joints) -> dict[str, int]:
    """Count the joints of each chain of two or more, without gripper, by the link at its end."""
    arms = [_without_gripper(known, chain)[0] for chain in _chains(known)]
    return {known[arm[-1]].child: len(arm) for arm in arms if len(arm) > 1}


def _chains(known: Joints) -> Iterator[tuple[str, ...]]:
    """
    Find the serial chains of free joints.

    A link that carries several moving parts ends a chain that is at least as long as they are, as
    a hand does. A shorter chain is a torso or a base with arms, which start there.
    """
    after = _next_free(known)

    def depth(name: str) -> int:
        return 1 + max(map(depth, after[name]), default=0)

    begun: list[tuple[str, ...]] = [(name,) for name in after['']]
    for chain in begun:
        while following := after[chain[-1]]:
            if len(following) > 1:
                break
            chain += (following[0],)
        if max(map(depth, following), default=0) > len(chain):
            begun += [(name,) for name in following]
        else:
            yield chain


def _without_gripper(
    known: Joints, chain: tuple[str, ...],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Divide the joints of a chain into arm and gripper."""
    led = {joint.mimics[0] for joint in known.values() if joint.mimics is not None}
    end = len(chain)
    # A finger alone, or an arm whose joints are all named after its hand, has no other gripper.
    while end > 1 and not GRIPPER.search(chain[0]):
        last = known[chain[end - 1]]
        if not (GRIPPER.search(chain[end - 1])
                or (end == len(chain) and FINGER.search(last.child))
                or (end == len(chain) > HAND and chain[-1] in led)
                or (end > ON_A_RAIL and last.kind == 'prismatic')):
            break
        end -= 1
    return chain[:end], chain[end:]


def chain_to(known: Joints, tip: str, path: Path) -> tuple[str, ...]:
    """
    Free joints from the base to a link.

    Raises
    ------
    ArmError
        There is no such link, or no joint moves it.

    """
    links = tuple(joint.child for joint in known.values())
    if tip not in links:
        raise ArmError(f'{path} has no link "{tip}" that a joint carries'
                       + (near(tip, links) or f'; it has {", ".join(links)}'))
    chain = [name for name in _inwards(known, tip) if _is_free(known[name])]
    if not chain:
        raise ArmError(f'no joint of {path} moves the link "{tip}"')
    return tuple(reversed(chain))


def free_joints(known: Joints) -> tuple[str, ...]:
    """All joints that move and follow no other one."""
    return tuple(name for name, joint in known.items() if _is_free(joint))


def _inwards(known: Joints, link: str) -> Iterator[str]:
    """Joints that carry a link, from its own to the first one."""
    carrier = {joint.child: name for name, joint in known.items()}
    while link in carrier:
        yield carrier[link]
        link = known[carrier[link]].parent


def _is_free(joint: UrdfJoint) -> bool:
    return joint.kind in MOVING and joint.mimics is None


def _next_free(known: Joints) -> Mapping[str, list[str]]:
    """Find the free joints that follow each one outwards; those on the base follow ''."""
    after: dict[str, list[str]] = defaultdict(list)
    for name in free_joints(known):
        inner = (each for each in _inwards(known, known[name].parent) if _is_free(known[each]))
        after[next(inner, '')].append(name)
    return after
