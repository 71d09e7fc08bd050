# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Kinematic trees: frames, joint limits and tolerances of the geometry."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.utilities.arrays import Array

GEOMETRY = ('alpha', 'a', 'd', 'theta')


@dataclass(frozen=True, eq=False)
class Placement:
    """
    Pose of a frame in another one, or poses of many.

    Attributes
    ----------
    rotation : (..., 3, 3) ndarray
        Its columns are the axes of the frame, in the other frame.
    translation : (..., 3) ndarray
        Its origin in the other frame, m.

    """

    rotation: Array = field(default_factory=lambda: np.eye(3))
    translation: Array = field(default_factory=lambda: np.zeros(3))

    def then(self, other: Placement) -> Placement:
        """Return the placement of a frame that is placed in this one."""
        moved = (self.rotation @ other.translation[..., None])[..., 0]
        return Placement(self.rotation @ other.rotation, self.translation + moved)


@dataclass(frozen=True, eq=False)
class Tool:
    """
    Frame fixed to one link.

    Attributes
    ----------
    placement : Placement
        Its pose in the frame of the link.
    joint : int
        Joint that moves the link; -1 for the last one.

    """

    placement: Placement = field(default_factory=Placement)
    joint: int = -1


def rotation_rpy(angles: ArrayLike) -> Array:
    """
    Rotation matrix (3, 3) of roll, pitch and yaw about fixed axes, as in URDF.

    ``Rz(yaw) Ry(pitch) Rx(roll)``; Craig, Introduction to Robotics, eq. 2.64.
    """
    (sr, sp, sy), (cr, cp, cy) = np.sin(angles), np.cos(angles)
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])


