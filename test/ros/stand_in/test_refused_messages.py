# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Bytes that are no message are refused, and cost nothing."""

import random
import struct
import tracemalloc

import pytest
from rosbags.serde import SerdeError

from dynid_ros.ros.stand_in.messages import decode, encode, LONGEST_SEQUENCE, message_class


def joint_state():
    return encode(message_class('sensor_msgs/msg/JointState')(
        name=['a', 'joint_b'], position=[1.0, 2.0], velocity=[3.0], effort=[4.0, 5.0]))


def refused_or_read(cdr, name):
    """Whether bytes are refused; if they are not, they are a message that can be sent."""
    try:
        read = decode(cdr, name)
    except SerdeError:
        return True
    encode(read)
    return False


def test_every_truncated_message_is_refused():
    cdr = joint_state()
    for length in range(len(cdr)):
        assert refused_or_read(cdr[:length], 'sensor_msgs/msg/JointState'), length
    assert not refused_or_read(cdr, 'sensor_msgs/msg/JointState')


@pytest.mark.parametrize('name', [
    'sensor_msgs/msg/JointState', 'diagnostic_msgs/msg/DiagnosticArray', 'std_msgs/msg/String',
    'std_msgs/msg/Float64MultiArray', 'rcl_interfaces/srv/SetParameters_Request',
    'control_msgs/action/FollowJointTrajectory_SendGoal_Request',
    'rmw_dds_common/msg/ParticipantEntitiesInfo', 'control_msgs/msg/DynamicJointState'])
def test_random_bytes_are_refused_in_no_other_way(name):
    message_class(name)
    chance = random.Random(5)
    whole = encode(message_class(name)())
    refused = 0
    for _ in range(1500):
        cdr = bytearray(b'\0' + chance.randbytes(1)[:1] + b'\0\0' + chance.randbytes(
            chance.randrange(200)))
        if chance.random() < 0.5:
            # A message with some wrong bytes gets further than noise does.
            cdr = bytearray(whole)
            for _ in range(chance.randrange(1, 6)):
                cdr[chance.randrange(len(cdr))] = chance.choice((0, 1, 2, 8, 127, 128, 255))
        refused += refused_or_read(bytes(cdr), name)
    assert refused > 100


@pytest.mark.parametrize(
    'claimed', [LONGEST_SEQUENCE + 1, 10_000_000, 2**31 - 1, 2**31, 2**32 - 1])
@pytest.mark.parametrize(('name', 'before'), [
    ('sensor_msgs/msg/JointState', 16), ('std_msgs/msg/Float64MultiArray', 8),
    ('rcl_interfaces/srv/SetParameters_Request', 0), ('std_msgs/msg/String', 0),
    ('rmw_dds_common/msg/ParticipantEntitiesInfo', 24)])
def test_sequence_that_claims_millions_is_refused_without_memory_for_it(name, before, claimed):
    message_class(name)
    cdr = b'\0\1\0\0' + bytes(before) + struct.pack('<I', claimed) + bytes(64)
    refused_or_read(cdr, name)
    tracemalloc.start()
    assert refused_or_read(cdr, name)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # One byte for each element would be a million at least.
    assert peak < 100_000
