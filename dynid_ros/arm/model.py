# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The model of an arm: its kinematic tree and its settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.tree import (
    JointLimits,
    KinematicTree,
    LimitMargins,
    Placement,
    Tolerances,
    Tool,
)
from dynid_ros.arm.drive import COMMAND, Drive
from dynid_ros.arm.friction import friction_terms, FrictionShape
from dynid_ros.arm.link_bounds import LinkBounds
from dynid_ros.arm.parameters import ParameterLayout
from dynid_ros.errors import listed
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.inputs import wrong_type
from dynid_ros.utilities.summarised import Summarised


@dataclass(frozen=True)
class CouplingColumn:
    """
    One further column, declared by the user, through which joints act on each other.

    Row i of the column is ``f(matrix[i] @ x)`` with x the joint accelerations (``qdd``), the
    velocities (``qd``), or, with ``sign_qd``, the sign of the combined velocity.

    Attributes
    ----------
    name : str
        Column name, such as ``Iam6``.
    quantity : str
        ``qdd``, ``qd`` or ``sign_qd``.
    matrix : (n, n) ndarray
        Combination for each row.

    """

    name: str
    quantity: str
    matrix: Array


@dataclass(frozen=True)
class Conditioning:
    """
    Settings of the signal conditioning; ``None`` is chosen from the data.

    Attributes
    ----------
    cutoff_hz : float or None
        Cut-off of the low-pass filters.
    filter : str
        ``butterworth`` (zero phase), ``fir`` (zero phase, order 30, Nuttall window) or
        ``periodic`` (averaging and exact derivatives in the frequency domain).
    period : float or None
        Period of a periodic motion, s.
    delay : float or None
        Time by which the drive signal lags behind the motion, or a drive behind its command, s.

    """

    cutoff_hz: float | None = None
    filter: str = 'butterworth'
    period: float | None = None
    delay: float | None = None


