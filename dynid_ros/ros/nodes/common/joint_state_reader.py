# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Convert messages to samples in the order of the arm's joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from time import time_ns
from typing import Any, NamedTuple

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
    'signal_joints_missing': 'signals that lack joints of the arm',
    'signal_missing': 'joint states left out because no signal is near',
    'signal_late': 'signals left out because their stamp is not after the last',
}


#: Stamp, ns, zero if there is none; joints, None for values that belong to no joints; and the
#: values (m,) of a message.
Signal = tuple[int, tuple[str, ...] | None, NDArray[np.float64]]


class Beside(NamedTuple):
    """
    Topic beside the joint states, whose values are wanted at their stamps.

    Attributes
    ----------
    name : str
        Of the topic.
    kind : type
        Message.
    read : callable
        Returns the signal of a message; None to leave it out.
    width : int
        Number of values of a message.

    """

    name: str
    kind: type[Any]
    read: Callable[[Any], Signal | None]
    width: int


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


def drive_topic(arm: ArmModel, states: str) -> Beside | None:
    """
    Return the topic of the drive signal; None if the joint states hold it.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    states : str
        Full name of the joint states.

    """
    apart = arm.drive.topic
    if apart is None:
        return None
    kind, read = DRIVE_MESSAGES[apart.kind]
    return Beside(apart.beside(states), kind, partial(read, apart), arm.n)


@lru_cache(maxsize=ORDERS)
def _places(
    known: tuple[tuple[str, ...], ...], names: tuple[str, ...],
) -> NDArray[np.intp] | None:
    own = next((own for own in known if set(own) <= set(names)), None)
    return None if own is None else np.array([names.index(name) for name in own])


def order_of(arm: ArmModel, names: Sequence[str]) -> NDArray[np.intp] | None:
    """Find the places (n,) of joints, by names or aliases; None if some are missing."""
    return _places((arm.joint_names, *arm.aliases), tuple(names))


def in_order(
    arm: ArmModel, names: Sequence[str], *fields: Sequence[float] | Array,
) -> list[Array] | None:
    """Return fields in the order of the joints; None if joints or values are missing."""
    order = order_of(arm, names)
    if order is None or min(map(len, fields)) <= order.max():
        return None
    return [np.array(values)[order] for values in fields]


class JointStateReader:
    """
    Collect joint states and signals; joints are found by name in every message.

    Parameters
    ----------
    arm : ArmModel
        Names of the joints, and their aliases.
    beside : Beside, optional
        Topic of the signals, such as `drive_topic`, unless the joint states hold them.
    now : callable
        Returns the time of reception, ns, for messages without a stamp.

    Attributes
    ----------
    others : tuple of str
        The first names in the last message that lacked joints.

    """

    def __init__(
        self, arm: ArmModel, beside: Beside | None = None, now: Callable[[], int] = time_ns,
    ) -> None:
        self._arm, self._beside, self._now = arm, beside, now
        self._order: dict[str, NDArray[np.intp]] = {}
        self._pairing = Pairing(arm.n, beside.width if beside else arm.n)
        self._rows: list[tuple[int, list[Array]]] = []
        self._last = 0
        self._stamped = False
        self.others: tuple[str, ...] = ()
        self.reset()

    def __len__(self) -> int:
        """Joint states since the last `take`."""
        return len(self._pairing) if self._beside else len(self._rows)

    @property
    def counts(self) -> dict[str, int]:
        """Count joint states (``messages``), ``signals``, and each of `PROBLEMS`."""
        own = {'signal_missing': self._pairing.unpaired, 'signal_late': self._pairing.late}
        return self._counts | own

    def reset(self) -> None:
        """Forget the counts, and the samples that wait."""
        self.take()
        self._counts = dict.fromkeys(('messages', 'signals', *PROBLEMS), 0)
        self._pairing.unpaired = self._pairing.late = 0

    def add(self, message: JointState) -> None:
        """
        Take in one message.

        Parameters
        ----------
        message : JointState
            Position, and effort unless that has a topic of its own, of at least all joints of
            the arm.

        """
        self._counts['messages'] += 1
        fields = (message.position,) if self._beside else (message.position, message.effort)
        values = self._sorted('joints_missing', tuple(message.name), *fields)
        if values is not None:
            self._stamp(nanoseconds(message.header.stamp), values)

    def add_signal(self, message: Any) -> None:
        """Take in one message of the topic beside the joint states."""
        assert self._beside is not None
        self._counts['signals'] += 1
        signal = self._beside.read(message)
        if signal is None:
            return
        stamp, names, u = signal
        values = self._sorted('signal_joints_missing', names, u) if names is not None else [u]
        if values is not None:
            self._pairing.add_signal(stamp or self._now(), *values)

    def take(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Return stamps (k,), ns, positions (k, n) and signals since the last call."""
        if self._beside:
            return self._pairing.take()
        rows, self._rows = self._rows, []
        values = np.array([row[1] for row in rows]).reshape(-1, 2, self._arm.n)
        return np.array([row[0] for row in rows], dtype=np.int64), values[:, 0], values[:, 1]

    def _sorted(
        self, problem: str, names: tuple[str, ...], *fields: Sequence[float] | Array,
    ) -> list[Array] | None:
        """Return the fields of a message in the order of the joints, or count its problem."""
        order = order_of(self._arm, names)
        if order is None:
            self._counts[problem] += 1
            self.others = names[:SHOWN]
            return None
        if not np.array_equal(order, self._order.get(problem, order)):
            self._counts['order_changed'] += 1
        self._order[problem] = order
        values = in_order(self._arm, names, *fields)
        if values is None:
            bare = len(fields) > 1 and not len(fields[1])
            self._counts['effort_missing' if bare else 'values_missing'] += 1
        return values

    def _stamp(self, stamp: int, values: list[Array]) -> None:
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
            stamp = self._now()
        if stamp < self._last:
            self._counts['clock_back'] += 1
        self._last = stamp
        if self._beside:
            self._pairing.add_state(stamp, *values)
        else:
            self._rows.append((stamp, values))
