"""Quality of service with the names of ``rclpy.qos``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from cyclonedds.qos import Policy, Qos

#: What a writer waits for a reader that does not keep up, ns.
BLOCKING = 10**9


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
    """What nodes say of it; the last `depth` messages are kept."""

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
    """Read what another process offers or asks for; depths are not told."""
    reliable = isinstance(qos[Policy.Reliability], Policy.Reliability.Reliable)
    local = qos[Policy.Durability] == Policy.Durability.TransientLocal
    return QoSProfile(
        0, ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        DurabilityPolicy.TRANSIENT_LOCAL if local else DurabilityPolicy.VOLATILE)
