# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
A participant that sends what no ROS 2 node sends; run as ``hostile.py KIND``.

It goes on until it is killed, and prints how much it has sent.

Cyclone DDS refuses to write bytes that are no message, so these are sent past it, as RTPS packets
of a writer that it has made known.
"""

from collections import deque
from contextlib import suppress
from itertools import product
import os
import random
import socket
import struct
import sys
import time

from cyclonedds.core import DDSException
from cyclonedds.idl import make_idl_struct
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic
from rosbags.serde import SerdeError

from dynid_ros.ros.stand_in.dds import DurabilityPolicy, Participant, QoSProfile, write
from dynid_ros.ros.stand_in.messages import decode, encode, message_class

FAKE = '\n[ERROR] [1.0] [identifier]: the arm is on fire\r\x1b[2J'
CDR = b'\0\1\0\0'
DEEP = QoSProfile(depth=100)
LATCHED = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
STATE = 'sensor_msgs/msg/JointState'
NODES = 'rmw_dds_common/msg/ParticipantEntitiesInfo'
CHANCE = random.Random(1)


#: Pause between two messages, by the time that making one took, and its bounds, s.
SHARE, LEAST, MOST = 10.0, 0.01, 0.2
#: Times that a forged packet is sent.
REPEATED = 4


class Forged:
    """
    Puts any bytes on the wire as the samples of a writer.

    Parameters
    ----------
    writer : DataWriter
        A writer that has written nothing itself.

    """

    def __init__(self, writer):
        self._writer = writer
        self._number = 0
        self._last = deque(maxlen=REPEATED)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def write(self, payload):
        """Send a DATA submessage (RTPS 2.3, 9.4.5.3) to the first ten participants of a domain."""
        while not self._number and not self._writer.get_matched_subscriptions():
            time.sleep(0.01)
        if not self._number:
            # The reader waits for a heartbeat.
            time.sleep(0.5)
        self._number += 1
        prefix, entity = self._writer.guid.bytes[:12], self._writer.guid.bytes[12:]
        payload += bytes(-len(payload) % 4)
        data = struct.pack('<HHI4sII', 0, 16, 0, entity, 0, self._number) + payload
        # A reader waits for a lost packet before it takes later ones, and nobody sends it again.
        self._last.append(
            b'RTPS\2\1\1\x10' + prefix + struct.pack('<BBH', 0x15, 5, len(data)) + data)
        for packet, index in product(self._last, range(10)):
            # RTPS 2.3, 9.6.1.1: ports of user traffic.
            port = 7411 + 250 * int(os.environ['ROS_DOMAIN_ID']) + 2 * index
            self._socket.sendto(packet, ('127.0.0.1', port))


def state(names, values=()):
    return encode(message_class(STATE)(name=names, position=values, effort=values))


def wrong_type(participant):
    """Send the right topic with other types, one of them under the right name."""
    for name in ('std_msgs::msg::dds_::String_', 'sensor_msgs::msg::dds_::JointState_',
                 'nobody_msgs::msg::dds_::Nothing_', 'no_type\nat_all'):
        kind = make_idl_struct('Other', name, {'number': int})
        writer = DataWriter(participant.dds, Topic(participant.dds, 'rt/joint_states', kind))
        for k in range(50):
            writer.write(kind(number=k))
        # Kept, so that the writer stays.
        yield writer


def garbage(participant):
    """Send the right type with bytes that are no message."""
    forged = Forged(participant.writer('rt/joint_states', STATE, DEEP))
    good = state(['joint_1', 'joint_2'], [1.0, 2.0])
    while True:
        yield forged.write(CDR + CHANCE.randbytes(CHANCE.randrange(300)))
        yield forged.write(good[:CHANCE.randrange(4, len(good))])
        # Header, and then a sequence of ten million.
        yield forged.write(CDR + bytes(16) + struct.pack('<I', 10_000_000) + bytes(40))
        yield forged.write(good[:16] + struct.pack('<I', 2**32 - 1) + good[20:])


def long(participant):
    """Messages at and above the largest that is taken, readable but for their length."""
    writer = participant.writer('rt/joint_states', STATE, DEEP)
    # One name, repeated as bytes: the encoder would take seconds.
    one = state(['joint_1'])
    large = [one[:20] + struct.pack('<I', n) + n * one[24:36] + one[36:]
             for n in (600_000, 1_000_001, 400_000)]
    while True:
        for cdr in large:
            # The middleware of this process may refuse the longest before it is sent.
            with suppress(DDSException):
                write(writer, cdr)
            yield None
            # The node reads one as long as this process does, and has other work beside.
            began = time.monotonic()
            with suppress(SerdeError):
                decode(cdr, STATE)
            time.sleep(max(5.0, SHARE * (time.monotonic() - began)))


def names(participant):
    """Joints that nobody has, with names like lines of a log, others in each message."""
    writer = participant.writer('rt/joint_states', STATE, DEEP)
    k = 0
    while True:
        k += 1
        yield write(writer, state([f'{FAKE}{k}_{j}' for j in range(1000)]))


def announcement(name):
    """Return a node with six hundred endpoints."""
    gid, node = (message_class(f'rmw_dds_common/msg/{kind}')
                 for kind in ('Gid', 'NodeEntitiesInfo'))
    gids = [gid(data=list(CHANCE.randbytes(16))) for _ in range(300)]
    return encode(message_class(NODES)(gid=gids[0], node_entities_info_seq=[node(
        node_namespace='/', node_name=name, reader_gid_seq=gids, writer_gid_seq=gids)]))


def nodes(participant):
    """Nodes with names that none may have, or with ever more endpoints."""
    writer = participant.writer('ros_discovery_info', NODES, LATCHED)
    while True:
        for name in (f'fake{FAKE}', 'fair'):
            yield write(writer, announcement(name))


def no_nodes(participant):
    """Send what is no announcement of nodes."""
    forged = Forged(participant.writer('ros_discovery_info', NODES, LATCHED))
    while True:
        yield forged.write(CDR + CHANCE.randbytes(100))
        yield forged.write(CDR + bytes(24) + struct.pack('<I', 10_000_000))
        yield forged.write(announcement('n' * 300))


def services(participant):
    """Send requests that are none."""
    forged = [Forged(participant.writer(
        f'rq/identifier/{name}Request', f'{kind}_Request', DEEP, service='x'))
              for name, kind in (
                   ('save', 'std_srvs/srv/Trigger'), ('freeze', 'std_srvs/srv/SetBool'),
                   ('set_parameters', 'rcl_interfaces/srv/SetParameters'),
                   ('get_parameters', 'rcl_interfaces/srv/GetParameters'))]
    while True:
        for writer in forged:
            # Shorter than the header: one byte more, and it may be a wish to freeze.
            yield writer.write(CDR + CHANCE.randbytes(CHANCE.randrange(16)))
            yield writer.write(CDR + bytes(16) + struct.pack('<I', 10_000_000) + bytes(40))
            yield writer.write(b'\0\0\0\0' + bytes(40))


def send(kind):
    """Send a kind of traffic for as long as this process lives."""
    # Who sends without end would keep a slow processor from what is tested.
    os.nice(10)
    kept, began = [], time.monotonic()
    for sent in globals()[kind](Participant()):
        kept.append(sent)
        print(len(kept), flush=True)
        # Reading a message takes about as long as making it: a slow processor gets fewer.
        time.sleep(min(MOST, max(LEAST, SHARE * (time.monotonic() - began))))
        began = time.monotonic()
    time.sleep(60)


if __name__ == '__main__':
    send(sys.argv[1])