@dataclass(frozen=True)
class JointLimits:
    """
    Limits of each joint, (n,) each; infinite where unknown.

    Attributes
    ----------
    lower, upper : (n,) ndarray
        Position, rad or m.
    velocity, acceleration, effort : (n,) ndarray
        Magnitudes: rad/s or m/s, rad/s² or m/s², Nm or N.

    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array

    @staticmethod
    def unknown(joints: int) -> JointLimits:
        """Make unknown, that is infinite, limits."""
        infinite = np.full(joints, np.inf)
        return JointLimits(-infinite, infinite, infinite, infinite, infinite)


@dataclass(frozen=True)
class LimitMargins:
    """
    Margins of a planned motion from the limits of the hardware.

    Attributes
    ----------
    position_margin : float
        Distance kept from both position limits, rad or m.
    velocity_scale, effort_scale : float
        Share of the velocity and effort limits that may be used.

    """

    position_margin: float = 0.0
    velocity_scale: float = 1.0
    effort_scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Tolerances:
    """
    Standard deviations of errors, all independent of each other.

    Attributes
    ----------
    base, mounting, tool : (6,) ndarray
        Pose of the body in the world, of the arm on the body and of the tool on its link:
        rotation about x, y, z (rad), then translation along x, y, z (m).
    joints : dict of str to (n,) ndarray
        ``alpha``, ``a``, ``d`` and ``theta`` of each row of the table of a DH arm (rad, m), or
        ``rotation`` and ``translation`` of each joint placement of any other arm (the same about
        or along each axis), and ``reading``, the error of each joint position (rad, or m for
        prismatic joints). Absent entries are exact.

    """

    base: Array = field(default_factory=lambda: np.zeros(6))
    mounting: Array = field(default_factory=lambda: np.zeros(6))
    tool: Array = field(default_factory=lambda: np.zeros(6))
    joints: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Follower:
    """
    A joint without a drive of its own: ``q = multiplier q_leader + offset``.

    Attributes
    ----------
    name : str
        Its name.
    leader : int
        Joint that it follows.
    multiplier, offset : float
        Its gearing, and its position with that joint at zero, rad or m.

    """

    name: str
    leader: int
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class KinematicTree:
    """
    Kinematic tree of n joints and of m - n followers behind them; joint i moves link i.

    Attributes
    ----------
    joint_names : tuple of str
        Names in the order of all joint arrays.
    parent : (m,) ndarray of int64
        Joint whose link carries joint i, -1 for the base; smaller than i without followers.
    rotation, translation : (m, 3, 3) and (m, 3) ndarray
        Placement of the joint frame in the link frame of its parent, at q = 0; m.
    prismatic : (m,) ndarray of bool
        Prismatic joints; the others are revolute.
    axis : (m, 3) ndarray
        Unit joint axis in the joint frame.
    followers : tuple of Follower
        Joints that follow others, as in a parallelogram.

    """

    joint_names: tuple[str, ...]
    parent: NDArray[np.int64]
    rotation: Array
    translation: Array
    prismatic: NDArray[np.bool_]
    axis: Array
    followers: tuple[Follower, ...] = ()

    @staticmethod
    def chain(
        names: tuple[str, ...], rotation: Array, translation: Array, prismatic: NDArray[np.bool_],
    ) -> KinematicTree:
        """Make a chain of joints along the z axes of their frames."""
        return KinematicTree(names, np.arange(-1, len(names) - 1, dtype=np.int64), rotation,
                             translation, prismatic, np.tile([0.0, 0.0, 1.0], (len(names), 1)))

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Names of the joints that move the links, (m,)."""
        return (*self.joint_names, *(each.name for each in self.followers))

    @cached_property
    def gearing(self) -> Array:
        """Motion of all m joints per motion of the n driven joints, (m, n)."""
        gearing = np.eye(len(self.link_names), len(self.joint_names))
        for row, each in enumerate(self.followers, start=len(self.joint_names)):
            gearing[row, each.leader] = each.multiplier
        return gearing

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """All joints, (m,), each after the one that carries it."""
        depth = np.zeros(len(self.parent), dtype=np.intp)
        for _ in self.followers and depth:
            # One deeper than the carrier: converges after as many rounds as joints.
            depth = np.where(self.parent >= 0, depth[self.parent] + 1, 0)
        return np.argsort(depth, kind='stable')

    @property
    def last(self) -> int:
        """Last link: of the last driven joint, or of a follower on it."""
        link = len(self.joint_names) - 1
        while link in self.parent[len(self.joint_names):]:
            link = len(self.joint_names) + int(
                np.argmax(self.parent[len(self.joint_names):] == link))
        return link

    def positions(self, q: Array) -> Array:
        """Positions (..., m) of all joints by those (..., n) with drives."""
        if not self.followers:
            return q
        # A product of matrices would make NaN of infinite limits.
        return np.concatenate([q, np.stack([
            each.multiplier * q[..., each.leader] + each.offset for each in self.followers],
            axis=-1)], axis=-1)

    def ends(self, lower: Array, upper: Array) -> Array:
        """Lower and upper positions (2, m) of all joints by those (n,) with drives, rad or m."""
        return np.sort([self.positions(lower), self.positions(upper)], axis=0)

    def travel(self, lower: Array, upper: Array) -> Array:
        """Farthest position (m,) of each joint that slides, m; zero where it has no limits."""
        ends = np.abs(self.ends(lower, upper)).max(axis=0)
        return np.where(self.prismatic & np.isfinite(ends), ends, 0.0)

    def rates(self, qd: Array) -> Array:
        """Velocities or accelerations (..., m) of all joints by those (..., n) with drives."""
        return np.asarray(qd @ self.gearing.T) if self.followers else qd


@dataclass(frozen=True, eq=False)
class Description:
    """
    Content of a URDF or of a DH table.

    Attributes
    ----------
    tree : KinematicTree
        Joints and their placements.
    limits : JointLimits
        Limits of the joints.
    name : str
        Name that the description gives the arm; empty if it gives none.
    inertial : (m, 10) ndarray or None
        Nominal inertial parameters of the links, if known.
    dh : str
        ``mdh`` or ``dh`` if a table of that convention is the source, else empty.
    tool : Placement
        End of the description, in the frame of the last link.
    doubts : tuple of str
        Clauses on implausible content.

    """

    tree: KinematicTree
    limits: JointLimits
    name: str = ''
    inertial: Array | None = None
    dh: str = ''
    tool: Placement = field(default_factory=Placement)
    doubts: tuple[str, ...] = ()


def joint_units(unit: str, prismatic: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return a unit such as Nm/rad for revolute joints, and N/m for prismatic ones."""
    return tuple(of_sliding(unit) if sliding else unit for sliding in prismatic)


def of_sliding(unit: str) -> str:
    """Convert a unit of a revolute joint to that of a prismatic one."""
    return unit.replace('kg m²', 'kg').replace('Nm', 'N').replace('rad', 'm')
