# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes with the part of ``rclpy.node`` that this package uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from dynid_ros.errors import InputError
from dynid_ros.ros.stand_in.arguments import FULL_NAME
from dynid_ros.ros.stand_in.dds import QoSProfile, ReliabilityPolicy
from dynid_ros.ros.stand_in.endpoints import Client, Publisher, Service, Subscription
from dynid_ros.ros.stand_in.graph import EndpointInfo
from dynid_ros.ros.stand_in.log import Logger
from dynid_ros.ros.stand_in.messages import decode, message_class
from dynid_ros.ros.stand_in.parameters import Parameters
from dynid_ros.ros.stand_in.spin import Clock, CONTEXT, Timer

#: As rclpy listens to the simulated time: only the newest counts.
CLOCK_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)

_End = TypeVar('_End', bound=Publisher | Subscription)


class Node(Parameters):
    """A node; its own names start with two underscores, to leave all others to subclasses."""

    def __init__(self, node_name: str) -> None:
        arguments = CONTEXT.arguments
        self.__name = arguments.remap('__node', node_name) or node_name
        self.__namespace = '/' + (arguments.remap('__ns', self.__name) or '').strip('/')
        full = self.get_fully_qualified_name()
        self.__logger = Logger(full.strip('/').replace('/', '.'))
        if not FULL_NAME.fullmatch(full):
            raise InputError(f"'{full}' is not a valid name of a node")
        self.__ends: list[Any] = []
        self.inboxes: list[Subscription] = []
        self.timers: list[Timer] = []
        # Whether the last piece of work was a timer's.
        self.timed = False
        super().__init__(arguments.overrides(full))
        for name, kind, answer in self.parameter_services():
            self.create_service(kind, f'~/{name}', answer)
        self.__clock = Clock()
        if self.declare_parameter('use_sim_time', False).value:
            self.__clock.simulated = 0
            self.create_subscription(
                message_class('rosgraph_msgs/msg/Clock'), '/clock', self.__set_clock, CLOCK_QOS)

    def get_name(self) -> str:
        """Name without namespace."""
        return self.__name

    def get_fully_qualified_name(self) -> str:
        """Name with namespace."""
        return f'{self.__namespace.rstrip("/")}/{self.__name}'

    def get_logger(self) -> Logger:
        """Return the logger."""
        return self.__logger

    def get_clock(self) -> Clock:
        """Return the clock."""
        return self.__clock

    def resolve_topic_name(self, topic: str) -> str:
        """Full name after remapping."""
        return CONTEXT.arguments.resolve(topic, self.__namespace, self.__name)

    def create_publisher(
        self, msg_type: Any, topic: str, qos_profile: QoSProfile | int,
    ) -> Publisher:
        """Make a publisher."""
        return self.__join(Publisher(self, msg_type, topic, _profile(qos_profile)))

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[[Any], Any],
        qos_profile: QoSProfile | int, *, raw: bool = False,
    ) -> Subscription:
        """Make a subscription."""
        name = self.resolve_topic_name(topic)
        reader = CONTEXT.participant.reader(f'rt{name}', msg_type.TYPE, _profile(qos_profile))
        read = bytes if raw else partial(decode, name=msg_type.TYPE)
        return self.__join(Subscription(name, reader, read, callback, self.__logger))

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[[Any, Any], Any],
    ) -> Service:
        """Make a service."""
        return self.__join(Service(self, srv_type, srv_name, callback))

    def create_client(self, srv_type: Any, srv_name: str) -> Client:
        """Make a client."""
        return self.__join(Client(self, srv_type, srv_name))

    def create_timer(
        self, timer_period_sec: float, callback: Callable[[], None], *,
        clock: Clock | None = None,
    ) -> Timer:
        """Make a timer, by the clock of the node if none is given."""
        self.timers.append(Timer(timer_period_sec, callback, clock or self.__clock))
        return self.timers[-1]

    def get_publishers_info_by_topic(self, topic_name: str) -> list[EndpointInfo]:
        """Find the publishers of a topic, anywhere."""
        return CONTEXT.graph.endpoints('publishers', f'rt{self.resolve_topic_name(topic_name)}')

    def get_subscriptions_info_by_topic(self, topic_name: str) -> list[EndpointInfo]:
        """Find the subscriptions to a topic, anywhere."""
        name = self.resolve_topic_name(topic_name)
        return CONTEXT.graph.endpoints('subscriptions', f'rt{name}')

    def destroy_publisher(self, end: Any) -> None:
        """Send and hear no more through a publisher, subscription, service or client."""
        self.__ends.remove(end)
        if isinstance(end, Subscription):
            self.inboxes.remove(end)
            CONTEXT.forget(end)
        end.reader = end.writer = None
        self.__announce()

    destroy_subscription = destroy_service = destroy_client = destroy_publisher

    def destroy_node(self) -> None:
        """Leave the graph."""
        self.timers.clear()
        for end in tuple(self.__ends):
            self.destroy_publisher(end)

    def __getattr__(self, name: str) -> Any:
        hint = '' if name.startswith('_') else ' is not supported without ROS 2'
        raise AttributeError(f'Node.{name}{hint}')

    def __set_clock(self, message: Any) -> None:
        self.__clock.simulated = message.clock.sec * 10**9 + message.clock.nanosec

    def __join(self, end: _End) -> _End:
        self.__ends.append(end)
        if isinstance(end, Subscription):
            self.inboxes.append(end)
            CONTEXT.watch(end)
        self.__announce()
        return end

    def __announce(self) -> None:
        CONTEXT.graph.announce(
            (self.__namespace, self.__name), [inbox.reader.guid for inbox in self.inboxes],
            [end.writer.guid for end in self.__ends if end.writer is not None])


def _profile(qos: QoSProfile | int) -> QoSProfile:
    """Profile of a bare depth."""
    return QoSProfile(depth=qos) if isinstance(qos, int) else qos
