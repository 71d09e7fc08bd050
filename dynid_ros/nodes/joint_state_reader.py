"""From JointState messages to samples in the order of the arm's joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from dynid_ros.arm.model import ArmModel
from dynid_ros.storage.recording import DAY_NS

Array = NDArray[np.float64]

#: What is counted, and what it means.
PROBLEMS = {
    'joints_missing': 'messages that lack joints of the arm',
    'values_missing': 'messages whose positions or drive signals do not match their names',
    'order_changed': 'changes of the order of the joints',
    'stamp_zero': 'messages without a header stamp',
    'clock_back': 'steps of the clock back in time',
}


class JointStateReader:
    """
    Collect joint states; joints are found by name in every message.

    Parameters
    ----------
    arm : ArmModel
        Names of the joints, and their aliases.

    Attributes
    ----------
    messages : int
        Messages so far.
    counts : dict of str to int
        How often each of `PROBLEMS` was met.
    others : tuple of str
        Names in the last message that lacked joints.

    """

    def __init__(self, arm: ArmModel) -> None:
        self._names = (arm.joint_names, *arm.aliases)
        self._orders: dict[tuple[str, ...], NDArray[np.intp] | None] = {}
        self._order: NDArray[np.intp] | None = None
        self._n = arm.n
        self._held: tuple[int, Array, Array] | None = None
        self._stamps: list[int] = []
        self._rows: list[tuple[Array, Array]] = []
        self._last = 0
        self._stamped = self._unstamped = False
        self.messages = 0
        self.counts = dict.fromkeys(PROBLEMS, 0)
        self.others: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._stamps)

    def add(self, message: JointState, received: int) -> None:
        """
        Take in one message.

        Parameters
        ----------
        message : JointState
            Position and effort of at least all joints of the arm.
        received : int
            Time of reception, ns, for messages that nobody stamped.

        """
        self.messages += 1
        order = self._resolve(tuple(message.name))
        if order is None:
            return
        p, u = np.array(message.position), np.array(message.effort)
        if min(len(p), len(u)) <= order.max():
            self.counts['values_missing'] += 1
            return
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        self._stamp(stamp, received, p[order], u[order])

    def take(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Hand over stamps (k,), ns, positions and drive signals (k, n), and start afresh."""
        stamps = np.array(self._stamps, dtype=np.int64)
        values = np.array(self._rows).reshape(-1, 2, self._n)
        self._stamps, self._rows = [], []
        return stamps, values[:, 0], values[:, 1]

    def _resolve(self, names: tuple[str, ...]) -> NDArray[np.intp] | None:
        if names not in self._orders:
            known = next((own for own in self._names if set(own) <= set(names)), None)
            self._orders[names] = None if known is None else np.array(
                [names.index(name) for name in known], dtype=np.intp)
        order = self._orders[names]
        if order is None:
            self.counts['joints_missing'] += 1
            self.others = names
        else:
            if self._order is not None and not np.array_equal(order, self._order):
                self.counts['order_changed'] += 1
            self._order = order
        return order

    def _stamp(self, stamp: int, received: int, p: Array, u: Array) -> None:
        """
        Choose the clock, as for a recording.

        Stamps that are zero from the start were never set; simulated time starts at zero; one
        among stamps of a clock that was set is left out.
        """
        if stamp or (self._stamped and self._last < DAY_NS):
            if self._held is not None and stamp < DAY_NS:
                self._append(0, *self._held[1:])
            self._held, self._stamped = None, True
            self._append(stamp, p, u)
            return
        self.counts['stamp_zero'] += 1
        if self._stamped:
            return
        if self._held is not None:
            self._append(*self._held)
            self._held, self._unstamped = None, True
        if self._unstamped:
            self._append(received, p, u)
        else:
            self._held = received, p, u

    def _append(self, stamp: int, p: Array, u: Array) -> None:
        if stamp < self._last:
            self.counts['clock_back'] += 1
        self._last = stamp
        self._stamps.append(stamp)
        self._rows.append((p, u))
