# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The graph of nodes, topics and services of ROS 2."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from cyclonedds import builtin
from cyclonedds.core import DDSStatus, InstanceState, ReadCondition, SampleState, ViewState
from rosbags.serde import SerdeError

from dynid_ros.ros.stand_in.arguments import FULL_NAME
from dynid_ros.ros.stand_in.dds import (
    DurabilityPolicy,
    from_dds,
    Participant,
    QoSProfile,
    take,
    write,
)
from dynid_ros.ros.stand_in.messages import decode, encode, message_class

#: Endpoints of one kind that are looked at.
MANY = 10_000
_NODES = 'rmw_dds_common/msg/ParticipantEntitiesInfo'
_ALIVE = SampleState.Any | ViewState.Any | InstanceState.Alive
_UNKNOWN = '/', '_CREATED_BY_BARE_DDS_APP_'


@dataclass(frozen=True)
class EndpointInfo:
    """A publisher or a subscription, of any process."""

    node_name: str
    node_namespace: str
    topic_type: str
    qos_profile: QoSProfile


class Graph:
    """Announcements of the nodes of this process and of other processes."""

    def __init__(self, participant: Participant) -> None:
        self._gid = participant.gid
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._writer = participant.writer('ros_discovery_info', _NODES, latched)
        self._reader = participant.reader(
            'ros_discovery_info', _NODES, QoSProfile(1000, durability=latched.durability))
        topics = {
            'publishers': builtin.BuiltinTopicDcpsPublication,
            'subscriptions': builtin.BuiltinTopicDcpsSubscription}
        self._readers = {kind: builtin.BuiltinDataReader(participant.dds, topic)
                         for kind, topic in topics.items()}
        self._known: dict[str, list[Any]] = {kind: [] for kind in topics}
        self._own: dict[tuple[str, str], tuple[list[bytes], list[bytes]]] = {}
        self._owners: dict[bytes, dict[bytes, tuple[str, str]]] = {}

    def announce(self, node: tuple[str, str], readers: list[UUID], writers: list[UUID]) -> None:
        """Announce a node, namespace and name, with its endpoints; without any it is gone."""
        self._own[node] = [guid.bytes for guid in readers], [guid.bytes for guid in writers]
        if not (readers or writers):
            del self._own[node]
        entities = message_class('rmw_dds_common/msg/NodeEntitiesInfo')
        write(self._writer, encode(message_class(_NODES)(
            gid=_gid(self._gid), node_entities_info_seq=[
                entities(node_namespace=namespace, node_name=name,
                         reader_gid_seq=[_gid(gid) for gid in reading],
                         writer_gid_seq=[_gid(gid) for gid in writing])
                for (namespace, name), (reading, writing) in self._own.items()])))

    def endpoints(self, kind: str, topic: str) -> list[EndpointInfo]:
        """Find the ``publishers`` or ``subscriptions`` of a DDS topic."""
        self._listen()
        reader, found = self._readers[kind], []
        # They are many, and are read again only when they have changed.
        if reader.take_status() & DDSStatus.DataAvailable:
            self._known[kind] = reader.read(MANY, ReadCondition(reader, _ALIVE))
        for end in self._known[kind]:
            if end.topic_name == topic:
                owners = self._owners.get(end.participant_key.bytes, {})
                namespace, name = owners.get(end.key.bytes, _UNKNOWN)
                type_name = end.type_name.replace('::dds_::', '/').replace('::', '/')
                found.append(EndpointInfo(
                    name, namespace, type_name.removesuffix('_'), from_dds(end.qos)))
        return found

    def _listen(self) -> None:
        for cdr, _ in take(self._reader):
            with suppress(SerdeError):
                info = decode(cdr, _NODES)
                self._owners[info.gid.data.tobytes()] = {
                    gid.data.tobytes(): (node.node_namespace, node.node_name)
                    for node in info.node_entities_info_seq
                    if FULL_NAME.fullmatch(f'{node.node_namespace.rstrip("/")}/{node.node_name}')
                    for gid in (*node.reader_gid_seq, *node.writer_gid_seq)}
        if sum(map(len, self._owners.values())) > MANY:
            self._owners.clear()


def _gid(data: bytes) -> Any:
    return message_class('rmw_dds_common/msg/Gid')(data=list(data))
