# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Endpoints of a node: publishers, subscriptions, services and clients."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
import re
import secrets
import struct
import time
from typing import Any

from cyclonedds.qos import Policy
from rosbags.serde import SerdeError

from dynid_ros.ros.stand_in.dds import QoSProfile, settled, take, write
from dynid_ros.ros.stand_in.log import Logger
from dynid_ros.ros.stand_in.messages import decode, encode
from dynid_ros.ros.stand_in.spin import CONTEXT

#: Identifier of the client and number of the request, before each request and its reply.
_HEADER = struct.Struct('<Qq')
_ENCAPSULATION = b'\0\1\0\0'
#: First bytes of identifiers of endpoints of Cyclone DDS (RTPS 2.3, 9.3.1.5); with other vendors,
#: services have other headers.
_VENDOR = b'\1\x10'
#: Identity of a client, in the user data of its reader and of its writer.
_IDENTITY = re.compile(rb'clientid=([0-9a-f.]+);')
#: Longest time from a request until its client is known to listen, s: a starved processor, or a
#: network that loses packets, needs some seconds.
_FOUND = 10.0
#: Requests and answers that wait: none must push out another while the node is busy.
_QUEUE = QoSProfile(depth=100)


class Publisher:
    """Sends messages on a topic."""

    reader = None

    def __init__(self, node: Any, kind: Any, topic: str, qos: QoSProfile) -> None:
        self._kind = kind
        self.topic_name = node.resolve_topic_name(topic)
        self.writer: Any = CONTEXT.participant.writer(f'rt{self.topic_name}', kind.TYPE, qos)

    def publish(self, message: Any) -> None:
        """Send a message."""
        if not isinstance(message, self._kind):
            raise TypeError(f'{self.topic_name} is of {self._kind.TYPE}, not of {message!r}')
        write(self.writer, encode(message))

    def get_subscription_count(self) -> int:
        """Count the subscriptions."""
        return len(settled(self.writer.get_matched_subscriptions))


class Subscription:
    """
    Keeps the messages that have arrived, and passes them on one by one.

    Parameters
    ----------
    topic : str
        Full name.
    reader : DataReader
        Where messages arrive.
    read : callable
        Decodes CDR.
    callback : callable
        Takes each message.
    logger : Logger
        Logs messages that cannot be read.

    Attributes
    ----------
    refused : int
        Messages that could not be read.

    """

    writer: Any = None

    def __init__(
        self, topic: str, reader: Any, read: Callable[[bytes], Any],
        callback: Callable[..., Any], logger: Logger,
    ) -> None:
        self.topic_name = topic
        self.reader = reader
        self.refused = 0
        self._read = read
        self._callback = callback
        self._logger = logger
        self._held: deque[tuple[bytes, int]] = deque()

    def ready(self) -> bool:
        """Whether a message waits."""
        if not self._held:
            self._held.extend(take(self.reader))
        return bool(self._held)

    def run(self) -> None:
        """Pass on the oldest message."""
        cdr, sender = self._held.popleft()
        try:
            message = self._read(cdr)
        except SerdeError as error:
            self.refused += 1
            self._logger.warning(
                f'{self.topic_name}: {self.refused} messages refused: {error}',
                throttle_duration_sec=5.0)
        else:
            self._hand_on(message, sender)

    def _hand_on(self, message: Any, sender: int) -> None:  # noqa: ARG002
        self._callback(message)


class _Pair(Subscription):
    """Reader and writer of a service or of its client; messages keep their header."""

    def __init__(
        self, node: Any, kind: Any, srv_name: str, callback: Callable[..., Any], *, serves: bool,
    ) -> None:
        self.srv_type = kind
        name, participant = node.resolve_topic_name(srv_name), CONTEXT.participant
        sides = [(f'rq{name}Request', kind.Request.TYPE), (f'rr{name}Reply', kind.Response.TYPE)]
        incoming, outgoing = sides if serves else sides[::-1]
        # Joins the reader and the writer that belong together.
        identity = '.'.join(f'{byte:02x}' for byte in secrets.token_bytes(16))
        user_data = f'{"serviceid" if serves else "clientid"}={identity};'
        reader = participant.reader(*incoming, _QUEUE, service=user_data)
        super().__init__(name, reader, partial(_split, incoming[1]), callback, node.get_logger())
        self.writer = participant.writer(*outgoing, _QUEUE, service=user_data)

    def _send(self, header: bytes, message: Any) -> None:
        write(self.writer, _ENCAPSULATION + header + encode(message)[4:])


