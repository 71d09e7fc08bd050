# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Simulated time in the hands of a test."""

from collections.abc import Callable, Sequence
import time

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import rclpy
from ros.nodes.conftest import PATIENCE, Talker
from sensor_msgs.msg import JointState

from dynid_ros.ros.nodes.common.lockstep import (
    ANSWERS_TOPIC,
    CONTROLS,
    NODES_TOPIC,
    part_message,
)

DEPTH = 2000
#: Frame of states that the test publishes itself. Answers to them would push the answer to a state
#: of the arm out of the arm's queue.
OWN = 'test'
#: Parameters of nodes in simulated time, and of an arm that a test alone leads.
SIMULATED = {'use_sim_time': True}
LED = {**SIMULATED, 'lockstep': ['talker']}


class Pace:
    """
    States of an arm in lockstep, which goes on only while the test waits for something.

    The test is a node that the arm waits for, by the protocol of
    `dynid_ros.ros.nodes.common.lockstep`. It answers a state when its condition does not hold yet,
    so that it sees each state, and no time passes between what it sees and what it does about it.
    Where the time is real, nobody listens to the answers, and all else is the same.

    Parameters
    ----------
    talker : Talker
        The node of the test.

    Attributes
    ----------
    states : list of JointState
        All that have come.
    time : float
        Newest stamp, s.

    """

    def __init__(self, talker: Talker) -> None:
        self.talker = talker
        self.states: list[JointState] = []
        self.time = 0.0
        self._heard = time.monotonic()
        self._unanswered: JointState | None = None
        self._answers = talker.node.create_publisher(JointState, ANSWERS_TOPIC, 100)
        self._parts = talker.node.create_publisher(DiagnosticArray, NODES_TOPIC, 100)
        talker.node.create_subscription(JointState, 'joint_states', self._hear, DEPTH)
        talker.node.create_timer(0.05, self._join)

    def forget(self) -> None:
        """Begin anew, with another arm."""
        self.states.clear()
        self.time, self._unanswered = 0.0, None

    def _hear(self, message: JointState) -> None:
        if message.header.frame_id == OWN:
            return
        self._heard = time.monotonic()
        self.states.append(message)
        self._unanswered = message
        self.time = max(self.time, stamp(message))

    def _join(self) -> None:
        if not self.states:
            self._parts.publish(part_message('/talker', CONTROLS, [('/talker', '/joint_states')]))

    def answer(self, efforts: Sequence[float] = ()) -> None:
        """Let the next state come; torques are what was commanded for the last one."""
        if self._unanswered is not None:
            message, self._unanswered = JointState(effort=efforts), None
            message.header.stamp = self.states[-1].header.stamp
            message.header.frame_id = '/talker'
            self._answers.publish(message)

    def until(
        self, condition: Callable[[], object], what: str, seconds: float = 10.0,
        act: Callable[[], Sequence[float]] = tuple,
    ) -> None:
        """
        Let time pass until a condition holds; it is asked after each state.

        Parameters
        ----------
        condition : callable
            What is waited for.
        what : str
            The same in words.
        seconds : float
            Longest time by the stamps of the states, s.
        act : callable
            Commands something for each state, and returns the torques.

        """
        end = self.time + seconds
        self._heard = time.monotonic()
        while not condition():
            assert self.time <= end, f'{what}: not within {seconds} s of the arm'
            assert time.monotonic() < self._heard + PATIENCE, f'{what}: nothing comes any more'
            if self._unanswered is not None:
                self.answer(act())
            rclpy.spin_once(self.talker.node, timeout_sec=0.02)

    def after(self, seconds: float) -> None:
        """Let time pass."""
        end = self.time + seconds
        self.until(lambda: self.time >= end, 'time', seconds + 1.0)

    def speed(self, message: JointState | None = None) -> float:
        """Speed of the fastest joint, now or in a state, rad/s."""
        return float(np.abs((message or self.states[-1]).velocity).max())

    def at_rest(self) -> bool:
        """Whether the arm stands still."""
        return self.speed() < 0.02

    def wait_rest(self, seconds: float = 3.0) -> np.ndarray:
        """Wait until the arm stands still, and not only turns round; return where it stands."""
        self.until(lambda: all(self.speed(state) < 0.02 for state in self.last(0.2)),
                   'standstill', seconds)
        return np.array(self.states[-1].position)

    def last(self, seconds: float) -> list[JointState]:
        """Return the states of the last time, s; all of an arm that has not lived so long."""
        begin = next((k for k in range(len(self.states) - 1, -1, -1)
                      if stamp(self.states[k]) < self.time - seconds), 0)
        return self.states[begin:]


def stamp(message: JointState) -> float:
    """Return the stamp of a message, s."""
    return float(message.header.stamp.sec + message.header.stamp.nanosec * 1e-9)
