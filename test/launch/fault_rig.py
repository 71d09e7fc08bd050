# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A node that sees and asks what a user does of the chain of `fault_chain`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import math
import os
from pathlib import Path
import re
import signal
import time

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from fault_answers import Answers
from fault_chain import ARM, Chain, RATE
from launch_ros.actions import Node
import numpy as np
from rcl_interfaces.msg import Log, Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter as NodeParameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from dynid_ros.ros.nodes.common import lockstep
from dynid_ros.ros.nodes.simulated.simulation_loop import CLOCK_PERIOD

DEPTH = 2000
#: Longest wait for anything, s: ten seconds of simulated time took two minutes of a processor that
#: was six times slower than the fast kind, and had nine nodes to run.
PATIENCE = 600.0
#: Time after which a question is asked again, s.
AGAIN = 3.0
#: Speed that shows that the arm moves, and that at which it stands, rad/s.
MOVING, STANDING = 0.05, 0.02
#: Speed that the motion does not reach, rad/s.
FASTEST = 2.0


class Bench:
    """
    A user's view: topics, services and what the processes print.

    Attributes
    ----------
    now : float
        Newest time of the arm that was heard, s.
    states : list of JointState
        All since `begin`.
    answers : Answers
        The answers to faults.

    """

    def __init__(self, chain: Chain, proc_info, proc_output) -> None:
        # Of its own, so that other tests of this process find rclpy as they left it.
        self._context = rclpy.Context()
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self._executor = SingleThreadedExecutor(context=self._context)
        self.node = rclpy.create_node(
            'bench', context=self._context,
            parameter_overrides=[NodeParameter('use_sim_time', value=True)])
        self._executor.add_node(self.node)
        self.chain, self._info, self._output = chain, proc_info, proc_output
        self.states: list[JointState] = []
        self.now, self._latest = 0.0, math.inf
        self.answers = Answers(self)
        self._statuses: dict = {}
        self._clients: dict = {}
        self._due = time.monotonic()
        self._lockstep = lockstep.Answers(self.node, ['/joint_states'])
        self.node.create_subscription(JointState, 'joint_states', self._see, DEPTH)
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._hear, 100)
        self.node.create_subscription(Clock, '/clock', self._tick, 10)
        # What a node said before it was known here counts as well.
        self.node.create_subscription(
            Log, '/rosout', lambda m: self.answers.hear(m.name, m.msg), QoSProfile(
                depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL))
        self._since = 0
        for name in ('goal', 'short', 'torque', 'other'):
            client = self.node.create_client(Trigger, f'/{name}/start')
            self.until(client.service_is_ready, name)
        self.data_goes_on()

    def close(self) -> None:
        self.answers.show()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _hear(self, message: DiagnosticArray) -> None:
        self._statuses |= {status.name: status for status in message.status}
        for status in message.status:
            values = {value.key: value.value for value in status.values}
            told = '; '.join(f'{key} {value}' for key, value in values.items())
            self.answers.hear(status.name, f'{status.message}; {told}', values)

    def _tick(self, message: Clock) -> None:
        self.now = max(self.now, seconds_of(message.clock))

    def _see(self, message: JointState) -> None:
        if len(message.velocity) < ARM.n - 1:
            # Of nobody's arm; answered instead of a state, it would stop the time.
            return
        self.states.append(message)
        # A stamp between two messages of the clock; all others are faults.
        time_of = stamp(message)
        if self.now < time_of < self.now + CLOCK_PERIOD + 1 / RATE:
            self.now = time_of
        self._lockstep.heard(message.header.stamp)

    def _let_time_pass(self) -> None:
        """Answer the last state, not earlier than in real time."""
        now = time.monotonic()
        if self._lockstep.owed and now >= self._due and self.now < self._latest:
            self._due = max(self._due + 1 / RATE, now - 1 / RATE)
            self._lockstep.answer()

    @contextmanager
    def time_until(self, latest: float) -> Iterator[None]:
        """Stop the time of the arm there: who hears by DDS alone is as slow as the processor."""
        self._latest = latest
        yield
        self._latest = math.inf

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Spin until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f'{what}: not within {PATIENCE} s; {self.summary()}'
            self._let_time_pass()
            self._executor.spin_once(timeout_sec=1 / RATE)

    def summary(self) -> str:
        said = {name: status.message for name, status in self._statuses.items()}
        return f'diagnostics {said}; printed {self.printed()}'

    def begin(self) -> None:
        """Look only at what is printed and measured from here on."""
        self._since = len(list(self._output))
        self.states.clear()
        self.answers.forget()
        self.until(lambda: self.states, 'states')

    def printed(self) -> str:
        """Return what all nodes printed since `begin`."""
        return ''.join(io.text.decode() for io in list(self._output)[self._since:])

    def until_printed(self, words: str) -> None:
        """Wait until a node prints something."""
        self.until(lambda: re.search(words, self.printed()), f'{words!r} in the log')

    def until_diagnosed(self, name: str, words: str, level: bytes) -> None:
        """Wait for a status of a name that begins so."""
        def named():
            return any(key.startswith(name) and status.level == level
                       and re.search(words, status.message)
                       for key, status in self._statuses.items())

        self.until(named, f'{words!r} in the diagnostics of {name}')

    def count(self, name: str, key: str) -> int:
        """Return a number that the diagnostics have now."""
        return int(self.value(name, key) or '0')

    def value(self, name: str, key: str) -> str:
        """Return a value that the diagnostics have now; empty if they have none."""
        values = self._statuses[name].values if name in self._statuses else ()
        return next((value.value for value in values if value.key == key), '')

    def level(self, name: str) -> bytes:
        """Return the level that the diagnostics have now."""
        return self._statuses[name].level

    def until_more(self, name: str, key: str, least: int = 1) -> None:
        """Wait until a number in the diagnostics has grown."""
        before = self.count(name, key)
        self.until(lambda: self.count(name, key) >= before + least, f'more {key} of {name}')

    def data_goes_on(self) -> None:
        """See samples learned from and bytes recorded."""
        self.until_more('identifier: stream', 'samples')
        self.until_more('recorder: bag', 'bytes')

    def call(self, name: str, kind=Trigger, **fields):
        """Call a service and return its answer."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client, asked = self._clients[name], []

        def answered():
            # A question to a process that was killed is lost.
            if client.service_is_ready() and (
                    not asked or time.monotonic() > asked[-1][0] + AGAIN):
                asked.append((time.monotonic(), client.call_async(kind.Request(**fields))))
            return any(future.done() for _, future in asked)

        self.until(answered, f'answer of {name}')
        return next(future.result() for _, future in asked if future.done())

    def inject(self, fault: str) -> float:
        """Let the stream go wrong with the next state; return the time of the arm."""
        self.answers.forget()
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=fault)
        answer = self.call(
            '/simulated_arm/set_parameters', SetParameters,
            parameters=[Parameter(name='fault', value=value)])
        assert answer.results[0].successful, answer.results[0].reason
        return self.answers.until('simulated_arm', 'fault injected').time

    def move(self, publisher: str) -> None:
        """Begin a motion, as soon as it is allowed, and wait until the arm is well on its way."""
        def moves():
            self.begin()
            answer = self.call(f'/{publisher}/start')
            if 'aborted because' in answer.message:
                # It saw what has just ended, such as a second publisher, a moment longer.
                self.call(f'/{publisher}/stop')
            # Of a question that is asked again the first answer may be lost.
            begun = answer.success or re.search('(start|running) already', answer.message)
            if begun:
                self.until(lambda: self.speed() > MOVING or 'aborted' in self.printed(), 'motion')
            return begun and 'aborted' not in self.printed()

        self.until(moves, 'a start')
        self.begin()

    def speed(self) -> float:
        return speed_of(self.states[-1])

    def until_at_rest(self) -> None:
        """Wait for standstill of some length, and see that the arm stays and never was faster."""
        def stands():
            return max(map(speed_of, self.states[-75:])) < STANDING

        self.until(stands, 'standstill')
        assert max(map(speed_of, self.states)) < FASTEST
        held = np.array(self.states[-1].position)
        assert np.abs(held - self.later(0.5).position).max() < 0.02

    def later(self, seconds: float) -> JointState:
        """Return the first state that comes so long after this one, by the clock of the arm."""
        begun = self.now
        self.until(lambda: self.now > begun + seconds, 'time of the arm')
        return self.states[-1]

    def kill(self, node: Node) -> None:
        """Kill the process of a node, and see that it, and nothing else, dies."""
        before = self.alive()
        os.kill(before[node], signal.SIGKILL)
        self.until(lambda: not Path(f'/proc/{before[node]}').exists(), 'the end of the process')
        left = self.alive().items() & before.items()
        assert len(left) == len(before) - 1, f'{left} are left of {before}'

    def alive(self) -> dict[Node, int]:
        """Return the processes that there are."""
        pids = {node: self._info[node].pid for node in self.chain.nodes}
        return {node: pid for node, pid in pids.items() if Path(f'/proc/{pid}').exists()}


def speed_of(message: JointState) -> float:
    """Return the speed of the fastest joint, rad/s."""
    return float(np.abs(message.velocity).max())


def stamp(message: JointState) -> float:
    """Return the time of a message, s."""
    return seconds_of(message.header.stamp)


def seconds_of(time: Time) -> float:
    """Return the seconds of a stamp."""
    return float(time.sec + time.nanosec * 1e-9)
