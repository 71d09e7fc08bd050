# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The participant of a process, its readers and writers, and their quality of service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
import os
from typing import Any

from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import make_idl_struct, types
from cyclonedds.idl.annotations import final
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from rosbags.interfaces import Nodetype

from dynid_ros.errors import InputError
from dynid_ros.ros.stand_in.messages import message_class, STORE

#: Time for which a writer waits for a reader that does not keep up, ns.
BLOCKING = 10**9
#: Largest message that is taken from the network, bytes.
LARGEST_MESSAGE = 8_000_000
#: Messages that a publisher holds for a subscriber that died, bytes: two seconds at 1 kHz.
UNHEARD = 4_000_000
#: Announcements of endpoints that may wait to be read. Beyond that the thread that receives waits,
#: and in Cyclone DDS 11.0.1 the call that wakes it can come too early, so that it hears no more.
#: Each node announces some thirty endpoints, and the library's bound is 256.
ANNOUNCED = 10_000
_BOUNDS = f"""<CycloneDDS><Domain><Internal><MaxSampleSize>{LARGEST_MESSAGE}B</MaxSampleSize>
<DeliveryQueueMaxSamples>{ANNOUNCED}</DeliveryQueueMaxSamples>
<Watermarks><WhcHigh>{UNHEARD}B</WhcHigh></Watermarks></Internal></Domain></CycloneDDS>"""
# Generic in a way that type checkers do not see.
_TYPES: Any = types
_LOCAL = """<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"
multicast="false"/></Interfaces><AllowMulticast>false</AllowMulticast></General><Discovery>
<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>
<Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>"""


class ReliabilityPolicy(IntEnum):
    """Whether lost messages are sent again."""

    RELIABLE = 1
    BEST_EFFORT = 2


class DurabilityPolicy(IntEnum):
    """Whether late subscribers get earlier messages."""

    TRANSIENT_LOCAL = 1
    VOLATILE = 2


@dataclass(frozen=True)
class QoSProfile:
    """Quality of service of a topic; the last `depth` messages are kept."""

    depth: int = 10
    reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE
    durability: DurabilityPolicy = DurabilityPolicy.VOLATILE


def to_dds(qos: QoSProfile, user_data: str) -> Qos:
    """Policies of a reader or writer."""
    last = Policy.History.KeepLast(qos.depth)
    policies = [last, Policy.Userdata(user_data.encode()), Policy.Reliability.BestEffort]
    if qos.reliability is ReliabilityPolicy.RELIABLE:
        policies[-1] = Policy.Reliability.Reliable(BLOCKING)
    if qos.durability is DurabilityPolicy.TRANSIENT_LOCAL:
        policies += [Policy.Durability.TransientLocal,
                     Policy.DurabilityService(0, last, -1, -1, -1)]
    return Qos(*policies)


def from_dds(qos: Qos) -> QoSProfile:
    """Read the quality that another process offers or asks for; depths are not announced."""
    reliable = isinstance(qos[Policy.Reliability], Policy.Reliability.Reliable)
    local = qos[Policy.Durability] == Policy.Durability.TransientLocal
    return QoSProfile(
        0, ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        DurabilityPolicy.TRANSIENT_LOCAL if local else DurabilityPolicy.VOLATILE)


class Participant:
    """A process in the graph; `ROS_DOMAIN_ID` and the discovery range as in ROS 2."""

    def __init__(self) -> None:
        number = _domain_id()
        where = os.environ.get('CYCLONEDDS_URI', '')
        if not where and os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE') == 'LOCALHOST':
            where = _LOCAL
        self._domain = Domain(number, ','.join(part for part in (where, _BOUNDS) if part))
        self.dds = DomainParticipant(number, Qos(Policy.Userdata(b'enclave=/;')))
        self.gid: bytes = self.dds.guid.bytes
        self._topics: dict[tuple[str, str], Topic[Any]] = {}

    def writer(self, topic: str, name: str, qos: QoSProfile, service: str = '') -> Any:
        """
        Make a writer.

        Parameters
        ----------
        topic : str
            DDS topic, with its prefix.
        name : str
            Type, as ``sensor_msgs/msg/JointState``.
        qos : QoSProfile
            Quality.
        service : str
            User data that joins the reader and the writer of one service or client, whose
            messages carry a header; empty for a topic.

        """
        return DataWriter(self.dds, *self._plan(topic, name, qos, service))

    def reader(self, topic: str, name: str, qos: QoSProfile, service: str = '') -> Any:
        """Make a reader; see `writer`."""
        return DataReader(self.dds, *self._plan(topic, name, qos, service))

    def _plan(self, topic: str, name: str, qos: QoSProfile, service: str) -> tuple[Any, Qos]:
        if (topic, name) not in self._topics:
            self._topics[topic, name] = Topic(self.dds, topic, _wire_type(name, bool(service)))
            # Its reader and writer are compiled now, not when the first message waits.
            STORE.get_msgdef(name)
        return self._topics[topic, name], to_dds(
            qos, f'{service}typehash={STORE.hash_rihs01(name)};')


def write(writer: DataWriter[Any], cdr: bytes) -> None:
    """Send a message."""
    writer.write(writer.data_type.deserialize(cdr))


def take(reader: DataReader[Any], most: int = 100) -> list[tuple[bytes, int]]:
    """Take the messages that have arrived, up to a number, each with the handle of its writer."""
    return [(sample.cdr, sample.sample_info.publication_handle) for sample in reader.take(most)
            if sample.sample_info is not None and sample.sample_info.valid_data]


def settled(read: Callable[[], list[int]]) -> list[int]:
    """
    Read a list that another thread changes.

    The library counts the entries and then reads them; one that comes in between is an IndexError.
    """
    try:
        return read()
    except IndexError:
        return settled(read)


def _domain_id() -> int:
    text = os.environ.get('ROS_DOMAIN_ID') or '0'
    if not (text.isdecimal() and int(text) <= 232):
        raise InputError(f"ROS_DOMAIN_ID must be a number from 0 to 232, not '{text}'")
    return int(text)


@cache
def _wire_type(name: str, header: bool) -> Any:
    """IDL type of a topic, whose samples stay the bytes that they are."""
    made = _struct(name, header)

    def deserialize(cdr: bytes, **_: Any) -> Any:
        sample = object.__new__(made)
        sample.cdr = cdr
        return sample

    made.serialize = lambda sample, **_: sample.cdr
    made.deserialize = made.deserialize_key = staticmethod(deserialize)
    return made


@cache
def _struct(name: str, header: bool = False) -> Any:
    message_class(name)
    fields: dict[str, Any] = {'guid': types.uint64, 'sequence': types.int64} if header else {}
    fields |= {field: _idl(desc) for field, desc in STORE.fielddefs[name][1]}
    package, kind, base = name.split('/')
    return final(make_idl_struct(base, f'{package}::{kind}::dds_::{base}_', fields))


def _idl(desc: Any) -> Any:
    kind, detail = desc
    if kind == Nodetype.NAME:
        return _struct(detail)
    if kind == Nodetype.BASE:
        base, bound = detail
        if base == 'string':
            return _TYPES.bounded_str[bound] if bound else str
        return {'bool': bool, 'char': types.uint8}.get(base) or getattr(types, base)
    (inner, size), several = detail, (_TYPES.array if kind == Nodetype.ARRAY else _TYPES.sequence)
    return several[_idl(inner), size] if size else several[_idl(inner)]
