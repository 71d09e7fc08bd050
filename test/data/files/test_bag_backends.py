# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A recorder that was killed leaves a file without its end: its beginning is not lost."""

from bag_files import Message, Motion, storage_file, write_bag
import numpy as np
import pytest

from dynid_ros.data.files.bag_backends import is_truncated
from dynid_ros.data.files.bags import read_joint_states
from dynid_ros.errors import RecordingError

NAMES = ['a', 'b', 'c', 'd', 'e', 'f']


@pytest.fixture(scope='module')
def motion():
    # Some 3 MB, so several chunks of 1 MB.
    return Motion(NAMES, samples=9000)


@pytest.fixture(scope='module')
def whole(tmp_path_factory, motion):
    folder = tmp_path_factory.mktemp('whole')
    return {
        kind: storage_file(write_bag(folder / kind, motion.messages(), 'mcap', kind)).read_bytes()
        for kind in ('NONE', 'STORAGE')
    }


@pytest.mark.parametrize('kind', ['NONE', 'STORAGE'])
@pytest.mark.parametrize('part', [0.5, 0.77, 0.98, 0.999])
def test_what_is_readable_is_given_with_a_warning(tmp_path, motion, whole, kind, part):
    path = tmp_path / 'cut.mcap'
    path.write_bytes(whole[kind][:int(len(whole[kind]) * part)])
    states = read_joint_states(path)
    (block,) = states.blocks
    (defect,) = states.defects
    assert (defect.code, defect.severity) == ('bag_truncated', 'warning')
    assert defect.count == states.count == len(block.position)
    # One chunk of 1 MB, which is a third of the recording, may be lost with the end.
    assert states.count >= (part - 0.35) * 9000
    np.testing.assert_array_equal(block.position, motion.q[:states.count])
    np.testing.assert_array_equal(block.effort, motion.effort[:states.count])


def test_a_folder_as_a_killed_recorder_leaves_it_is_read(tmp_path, motion, whole):
    folder = tmp_path / 'killed'
    folder.mkdir()
    (folder / 'killed_0.mcap').write_bytes(whole['NONE'][:len(whole['NONE']) * 2 // 3])
    states = read_joint_states(folder)
    assert {d.code for d in states.defects} == {'bag_truncated', 'metadata_missing'}
    np.testing.assert_array_equal(states.blocks[0].position, motion.q[:states.count])


def test_a_file_cut_after_its_metadata_was_written_is_read(tmp_path, motion):
    bag = write_bag(tmp_path / 'bag', motion.messages(), 'mcap')
    file = storage_file(bag)
    file.write_bytes(file.read_bytes()[:file.stat().st_size * 2 // 3])
    states = read_joint_states(bag)
    assert [d.code for d in states.defects] == ['bag_truncated']
    assert 0 < states.count < 9000


def test_nothing_readable_before_the_damage_is_an_error(tmp_path, whole):
    path = tmp_path / 'cut.mcap'
    path.write_bytes(whole['STORAGE'][:200])
    with pytest.raises(RecordingError, match='holds nothing readable'):
        read_joint_states(path)


def test_a_complete_file_is_not_taken_for_a_truncated_one(tmp_path):
    messages = [Message(i, ['a'], [0.0], [0.0], [0.0]) for i in range(10)]
    file = storage_file(write_bag(tmp_path / 'bag', messages, 'mcap'))
    assert not is_truncated(file)
    other = tmp_path / 'text.mcap'
    other.write_text('x')
    assert not is_truncated(other)
