# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Real nodes in processes of their own, and a node of the test that talks to them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
import os
from pathlib import Path
import signal
import sys
import time
from typing import Any

import pytest
from ros.nodes.forked import forks, run_node

from dynid_ros.errors import InputError
from dynid_ros.ros.stand_in import step_in

# Without ROS 2 the tests, too, go through what stands in for it; with neither they are left out.
with suppress(InputError):
    step_in()
#: Samples per second, at most: some middlewares lose messages of long bursts.
RATE = 2500
#: Messages that nodes may be behind: a quarter of those that wait for a bag without rosbag2.
AHEAD = 500
#: Time that two processes may take longer than one another to find each other, s.
MEETING = 0.3
#: Nodes that learn from what a test plays, and the bag of the recorder.
NODES = ('identifier', 'recorder', 'recorder_bag', 'monitor', 'wrist_sensor')
#: Time that a busy machine is given for what takes a moment, s.
PATIENCE = 180.0


@pytest.fixture(autouse=True)
def domain() -> Iterator[None]:
    """Keep out of the way of all other nodes, also of those that the test before has killed."""
    from dynid_ros.interface.demo.processes import own_domain

    with own_domain():
        yield


class Process:
    """A node in a process of its own, and what it prints, in a file."""

    def __init__(self, log: Path, module: str, **parameters: object) -> None:
        arguments = ['--ros-args']
        for name, value in parameters.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            arguments += ['-p', f'{name}:={text}']
        self._log = log
        log.touch()
        self._process = forks().Process(
            target=run_node, args=(module, arguments, log, dict(os.environ)))
        self._process.start()
        self.pid = self._process.pid

    @property
    def printed(self) -> str:
        """Return the lines that the node has printed so far."""
        return self._log.read_text()

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.exitcode is not None

    def send(self, number: int) -> None:
        """Send a signal, if there is anybody who takes it."""
        if not self.ended:
            os.kill(self.pid, number)

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Send a signal; return exit status and all that was printed."""
        self.send(number)
        return self.end()

    def end(self) -> tuple[int, str]:
        """Wait for the end; return exit status and all that was printed."""
        self._process.join(PATIENCE)
        self._process.kill()
        self._process.join()
        return self._process.exitcode, self.printed

    def kill(self) -> None:
        """Leave nothing behind, whatever the node still wants; show what it said."""
        self._process.kill()
        self._process.join()
        print(self.printed)


@pytest.fixture
def start(tmp_path_factory) -> Iterator[Callable[..., Process]]:
    """Start nodes that are gone after the test."""
    running = []
    logs = tmp_path_factory.mktemp('logs')

    def begin(module: str, **parameters: object) -> Process:
        running.append(Process(logs / f'{len(running)}_{module}.log', module, **parameters))
        return running[-1]

    yield begin
    for process in running:
        process.kill()


class Talker:
    """A node of the test."""

    def __init__(self, name: str) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        import rclpy
        from rclpy.node import Node

        self._rclpy = rclpy
        self.node = Node(name)
        self._met: list[Any] = []
        self._clients: dict[str, Any] = {}
        self._told: dict[str, dict[str, str]] = {}
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._count, 100)

    def _count(self, diagnostics) -> None:
        for status in diagnostics.status:
            self._told[status.name] = {pair.key: pair.value for pair in status.values}

    @property
    def _taken(self) -> dict[str, int]:
        """
        Count the messages that each node took in, by its diagnostics.

        Of the identifier only what it learned from: others may publish on the topic, too.
        """
        counts = {name: values.get('samples', values.get('messages'))
                  for name, values in self._told.items()}
        return {name: int(count) for name, count in counts.items() if count is not None}

    def until(self, condition: Callable[[], bool], what: str,
              seconds: float = PATIENCE) -> None:
        """Spin until a condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, (
                f'{what}: not within {seconds} s; last diagnostics: {self._told}')
            self._rclpy.spin_once(self.node, timeout_sec=0.02)

    def spin(self, seconds: float) -> None:
        """Spin for some time."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end, 'time')

    def call(self, kind, name: str, **fields: object):
        """Call a service and return its answer."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client = self._clients[name]
        self.until(client.service_is_ready, f'service {name}')
        future = client.call_async(kind.Request(**fields))
        self.until(future.done, f'answer of {name}')
        return future.result()

    def listen(self, kind, topic: str, qos=10) -> list:
        """Return a list that messages are appended to."""
        heard: list = []
        self.node.create_subscription(kind, topic, heard.append, qos)
        return heard

    def states(self, reliable: bool = True):
        """Publish joint states."""
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from sensor_msgs.msg import JointState

        policy = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        return self.node.create_publisher(
            JointState, 'joint_states', QoSProfile(depth=2000, reliability=policy))

    def meet(self, publisher, listeners: int | None = None) -> None:
        """Wait until a publisher has met those who listen, by default any."""
        def met() -> bool:
            count = publisher.get_subscription_count()
            return count > 0 if listeners is None else count == listeners

        self.until(met, 'subscriptions')
        if publisher not in self._met:
            # The other side may not have found this one yet, and would miss what is sent now.
            self.spin(MEETING)
            self._wait_for_nodes(publisher)
            self._met.append(publisher)

    def _wait_for_nodes(self, publisher) -> None:
        """Wait until the nodes that listen answer a client that is younger than a publisher."""
        from rcl_interfaces.srv import GetParameters

        def listening() -> set[str]:
            infos = self.node.get_subscriptions_info_by_topic(publisher.topic_name)
            return {f'{info.node_namespace.rstrip("/")}/{info.node_name}' for info in infos}

        for name in listening():
            if name.rpartition('/')[2] not in NODES:
                continue
            # Discovery tells of endpoints in order: who knows the client knows the publisher.
            client = self.node.create_client(GetParameters, f'{name}/get_parameters')
            self.until(lambda name=name, client=client: (
                client.service_is_ready() or name not in listening()), f'services of {name}')
            answer = client.call_async(GetParameters.Request())
            self.until(lambda name=name, answer=answer: (
                answer.done() or name not in listening()), f'an answer of {name}')
            self.node.destroy_client(client)

    def paced(self, samples: Iterable) -> Iterator:
        """Yield samples to be published, steadily, and no faster than nodes take them in."""
        before = self._taken

        def behind(sent: int) -> int:
            # One that was started anew counts from zero.
            taken = [count - (first if count >= (first := before.get(name, 0)) else 0)
                     for name, count in self._taken.items()]
            return sent - min(taken, default=0)

        for sent, sample in enumerate(samples):
            if sent % 50 == 0:
                self._rclpy.spin_once(self.node, timeout_sec=0.0)
                self._follow(lambda sent=sent: behind(sent) - AHEAD, f'{sent} messages taken in')
            time.sleep(1 / RATE)
            yield sample

    def _follow(self, left: Callable[[], int], what: str) -> None:
        """Spin until nothing is left, for as long as it becomes less."""
        least = left()
        while least > 0:
            self.until(lambda least=least: left() < least, what)
            least = left()

    def outlast(self, process: Process) -> tuple[int, str]:
        """Wait for the end of a node as `Process.end`, for as long as simulated time goes on."""
        from rosgraph_msgs.msg import Clock

        ticks = self.listen(Clock, '/clock')
        self._follow(lambda: 0 if process.ended else sys.maxsize - len(ticks),
                     'simulated time that goes on')
        return process.end()

    def play(self, publisher, names, t, q, u, start: int = 10**18) -> None:
        """Publish samples faster than in real time; stamps count from `start`, ns."""
        from sensor_msgs.msg import JointState

        self.meet(publisher)
        for time_, position, effort in self.paced(zip(t, q, u, strict=True)):
            message = JointState(
                name=list(names), position=position.tolist(), effort=effort.tolist())
            stamp = start + round(float(time_) * 1e9)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
            publisher.publish(message)


@pytest.fixture
def talker() -> Iterator[Talker]:
    """Return a node of the test."""
    import rclpy

    rclpy.init()
    made = Talker('talker')
    yield made
    made.node.destroy_node()
    rclpy.shutdown()
