# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Decoding many messages at once equals the library rosbags, one by one."""

import re

from bag_files import KIND, Message, STORE
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.data.files.joint_state_cdr import decode, encode, parse_layout
from dynid_ros.data.files.sample_blocks import JoinedBlocks

FLOATS = st.floats(allow_nan=True, allow_infinity=True)
NAMES = st.text(st.characters(codec='utf-8', exclude_characters='\0'), min_size=1, max_size=9)


@st.composite
def messages(draw):
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    arrays = [
        draw(st.lists(FLOATS, min_size=count, max_size=count))
        for count in (draw(st.sampled_from([len(names), 0, 1])) for _ in range(3))
    ]
    stamp = draw(st.integers(0, 2**31 * 10**9 - 1))
    return Message(stamp, names, *arrays, frame=draw(st.sampled_from(['', 'base', 'world'])))


@pytest.mark.slow
@settings(max_examples=80)
@given(st.lists(messages(), min_size=1, max_size=8), st.booleans())
def test_decoding_equals_rosbags_for_any_mixture_of_messages(items, little_endian):
    # Each message twice, so that layouts repeat and batches mix.
    data = [m.cdr(little_endian) for m in items * 2]
    half = len(data) // 2
    first, none = decode(range(half), data[:half], 0)
    second, neither = decode(range(half, 2 * half), data[half:], half)
    assert none == neither == []
    joined, seen = JoinedBlocks(), []
    for block in first + second:
        joined.add(block)
    for block in joined.take():
        for row, number in enumerate(block.index):
            expected = STORE.deserialize_cdr(data[number], KIND)
            stamp = expected.header.stamp
            assert block.stamp[row] == stamp.sec * 10**9 + stamp.nanosec
            assert block.received[row] == number
            assert block.names == tuple(expected.name)
            for name in ('position', 'velocity', 'effort'):
                np.testing.assert_array_equal(getattr(block, name)[row], getattr(expected, name))
            seen.append(number)
    assert sorted(seen) == list(range(len(data)))


@settings(max_examples=60)
@given(
    st.lists(NAMES, min_size=1, max_size=5, unique=True),
    st.integers(0, 2**31 * 10**9 - 1),
    st.booleans(),
)
def test_encoding_equals_rosbags_byte_for_byte(names, stamp, with_velocity):
    values = np.arange(3.0 * len(names)).reshape(3, 1, -1) / 7
    velocity = values[1] if with_velocity else None
    rows = encode(names, np.array([stamp]), (values[0], velocity, values[2]))
    recorded = list(values[1, 0]) if with_velocity else []
    expected = Message(stamp, names, list(values[0, 0]), recorded, list(values[2, 0])).cdr()
    assert rows[0].tobytes() == expected


@pytest.mark.parametrize('cut', [0, 3, 11, 20, 40, 60, 100])
def test_a_cut_message_is_refused(cut):
    data = Message(7, ['a', 'bc'], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]).cdr()
    assert cut < len(data)
    with pytest.raises(ValueError, match=r'end|bytes'):
        parse_layout(data[:cut])


def test_a_damaged_message_is_named_by_its_number_and_the_others_are_decoded():
    good = Message(7, ['a'], [1.0], [2.0], [3.0]).cdr()
    torn = bytearray(good)
    # The count of names; the message keeps its length.
    torn[20:24] = b'\xff\xff\xff\xff'
    data = [bytes(torn), good, good[:-4], good, b'', bytes(torn)]
    blocks, damaged = decode(range(6), data, 10)
    assert sorted(place for place, _ in damaged) == [10, 12, 14, 15]
    assert all(re.search('end|bytes', reason) for _, reason in damaged)
    assert np.sort(np.concatenate([block.index for block in blocks])).tolist() == [11, 13]


def test_absurd_counts_do_not_allocate_memory():
    data = bytearray(Message(7, ['a'], [1.0], [2.0], [3.0]).cdr())
    # The count of names follows the encapsulation (4), the stamp (8) and the empty frame (4 + 1,
    # aligned to 4).
    data[20:24] = b'\xff\xff\xff\xff'
    with pytest.raises(ValueError, match='more names than bytes'):
        parse_layout(bytes(data))