@dataclass(frozen=True)
class Table:
    """
    Layout of the columns of a table.

    Attributes
    ----------
    rate_hz : float or None
        Sample rate, where the file has no time column.
    time : str or None
        Name of the time column, s.
    position, velocity, signal : tuple of str
        Names of the columns of each joint, in the order of the joints; empty where absent.
    signal_file : str or None
        File beside the first that holds the signal columns; ``*`` stands for a part of the name
        of the first.
    header : tuple of str
        Column names of a file without a header line.
    unit : str or None
        ``rad`` or ``deg``, in which tables hold positions of revolute joints, or ``percent`` of
        the range of each joint, from -100 to 100; velocities per second. None if the columns say
        so, or else rad.

    """

    rate_hz: float | None = None
    time: str | None = None
    position: tuple[str, ...] = ()
    velocity: tuple[str, ...] = ()
    signal: tuple[str, ...] = ()
    signal_file: str | None = None
    header: tuple[str, ...] = ()
    unit: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ArmModel(Summarised):
    """
    A kinematic tree of n joints with all that torque depends on.

    Attributes
    ----------
    name : str
        Name of the arm.
    tree : KinematicTree
        Joints and their placements; its fields are properties of the arm, too.
    gravity : (3,) ndarray
        Acceleration of free fall in the base frame, m/s².
    limits : JointLimits
        Limits of the hardware; see `motion_limits`.
    inertial : (m, 10) ndarray or None
        Nominal inertial parameters of the links, if known; m is n without followers.
    rotor_nominal : (n,) ndarray or None
        Nominal rotor inertia seen at the joint, if known, kg m².
    friction_nominal : dict of str to (n,) ndarray
        Nominal coefficients by friction term, where known.
    rotor_inertia : bool
        Whether rotor inertia is identified.
    friction : tuple of str
        Friction terms that are identified.
    friction_shape : FrictionShape
        Constants of the nonlinear friction terms.
    coupling : tuple of CouplingColumn
        Further declared columns.
    drive : Drive
        From drive signal to torque.
    conditioning : Conditioning
        Settings of the signal conditioning.
    aliases : tuple of tuple of str
        Further lists of names under which the joints may appear in recordings.
    table : Table
        Columns of tabular recordings.
    base : Placement
        Pose of the body on which the arm is mounted, in the world.
    mounting : Placement
        Pose of the base frame of the arm in that body.
    tool : Tool
        Tool frame.
    dh : str
        ``mdh`` or ``dh`` if a table of that convention describes the arm, else empty.
    tolerances : Tolerances or None
        Tolerances of the geometry and the readings, if stated.
    margins : LimitMargins
        Margins that planned motions keep from the limits.
    link_bounds : LinkBounds or None
        Bounds on masses and centres of mass, if stated.

    """

    name: str
    tree: KinematicTree
    gravity: Array
    limits: JointLimits
    drive: Drive
    inertial: Array | None = None
    rotor_nominal: Array | None = None
    friction_nominal: dict[str, Array] = field(default_factory=dict)
    rotor_inertia: bool = True
    friction: tuple[str, ...] = ('viscous', 'coulomb', 'offset')
    friction_shape: FrictionShape = field(default_factory=FrictionShape)
    coupling: tuple[CouplingColumn, ...] = ()
    conditioning: Conditioning = field(default_factory=Conditioning)
    aliases: tuple[tuple[str, ...], ...] = ()
    table: Table = field(default_factory=Table)
    base: Placement = field(default_factory=Placement)
    mounting: Placement = field(default_factory=Placement)
    tool: Tool = field(default_factory=Tool)
    dh: str = ''
    tolerances: Tolerances | None = None
    margins: LimitMargins = field(default_factory=LimitMargins)
    link_bounds: LinkBounds | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts that distinguish arms, for a console or a notebook."""
        return [
            ('ArmModel', f'{self.name}: {self.n} joints'),
            ('joints', listed(self.joint_names, 8)),
            ('drive signal', self.drive.signal
             + ('' if self.drive.includes_gravity else ' without gravity')),
            ('friction terms', ', '.join(self.friction) or 'none'),
            ('inertias', 'not stated' if self.inertial is None else
             f'stated, {self.inertial[:, 0].sum():.4g} kg in all')]

    @property
    def n(self) -> int:
        """Return the number of joints."""
        return len(self.joint_names)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the names of the joints, in the order of all joint arrays."""
        return self.tree.joint_names

    @property
    def links(self) -> int:
        """Return the number m of the links: of the joints, and of those that follow them."""
        return len(self.parent)

    @property
    def tool_link(self) -> int:
        """Return the link that carries the tool."""
        return self.tool.joint if self.tool.joint >= 0 else self.n - 1

    @property
    def parent(self) -> NDArray[np.int64]:
        """Return the joint (m,) that carries each joint, -1 for the base."""
        return self.tree.parent

    @property
    def rotation(self) -> Array:
        """Return the rotations (m, 3, 3) of the joint frames in their parents' links."""
        return self.tree.rotation

    @property
    def translation(self) -> Array:
        """Return the origins (m, 3) of the joint frames in their parents' links, m."""
        return self.tree.translation

    @property
    def prismatic(self) -> NDArray[np.bool_]:
        """Return which joints (n,) are prismatic."""
        return self.tree.prismatic[:self.n]

    @property
    def axis(self) -> Array:
        """Return the unit joint axes (m, 3) in the joint frames."""
        return self.tree.axis

    @cached_property
    def layout(self) -> ParameterLayout:
        """Columns of the regressor."""
        symbols = tuple(term.symbol for term in friction_terms(self.friction))
        names = tuple(column.name for column in self.coupling)
        return ParameterLayout(
            self.n, self.rotor_inertia, symbols, names, len(self.tree.followers))

    @property
    def motion_limits(self) -> JointLimits:
        """Limits that planned motions keep: the hardware limits, shrunk by the margins."""
        own, margins = self.limits, self.margins
        return JointLimits(
            own.lower + margins.position_margin, own.upper - margins.position_margin,
            own.velocity * margins.velocity_scale, own.acceleration,
            own.effort * margins.effort_scale)

    @property
    def needs_load(self) -> bool:
        """Whether a friction term depends on the torque that loads the joint."""
        return any(term.needs_load for term in friction_terms(self.friction))

    @property
    def needs_history(self) -> bool:
        """Whether a friction term depends on the motion before."""
        return any(term.needs_history for term in friction_terms(self.friction))

    @cached_property
    def memoryless(self) -> ArmModel:
        """
        Return the same arm with only the friction terms of the velocity.

        It suits single states, for which neither the load on a joint, which follows from the
        estimate, nor its history is known. It is one object for each arm, so that its base
        parameters are found once.
        """
        kept = tuple(term.name for term in friction_terms(self.friction) if not term.state)
        return self if kept == self.friction else replace(self, friction=kept)

    @property
    def stated_delay(self) -> float | None:
        """
        Return the delay of the drive signal behind the motion, s, if it is stated.

        Commands have none, as a later command looks like more damping; their stated delay is
        applied before the deviation is computed.
        """
        return 0.0 if self.drive.signal == COMMAND else self.conditioning.delay

    @cached_property
    def as_measured(self) -> ArmModel:
        """Return the arm as the drive signal shows it: without gravity that it lacks."""
        if self.drive.includes_gravity:
            return self
        return replace(self, gravity=np.zeros(3))

    def with_friction(self, names: Sequence[str]) -> ArmModel:
        """
        Return the same arm with other friction terms.

        Raises
        ------
        InputError
            A name is not one of a friction term.

        """
        if isinstance(names, str) or not isinstance(names, Sequence) or not all(
                isinstance(name, str) for name in names):
            raise wrong_type('names', 'a tuple of names of friction terms', names)
        friction_terms(tuple(names))
        return replace(self, friction=tuple(names))

    def with_tree(self, **changes: Any) -> ArmModel:
        """Return the same arm with other values of fields of its kinematic tree."""
        return replace(self, tree=replace(self.tree, **changes))

    @cached_property
    def rigid(self) -> ArmModel:
        """Return the same arm, one object, without rotor inertia, friction and coupling."""
        return replace(self, rotor_inertia=False, friction=(), coupling=())
