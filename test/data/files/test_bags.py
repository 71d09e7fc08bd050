# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""One reader for all kinds of bags, and one clear line for what is none."""

import shutil
import sqlite3

from bag_files import Motion, PLUGINS, storage_file, STORE, write_bag
import numpy as np
import pytest
from rosbags.rosbag2 import Writer

from dynid_ros.data.files.bags import DECODED_TOGETHER, read_joint_states
from dynid_ros.data.files.sidecar import write_sidecar
from dynid_ros.errors import RecordingError

NAMES = ['a', 'b', 'c']


def one_block(states):
    (block,) = states.blocks
    return block


# sqlite3 has no compression of its own; that of files and messages is told by metadata.yaml only.
@pytest.mark.parametrize(
    ('storage', 'compression', 'bare'),
    [
        ('sqlite3', 'NONE', False),
        ('sqlite3', 'NONE', True),
        ('sqlite3', 'FILE', False),
        ('sqlite3', 'MESSAGE', False),
        ('mcap', 'NONE', False),
        ('mcap', 'NONE', True),
        ('mcap', 'FILE', False),
        ('mcap', 'MESSAGE', False),
        ('mcap', 'STORAGE', False),
        ('mcap', 'STORAGE', True),
    ],
)
def test_every_storage_and_compression_reads_the_same(tmp_path, storage, compression, bare):
    motion = Motion(NAMES)
    bag = write_bag(tmp_path / 'bag', motion.messages(), storage, compression)
    states = read_joint_states(storage_file(bag) if bare else bag)
    block = one_block(states)
    assert (states.topic, states.count, states.defects) == ('/joint_states', 300, ())
    np.testing.assert_array_equal(block.position, motion.q)
    np.testing.assert_array_equal(block.velocity, motion.qd)
    np.testing.assert_array_equal(block.effort, motion.effort)
    np.testing.assert_array_equal(block.stamp, [m.stamp for m in motion.messages()])
    np.testing.assert_array_equal(block.received, block.stamp)


@pytest.mark.parametrize('compression', ['', 'LZ4', 'ZSTD'])
def test_mcap_chunks_of_another_writer_are_read(tmp_path, compression):
    from mcap.writer import CompressionType
    from mcap.writer import Writer as McapWriter

    motion = Motion(NAMES)
    path = tmp_path / 'other.mcap'
    kind = CompressionType[compression or 'NONE']
    with path.open('wb') as file:
        writer = McapWriter(file, compression=kind)
        writer.start(profile='ros2')
        schema = writer.register_schema('sensor_msgs/msg/JointState', 'ros2msg', b'')
        channel = writer.register_channel('/joint_states', 'cdr', schema)
        for m in motion.messages():
            writer.add_message(channel, m.stamp, m.cdr(), m.stamp)
        writer.finish()
    np.testing.assert_array_equal(one_block(read_joint_states(path)).position, motion.q)


def test_messages_beyond_one_batch_keep_their_order(tmp_path):
    motion = Motion(['a'], samples=2 * DECODED_TOGETHER + 5)
    block = one_block(read_joint_states(write_bag(tmp_path / 'bag', motion.messages(), 'mcap')))
    np.testing.assert_array_equal(block.index, np.arange(2 * DECODED_TOGETHER + 5))
    np.testing.assert_array_equal(block.position, motion.q)


def split_bag(tmp_path, storage, parts):
    """Join single bags into one split folder as rosbag2 names its files."""
    motion = Motion(NAMES, samples=30 * parts)
    folder = tmp_path / 'split'
    folder.mkdir()
    names = []
    for part in range(parts):
        piece = motion.messages()[30 * part:30 * part + 30]
        file = storage_file(write_bag(tmp_path / f'part{part}', piece, storage))
        names.append(f'split_{part}{file.suffix}')
        shutil.copy(file, folder / names[-1])
    text = (tmp_path / 'part0' / 'metadata.yaml').read_text()
    return motion, folder, text, names


@pytest.mark.parametrize('storage', sorted(PLUGINS))
def test_a_bag_of_several_files_is_one_recording(tmp_path, storage):
    motion, folder, text, names = split_bag(tmp_path, storage, 3)
    old = f'- part0{storage_file(tmp_path / "part0").suffix}'
    assert old in text
    listed = '\n'.join(f'  - {name}' for name in names)
    (folder / 'metadata.yaml').write_text(text.replace(f'  {old}', listed, 1))
    states = read_joint_states(folder)
    np.testing.assert_array_equal(one_block(states).position, motion.q)
    assert states.defects == ()