class Service(_Pair):
    """
    Answers requests by a callback, whose answer may be a future.

    The reader of a new client may be found after its writer, and would miss the answer: that one
    is kept until the reader is there. rmw_cyclonedds waits for it, and for 0.1 s only.
    """

    def __init__(self, node: Any, kind: Any, name: str, callback: Callable[..., Any]) -> None:
        super().__init__(node, kind, name, callback, serves=True)
        self._owed: list[tuple[float, bytes, bytes, Any]] = []

    def ready(self) -> bool:
        """Whether a request waits, or an answer whose client listens by now."""
        return any(map(self._due, self._owed)) or super().ready()

    def run(self) -> None:
        """Send the answers that are due, and take the oldest request."""
        self._send_due()
        if self._held:
            super().run()

    def _hand_on(self, message: tuple[bytes, Any], sender: int) -> None:
        header, request = message
        client = _client(self.reader.get_matched_publication_data(sender))
        answer = self._callback(request, self.srv_type.Response())
        if isinstance(answer, Future):
            answer.add_done_callback(lambda future: self._reply(client, header, future.result()))
        else:
            self._reply(client, header, answer)

    def _reply(self, client: bytes, header: bytes, response: Any) -> None:
        self._owed.append((time.monotonic() + _FOUND, client, header, response))
        self._send_due()

    def _send_due(self) -> None:
        for owed in filter(self._due, tuple(self._owed)):
            self._owed.remove(owed)
            self._send(*owed[2:])

    def _due(self, owed: tuple[float, bytes, bytes, Any]) -> bool:
        end, client, *_ = owed
        readers = (self.writer.get_matched_subscription_data(handle)
                   for handle in settled(self.writer.get_matched_subscriptions))
        return not client or time.monotonic() > end or client in map(_client, readers)


class Client(_Pair):
    """Asks a service."""

    def __init__(self, node: Any, kind: Any, name: str) -> None:
        super().__init__(node, kind, name, self._answered, serves=False)
        self._guid = secrets.randbits(63)
        self._waiting: dict[bytes, Future[Any]] = {}
        self._number = 0
        # Readers of the requests, and the keys of their servers.
        self._matched: list[int] = []
        self._servers: list[bytes] = []

    def service_is_ready(self) -> bool:
        """Whether there is a server on Cyclone DDS."""
        matched, servers = settled(self.writer.get_matched_subscriptions), self._servers
        # A node asks often, and Cyclone DDS decodes all settings of a reader for its key.
        if matched != self._matched:
            ends = map(self.writer.get_matched_subscription_data, matched)
            # One may have gone between the two.
            servers = [end.key.bytes for end in ends if end is not None]
            self._matched, self._servers = matched, servers
        if servers and not any(server.startswith(_VENDOR) for server in servers):
            self._logger.warning(
                f'{self.topic_name} is served by a node that is not on Cyclone DDS; start that '
                'node with RMW_IMPLEMENTATION=rmw_cyclonedds_cpp', throttle_duration_sec=5.0)
            return False
        return bool(servers and settled(self.reader.get_matched_publications))

    def call_async(self, request: Any) -> Future[Any]:
        """Ask; the future has the response when it comes."""
        self._number += 1
        header = _HEADER.pack(self._guid, self._number)
        future = self._waiting[header] = Future()
        self._send(header, request)
        return future

    def _answered(self, received: tuple[bytes, Any]) -> None:
        # Other clients of the service hear its answers to this one, and this one theirs.
        header, response = received
        if header in self._waiting:
            self._waiting.pop(header).set_result(response)


def _client(endpoint: Any) -> bytes:
    """Identity of the client that a matched reader or writer belongs to; empty without one."""
    if endpoint is None or Policy.Userdata not in endpoint.qos:
        return b''
    found = _IDENTITY.search(endpoint.qos[Policy.Userdata].data)
    return found[1] if found else b''


def _split(name: str, cdr: bytes) -> tuple[bytes, Any]:
    """Header and message; bytes that swap are refused, as no robot here is big-endian."""
    if cdr[:2] != _ENCAPSULATION[:2]:
        raise SerdeError('not little-endian')
    end = 4 + _HEADER.size
    return cdr[4:end], decode(_ENCAPSULATION + cdr[end:], name)
