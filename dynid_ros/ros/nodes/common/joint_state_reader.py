# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Convert messages to samples in the order of the arm's joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from control_msgs.msg import DynamicJointState, JointTrajectoryControllerState
import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from dynid_ros.arm.drive import ARRAY, CONTROLLER_STATE, DriveTopic, DYNAMIC_STATE, JOINT_STATE
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.recording_reader import DAY_NS
from dynid_ros.data.streaming.pairing import Pairing
from dynid_ros.ros.nodes.common.lockstep import nanoseconds
from dynid_ros.utilities.arrays import Array

#: Most orders remembered: new names in every message must not fill the memory.
ORDERS = 16
#: Most names of other joints shown.
SHOWN = 20
#: Events that are counted, and their meaning.
PROBLEMS = {
    'joints_missing': 'messages that lack joints of the arm',
    'effort_missing': 'messages without effort',
    'values_missing': 'messages whose positions or drive signals do not match their names',
    'order_changed': 'changes of the order of the joints',
    'stamp_zero': 'messages without a header stamp',
    'clock_back': 'times that the clock stepped back',
    'signal_joints_missing': 'drive signals that lack joints of the arm',
    'signal_missing': 'joint states left out because no drive signal is near',
    'signal_late': 'drive signals left out because their stamp is not after the last',
}


#: Stamp, ns, zero if there is none; joints; and their values (m,) of a message.
Signal = tuple[int, tuple[str, ...], NDArray[np.float64]]


def _of_joint_state(topic: DriveTopic, message: Any) -> Signal:
    return (nanoseconds(message.header.stamp), tuple(message.name),
            np.array(getattr(message, topic.field)))


def _of_dynamic_state(topic: DriveTopic, message: Any) -> Signal:
    held = {
        name: own.values[own.interface_names.index(topic.interface)]
        for name, own in zip(message.joint_names, message.interface_values, strict=True)
        if topic.interface in own.interface_names}
    return nanoseconds(message.header.stamp), tuple(held), np.array(list(held.values()))


def _of_controller_state(_topic: DriveTopic, message: Any) -> Signal:
    # Humble names it differently.
    point = message.reference if hasattr(message, 'reference') else message.desired
    return (nanoseconds(message.header.stamp), tuple(message.joint_names),
            np.array(point.positions))


def _of_array(topic: DriveTopic, message: Any) -> Signal:
    return 0, topic.joints, np.array(message.data)


#: Message types and readers of drive topics by `DriveTopic.kind`; `DRIVE_PARSERS` are those of
#: bags.
DRIVE_MESSAGES: dict[str, tuple[Any, Callable[[DriveTopic, Any], Signal]]] = {
    JOINT_STATE: (JointState, _of_joint_state),
    DYNAMIC_STATE: (DynamicJointState, _of_dynamic_state),
    CONTROLLER_STATE: (JointTrajectoryControllerState, _of_controller_state),
    ARRAY: (Float64MultiArray, _of_array),
}


class JointOrder:
    """
    Find the joints of an arm by name, under its own names or its aliases.

    Parameters
    ----------
    arm : ArmModel
        Names of the joints, and their aliases.

    Attributes
    ----------
    of : callable
        Returns the places (n,) of the joints among names, a tuple; None if some are missing.

    """

    def __init__(self, arm: ArmModel) -> None:
        self._names = (arm.joint_names, *arm.aliases)
        self.of = lru_cache(maxsize=ORDERS)(self._find)

    def _find(self, names: tuple[str, ...]) -> NDArray[np.intp] | None:
        known = next((own for own in self._names if set(own) <= set(names)), None)
        return None if known is None else np.array([names.index(name) for name in known])

    def in_order(
        self, names: Sequence[str], *fields: Sequence[float] | Array,
    ) -> list[Array] | None:
        """Return fields in the order of the joints; None if joints or values are missing."""
        order = self.of(tuple(names))
        if order is None or min(map(len, fields)) <= order.max():
            return None
        return [np.array(values)[order] for values in fields]


