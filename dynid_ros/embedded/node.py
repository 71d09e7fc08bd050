"""Nodes with the part of ``rclpy.node`` that this package uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosbags.serde import SerdeError

from dynid_ros.embedded.dds import write
from dynid_ros.embedded.graph import EndpointInfo
from dynid_ros.embedded.log import Logger
from dynid_ros.embedded.messages import decode, encode
from dynid_ros.embedded.names import FULL, resolve
from dynid_ros.embedded.parameters import Parameter, ParameterStore
from dynid_ros.embedded.qos import profile_of, QoSProfile
from dynid_ros.embedded.services import Client, Service
from dynid_ros.embedded.spin import CONTEXT, Inbox, Timer
from dynid_ros.embedded.times import Clock
from dynid_ros.errors import InputError


class Publisher:
    """Sends messages on a topic."""

    def __init__(self, kind: Any, topic: str, qos: QoSProfile) -> None:
        self._kind = kind
        self.topic_name = topic
        self.writer = CONTEXT.participant.writer(f'rt{topic}', kind.TYPE, qos)

    def publish(self, message: Any) -> None:
        """Send a message."""
        if not isinstance(message, self._kind):
            raise TypeError(f'{self.topic_name} is of {self._kind.TYPE}, not of {message!r}')
        write(self.writer, encode(message))

    def get_subscription_count(self) -> int:
        """Count who listens."""
        return len(self.writer.get_matched_subscriptions())


class Subscription:
    """
    Hands on messages of a topic.

    Attributes
    ----------
    refused : int
        Messages that could not be read.

    """

    def __init__(
        self, kind: Any, topic: str, callback: Callable[[Any], Any], qos: QoSProfile,
        logger: Logger, raw: bool,
    ) -> None:
        self._read = bytes if raw else lambda cdr: decode(cdr, kind.TYPE)
        self._callback = callback
        self._logger = logger
        self.topic_name = topic
        self.refused = 0
        self.inbox = Inbox(
            CONTEXT.participant.reader(f'rt{topic}', kind.TYPE, qos), self._take)

    def _take(self, cdr: bytes) -> None:
        try:
            message = self._read(cdr)
        except SerdeError as error:
            self.refused += 1
            self._logger.warning(
                f'{self.topic_name}: {self.refused} messages refused: {error}',
                throttle_duration_sec=5.0)
        else:
            self._callback(message)


class Node:
    """A node; names of its own begin with two underscores, to leave all others to its heirs."""

    def __init__(self, node_name: str, *, namespace: str = '') -> None:
        arguments = CONTEXT.arguments
        self.__name = arguments.remap('__node', node_name) or node_name
        self.__namespace = '/' + (arguments.remap('__ns', self.__name) or namespace).strip('/')
        full = self.get_fully_qualified_name()
        if not FULL.fullmatch(full):
            raise InputError(f"'{full}' is no name of a node")
        self.__logger = Logger(full.strip('/').replace('/', '.'))
        self.__writers: list[Any] = []
        self.inboxes: list[Inbox] = []
        self.timers: list[Timer] = []
        self.__parameters = ParameterStore(arguments.overrides(full))
        for name, (kind, answer) in self.__parameters.services().items():
            self.create_service(kind, f'~/{name}', answer)
        if self.declare_parameter('use_sim_time', False).value:
            raise InputError('use_sim_time is not supported without ROS 2')

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
        return Clock()

    def resolve_topic_name(self, topic: str) -> str:
        """Full name after remapping."""
        return resolve(topic, self.__namespace, self.__name, CONTEXT.arguments)

    def create_publisher(
        self, msg_type: Any, topic: str, qos_profile: QoSProfile | int,
    ) -> Publisher:
        """Make a publisher."""
        made = Publisher(msg_type, self.resolve_topic_name(topic), profile_of(qos_profile))
        self.__join(made.writer)
        return made

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[[Any], Any],
        qos_profile: QoSProfile | int, *, raw: bool = False,
    ) -> Subscription:
        """Make a subscription."""
        made = Subscription(
            msg_type, self.resolve_topic_name(topic), callback, profile_of(qos_profile),
            self.__logger, raw)
        self.__join(None, made.inbox)
        return made

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[[Any, Any], Any],
    ) -> Service:
        """Make a service."""
        made = Service(
            CONTEXT.participant, srv_type, self.resolve_topic_name(srv_name), callback)
        self.__join(made.writer, made.inbox)
        return made

    def create_client(self, srv_type: Any, srv_name: str) -> Client:
        """Make a client."""
        made = Client(CONTEXT.participant, srv_type, self.resolve_topic_name(srv_name))
        self.__join(made.writer, made.inbox)
        return made

    def create_timer(
        self, timer_period_sec: float, callback: Callable[[], None], *,
        clock: Clock | None = None,  # noqa: ARG002 - none of them ever steps back here
    ) -> Timer:
        """Make a timer."""
        self.timers.append(Timer(timer_period_sec, callback))
        return self.timers[-1]

    def get_publishers_info_by_topic(self, topic_name: str) -> list[EndpointInfo]:
        """Who publishes a topic, anywhere."""
        return CONTEXT.graph.endpoints('publishers', f'rt{self.resolve_topic_name(topic_name)}')

    def get_subscriptions_info_by_topic(self, topic_name: str) -> list[EndpointInfo]:
        """Who listens to a topic, anywhere."""
        return CONTEXT.graph.endpoints(
            'subscriptions', f'rt{self.resolve_topic_name(topic_name)}')

    def declare_parameter(
        self, name: str, value: Any = None, descriptor: Any = None,
    ) -> Parameter:
        """Declare a parameter."""
        return self.__parameters.declare(name, value, descriptor)

    def get_parameter(self, name: str) -> Parameter:
        """Find a parameter."""
        return self.get_parameter_or(name, Parameter(name))

    def get_parameter_or(self, name: str, alternative_value: Parameter) -> Parameter:
        """Find a parameter, or take another."""
        return self.__parameters.get(name) or alternative_value

    def add_on_set_parameters_callback(
        self, callback: Callable[[list[Parameter]], Any],
    ) -> None:
        """Ask a callback before a parameter changes."""
        self.__parameters.checks.append(callback)

    def destroy_publisher(self, publisher: Publisher) -> None:
        """Publish no more."""
        self.__writers.remove(publisher.writer)
        del publisher.writer
        self.__tell()

    def destroy_subscription(self, subscription: Subscription) -> None:
        """Listen no more."""
        self.__leave(subscription.inbox)

    def destroy_service(self, service: Service | Client) -> None:
        """Answer, or ask, no more."""
        self.__writers.remove(service.writer)
        self.__leave(service.inbox)
        del service.writer

    def destroy_node(self) -> None:
        """Leave the graph."""
        self.__writers.clear()
        self.timers.clear()
        for inbox in tuple(self.inboxes):
            self.__leave(inbox)

    def __getattr__(self, name: str) -> Any:
        hint = '' if name.startswith('_') else ' is not supported without ROS 2'
        raise AttributeError(f'Node.{name}{hint}')

    def __join(self, writer: Any, inbox: Inbox | None = None) -> None:
        if writer is not None:
            self.__writers.append(writer)
        if inbox is not None:
            self.inboxes.append(inbox)
            CONTEXT.watch(inbox)
        self.__tell()

    def __leave(self, inbox: Inbox) -> None:
        self.inboxes.remove(inbox)
        CONTEXT.forget(inbox)
        del inbox.reader
        self.__tell()

    def __tell(self) -> None:
        CONTEXT.graph.tell(
            (self.__namespace, self.__name), [inbox.reader.guid for inbox in self.inboxes],
            [writer.guid for writer in self.__writers])