@pytest.mark.parametrize('storage', sorted(PLUGINS))
def test_without_metadata_the_files_are_read_in_order_of_their_numbers(tmp_path, storage):
    motion, folder, _, _ = split_bag(tmp_path, storage, 11)
    states = read_joint_states(folder)
    np.testing.assert_array_equal(one_block(states).position, motion.q)
    (defect,) = states.defects
    assert (defect.code, defect.severity, defect.count) == ('metadata_missing', 'warning', 11)


def test_a_folder_may_have_the_name_of_a_bag_of_ros_1(tmp_path):
    motion = Motion(NAMES)
    found = one_block(read_joint_states(write_bag(tmp_path / 'run.bag', motion.messages())))
    np.testing.assert_array_equal(found.position, motion.q)


def test_topics_match_with_and_without_slash_and_namespaced_when_given_or_in_the_sidecar(tmp_path):
    motion = Motion(NAMES, samples=20)
    messages = motion.messages()
    for m in messages:
        m.topic = '/left/joint_states'
    bag = write_bag(tmp_path / 'bag', messages)
    assert read_joint_states(bag, 'left/joint_states').topic == '/left/joint_states'
    assert read_joint_states(bag, '/left/joint_states').count == 20
    with pytest.raises(RecordingError, match=r'no topic /joint_states.*/left/joint_states \(sens'):
        read_joint_states(bag, 'joint_states')
    write_sidecar(tmp_path, {'joint_states': '/left/joint_states'})
    assert read_joint_states(bag).topic == '/left/joint_states'


def test_a_topic_of_another_type_says_so(tmp_path):
    with Writer(tmp_path / 'bag', version=9) as writer:
        connection = writer.add_connection('/joint_states', 'std_msgs/msg/Bool', typestore=STORE)
        writer.write(connection, 0, b'\0\1\0\0\1')
    with pytest.raises(RecordingError, match=r'/joint_states is of type std_msgs/msg/Bool, not'):
        read_joint_states(tmp_path / 'bag')


def test_an_empty_topic_says_so(tmp_path):
    with Writer(tmp_path / 'bag', version=9) as writer:
        writer.add_connection('/joint_states', 'sensor_msgs/msg/JointState', typestore=STORE)
    with pytest.raises(RecordingError, match='topic /joint_states holds no messages'):
        read_joint_states(tmp_path / 'bag')


def empty_folder(path):
    path.mkdir()


def text_file(path):
    path.with_suffix('.db3').write_text('not a database')


def text_mcap(path):
    path.with_suffix('.mcap').write_text('not a bag')


def empty_mcap(path):
    path.with_suffix('.mcap').touch()


def other_database(path):
    with sqlite3.connect(path.with_suffix('.db3')) as connection:
        connection.execute('create table notes (text)')


def cut_database(path):
    file = storage_file(write_bag(path, Motion(NAMES).messages()))
    file.write_bytes(file.read_bytes()[:file.stat().st_size // 2])


def broken_metadata(path):
    write_bag(path, Motion(NAMES).messages())
    (path / 'metadata.yaml').write_text('rosbag2_bagfile_information: [')


def missing_file(path):
    storage_file(write_bag(path, Motion(NAMES).messages())).unlink()


def damaged_message(path):
    messages = Motion(NAMES, samples=20).messages()
    with Writer(path, version=9) as writer:
        connection = writer.add_connection(
            '/joint_states', 'sensor_msgs/msg/JointState', typestore=STORE
        )
        for m in messages:
            writer.write(connection, m.stamp, m.cdr()[:-8])


@pytest.mark.parametrize(
    'spoil',
    [
        empty_folder,
        text_file,
        text_mcap,
        empty_mcap,
        other_database,
        cut_database,
        broken_metadata,
        missing_file,
        damaged_message,
    ],
)
def test_what_is_no_readable_bag_gives_one_clear_line(tmp_path, spoil):
    path = tmp_path / 'bag'
    spoil(path)
    made = (path, path.with_suffix('.db3'), path.with_suffix('.mcap'))
    path = next(p for p in made if p.exists())
    with pytest.raises(RecordingError, match=r'is not a (readable |rosbag2 )*recording') as caught:
        read_joint_states(path)
    assert str(path) in str(caught.value)
    assert '\n' not in str(caught.value)