class JointStateReader:
    """
    Collect joint states and drive signals; joints are found by name in every message.

    Parameters
    ----------
    arm : ArmModel
        Names of the joints, their aliases, and where the drive signal comes from.

    Attributes
    ----------
    others : tuple of str
        The first names in the last message that lacked joints.

    """

    def __init__(self, arm: ArmModel) -> None:
        self._orders = JointOrder(arm)
        self._order: dict[str, NDArray[np.intp]] = {}
        self._n = arm.n
        self._apart = arm.drive.topic
        self._pairing = Pairing(arm.n, arm.n)
        self._rows: list[tuple[int, list[Array]]] = []
        self._last = 0
        self._stamped = False
        self.others: tuple[str, ...] = ()
        self.reset()

    def __len__(self) -> int:
        """Joint states since the last `take`."""
        return len(self._pairing) if self._apart else len(self._rows)

    @property
    def counts(self) -> dict[str, int]:
        """Count joint states (``messages``), drive ``signals``, and each of `PROBLEMS`."""
        own = {'signal_missing': self._pairing.unpaired, 'signal_late': self._pairing.late}
        return self._counts | own

    def reset(self) -> None:
        """Forget the counts, and the samples that wait."""
        self.take()
        self._counts = dict.fromkeys(('messages', 'signals', *PROBLEMS), 0)
        self._pairing.unpaired = self._pairing.late = 0

    def add(self, message: JointState, received: int) -> None:
        """
        Take in one message.

        Parameters
        ----------
        message : JointState
            Position, and effort unless that has a topic of its own, of at least all joints of
            the arm.
        received : int
            Time of reception, ns, for messages without a stamp.

        """
        self._counts['messages'] += 1
        fields = (message.position,) if self._apart else (message.position, message.effort)
        values = self._sorted('joints_missing', tuple(message.name), *fields)
        if values is not None:
            self._stamp(nanoseconds(message.header.stamp), received, values)

    def add_signal(self, message: Any, received: int) -> None:
        """Take in one message of the drive topic."""
        assert self._apart is not None
        self._counts['signals'] += 1
        stamp, names, u = DRIVE_MESSAGES[self._apart.kind][1](self._apart, message)
        values = self._sorted('signal_joints_missing', names, u)
        if values is not None:
            self._pairing.add_signal(stamp or received, *values)

    def take(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Return stamps (k,), ns, positions and drive signals (k, n) since the last call."""
        if self._apart:
            return self._pairing.take()
        rows, self._rows = self._rows, []
        values = np.array([row[1] for row in rows]).reshape(-1, 2, self._n)
        return np.array([row[0] for row in rows], dtype=np.int64), values[:, 0], values[:, 1]

    def _sorted(
        self, problem: str, names: tuple[str, ...], *fields: Sequence[float] | Array,
    ) -> list[Array] | None:
        """Return the fields of a message in the order of the joints, or count its problem."""
        order = self._orders.of(names)
        if order is None:
            self._counts[problem] += 1
            self.others = names[:SHOWN]
            return None
        if not np.array_equal(order, self._order.get(problem, order)):
            self._counts['order_changed'] += 1
        self._order[problem] = order
        values = self._orders.in_order(names, *fields)
        if values is None:
            bare = len(fields) > 1 and not len(fields[1])
            self._counts['effort_missing' if bare else 'values_missing'] += 1
        return values

    def _stamp(self, stamp: int, received: int, values: list[Array]) -> None:
        """
        Choose the clock, as for a recording.

        Stamps that are zero from the start were never set; simulated time may step back to zero; a
        zero among stamps of a clock that was set is left out.
        """
        if stamp or (self._stamped and self._last < DAY_NS):
            self._stamped = True
        else:
            self._counts['stamp_zero'] += 1
            if self._stamped:
                return
            stamp = received
        if stamp < self._last:
            self._counts['clock_back'] += 1
        self._last = stamp
        if self._apart:
            self._pairing.add_state(stamp, *values)
        else:
            self._rows.append((stamp, values))
