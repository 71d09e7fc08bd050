"""Quality of service with the names of ``rclpy.qos``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from cyclonedds.qos import Policy, Qos

#: What a writer waits for a reader that does not keep up, ns.
BLOCKING = 10**9


class HistoryPolicy(IntEnum):
    """How many messages are kept."""

    KEEP_LAST = 1


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
    """What nodes say of it."""

    depth: int = 10
    history: HistoryPolicy = HistoryPolicy.KEEP_LAST
    reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE
    durability: DurabilityPolicy = DurabilityPolicy.VOLATILE


def profile_of(qos: QoSProfile | int) -> QoSProfile:
    """Profile of a bare depth."""
    return QoSProfile(depth=qos) if isinstance(qos, int) else qos


def to_dds(qos: QoSProfile, user_data: str) -> Qos:
    """Policies of a reader or writer."""
    reliable = qos.reliability is ReliabilityPolicy.RELIABLE
    local = qos.durability is DurabilityPolicy.TRANSIENT_LOCAL
    policies = [
        Policy.History.KeepLast(qos.depth), Policy.Userdata(user_data.encode()),
        Policy.Reliability.Reliable(BLOCKING) if reliable else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if local else Policy.Durability.Volatile]
    if local:
        policies.append(Policy.DurabilityService(
            0, Policy.History.KeepLast(qos.depth), -1, -1, -1))
    return Qos(*policies)


def from_dds(qos: Qos) -> QoSProfile:
    """Read what another process offers or asks for; depths are not told."""
    reliable = isinstance(qos[Policy.Reliability], Policy.Reliability.Reliable)
    local = qos[Policy.Durability] == Policy.Durability.TransientLocal
    return QoSProfile(
        0, HistoryPolicy.KEEP_LAST,
        ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        DurabilityPolicy.TRANSIENT_LOCAL if local else DurabilityPolicy.VOLATILE)
