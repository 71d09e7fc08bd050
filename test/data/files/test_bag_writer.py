# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What is written as a bag reads back without loss."""

from bag_files import KIND, STORE
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest
from rosbags.rosbag2 import Reader
import yaml

from dynid_ros.data.files.bag_writer import write_joint_states
from dynid_ros.data.files.bags import read_joint_states
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import ResultError

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=20)
@given(
    st.lists(st.integers(0, 10**11), min_size=1, max_size=6, unique=True).map(sorted),
    st.lists(FLOATS, min_size=9, max_size=9),
    st.booleans(),
)
def test_stamps_and_values_come_back_bit_for_bit(tmp_path_factory, stamps, numbers, velocity):
    arm = random_arm(np.random.default_rng(0), 3, prismatic=False)
    q, qd, effort = np.tile(np.reshape(numbers, (3, 1, 3)), (1, len(stamps), 1))
    path = tmp_path_factory.mktemp('bag') / 'made' / 'bag'
    t = np.array(stamps) * 1e-9
    write_joint_states(path, arm.joint_names, t, q, qd if velocity else None, effort)
    log = read_recording(path, arm)
    np.testing.assert_array_equal(log.q, q)
    np.testing.assert_array_equal(log.u, effort)
    np.testing.assert_array_equal(np.rint(log.t * 1e9), np.array(stamps) - stamps[0])
    assert (log.qd is not None) == velocity
    if log.qd is not None:
        np.testing.assert_array_equal(log.qd, qd)
    assert log.defects == ()


def test_another_reader_finds_ordinary_joint_states(tmp_path):
    values = np.arange(12.0).reshape(2, 6)
    write_joint_states(
        tmp_path / 'bag', [f'a{i}' for i in range(6)], np.array([0.0, 0.004]), values, -values,
        2 * values)
    with Reader(tmp_path / 'bag') as reader:
        (first, second) = list(reader.messages())
        message = STORE.deserialize_cdr(second[2], KIND)
    assert first[0].topic == '/joint_states'
    assert first[0].digest == STORE.hash_rihs01(KIND) or not first[0].digest
    # A stamp of zero would count as unset.
    assert (first[1], second[1]) == (1_000_000_000, 1_004_000_000)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1, 4_000_000)
    assert list(message.name) == [f'a{i}' for i in range(6)]
    np.testing.assert_array_equal(message.effort, 2 * values[1])


def test_the_metadata_is_that_of_rosbag2_with_mcap_storage(tmp_path):
    ones = np.ones((3, 1))
    write_joint_states(tmp_path / 'bag', ['a'], np.arange(3.0), ones, ones, ones)
    information = yaml.safe_load((tmp_path / 'bag' / 'metadata.yaml').read_text())
    information = information['rosbag2_bagfile_information']
    assert information['version'] == 9
    assert information['storage_identifier'] == 'mcap'
    assert information['message_count'] == 3
    assert information['duration']['nanoseconds'] == 2_000_000_000


def test_a_bag_of_dynid_is_replaced_and_nothing_else(tmp_path):
    ones = np.ones((3, 1))
    for joint in ('a', 'b'):
        write_joint_states(tmp_path / 'own', [joint], np.arange(3.0), ones, ones, ones)
    assert read_joint_states(tmp_path / 'own').blocks[0].names == ('b',)
    (tmp_path / 'bag').mkdir()
    (tmp_path / 'bag' / 'notes.txt').write_text('mine')
    with pytest.raises(ResultError, match='bag'):
        write_joint_states(tmp_path / 'bag', ['b'], np.arange(3.0), ones, ones, ones)
    assert (tmp_path / 'bag' / 'notes.txt').read_text() == 'mine'


def test_a_place_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / 'file').touch()
    ones = np.ones((3, 1))
    with pytest.raises(ResultError, match='cannot be written'):
        write_joint_states(tmp_path / 'file' / 'bag', ['a'], np.arange(3.0), ones, ones, ones)
