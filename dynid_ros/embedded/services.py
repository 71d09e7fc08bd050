"""Services and clients."""

from __future__ import annotations

from collections.abc import Callable
import secrets
import struct
import time
from typing import Any

from rosbags.serde import SerdeError

from dynid_ros.embedded.dds import Participant, write
from dynid_ros.embedded.messages import decode, encode
from dynid_ros.embedded.qos import QoSProfile
from dynid_ros.embedded.spin import Future, Inbox

#: Who asks, and which question; before each request and its reply.
_HEADER = struct.Struct('<Qq')
_ENCAPSULATION = b'\0\1\0\0'
#: Longest time from a request until its client is known to listen, s.
_FOUND = 0.1


class Service:
    """
    Answers requests.

    Attributes
    ----------
    refused : int
        Requests that could not be read.

    """

    def __init__(
        self, participant: Participant, kind: Any, name: str,
        callback: Callable[[Any, Any], Any],
    ) -> None:
        pair = _pair_id('serviceid')
        self._kind = kind
        self._callback = callback
        self.writer = participant.writer(
            f'rr{name}Reply', kind.Response.TYPE, QoSProfile(), service=pair)
        self.inbox = Inbox(participant.reader(
            f'rq{name}Request', kind.Request.TYPE, QoSProfile(), service=pair), self._answer)
        self.refused = 0

    def _answer(self, cdr: bytes) -> None:
        try:
            header, request = _split(cdr, self._kind.Request.TYPE)
        except (SerdeError, struct.error):
            self.refused += 1
            return
        answer = self._callback(request, self._kind.Response())
        if isinstance(answer, Future):
            answer.add_done_callback(lambda future: self._reply(header, future.result()))
        else:
            self._reply(header, answer)

    def _reply(self, header: bytes, response: Any) -> None:
        # The reader of a new client may be found after its writer, and would miss the answer.
        end = time.monotonic() + _FOUND
        while time.monotonic() < end and (
                len(self.writer.get_matched_subscriptions())
                < len(self.inbox.reader.get_matched_publications())):
            time.sleep(0.001)
        write(self.writer, _ENCAPSULATION + header + encode(response)[4:])


class Client:
    """Asks a service."""

    def __init__(self, participant: Participant, kind: Any, name: str) -> None:
        pair = _pair_id('clientid')
        self._kind = kind
        self._guid = secrets.randbits(63)
        self._waiting: dict[int, Future] = {}
        self._number = 0
        self.writer = participant.writer(
            f'rq{name}Request', kind.Request.TYPE, QoSProfile(), service=pair)
        self.inbox = Inbox(participant.reader(
            f'rr{name}Reply', kind.Response.TYPE, QoSProfile(), service=pair), self._take)

    def service_is_ready(self) -> bool:
        """Whether somebody answers."""
        return bool(self.writer.get_matched_subscriptions()
                    and self.inbox.reader.get_matched_publications())

    def call_async(self, request: Any) -> Future:
        """Ask; the future has the response when it comes."""
        self._number += 1
        future = self._waiting[self._number] = Future()
        header = _HEADER.pack(self._guid, self._number)
        write(self.writer, _ENCAPSULATION + header + encode(request)[4:])
        return future

    def _take(self, cdr: bytes) -> None:
        try:
            header, response = _split(cdr, self._kind.Response.TYPE)
        except (SerdeError, struct.error):
            return
        guid, number = _HEADER.unpack(header)
        if guid == self._guid and number in self._waiting:
            self._waiting.pop(number).set_result(response)


def _pair_id(key: str) -> str:
    """User data that tells which reader and writer belong together."""
    return f'{key}={".".join(f"{byte:02x}" for byte in secrets.token_bytes(16))};'


def _split(cdr: bytes, name: str) -> tuple[bytes, Any]:
    """Header and message; bytes that swap are refused, as no robot here is big-endian."""
    if cdr[:2] != _ENCAPSULATION[:2]:
        raise SerdeError('not little-endian')
    end = 4 + _HEADER.size
    return cdr[4:end], decode(_ENCAPSULATION + cdr[end:], name)
