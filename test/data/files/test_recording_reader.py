# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recordings are read by the names of the joints, whatever else the messages hold."""

from dataclasses import dataclass, replace

from bag_files import Message, Motion, write_bag
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.drive import Drive
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.quality import clean
from dynid_ros.errors import RecordingError

NAMES = ('j1', 'j2', 'j3')


@dataclass
class Torn(Message):
    """A message with any bytes."""

    data: bytes = b''

    def cdr(self, little_endian: bool = True) -> bytes:
        del little_endian
        return self.data


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), 3, prismatic=False)


def permuted(message, order, extra=()):
    """Give the same message with its joints in another order and with further joints."""
    pick = lambda values: [values[i] for i in order] + [9.0] * len(extra)  # noqa: E731
    return replace(
        message,
        names=[message.names[i] for i in order] + list(extra),
        position=pick(message.position),
        velocity=pick(message.velocity),
        effort=pick(message.effort),
    )


def assert_motion(log, motion, rows=slice(None)):
    np.testing.assert_array_equal(log.q, motion.q[rows])
    np.testing.assert_array_equal(log.qd, motion.qd[rows])
    np.testing.assert_array_equal(log.u, motion.effort[rows])


def codes(log):
    return {(d.code, d.severity): d.count for d in log.defects}


@settings(max_examples=15)
@given(st.permutations(range(3)), st.permutations(range(3)), st.booleans())
def test_joints_are_found_by_name_in_any_order_and_among_others(tmp_path_factory, one, two, more):
    arm = random_arm(np.random.default_rng(0), 3, prismatic=False)
    motion = Motion(list(NAMES), samples=40)
    extra = ('finger',) if more else ()
    half = [permuted(m, one, extra) for m in motion.messages()[:20]]
    half += [permuted(m, two, extra) for m in motion.messages()[20:]]
    log = read_recording(write_bag(tmp_path_factory.mktemp('order') / 'bag', half), arm)
    assert_motion(log, motion)
    assert log.joint_names == arm.joint_names
    assert not log.defects


def test_stamps_are_those_of_the_headers_from_the_first_in_seconds(tmp_path, arm):
    motion = Motion(list(NAMES))
    messages = motion.messages()
    for i, m in enumerate(messages):
        # Less than the step of 10 ms, so that the order stays.
        m.received = m.stamp + 1_000_000 * (i % 7)
    log = read_recording(write_bag(tmp_path / 'bag', messages), arm)
    stamps = np.array([m.stamp for m in messages])
    # A nanosecond is far above the rounding of seconds in double precision.
    np.testing.assert_array_equal(np.rint(log.t * 1e9), stamps - stamps[0])
    assert log.defects == ()


def test_unset_stamps_are_refused_unless_the_times_of_reception_are_asked_for(tmp_path, arm):
    motion = Motion(list(NAMES))
    messages = [replace(m, stamp=0, received=m.stamp) for m in motion.messages()]
    bag = write_bag(tmp_path / 'bag', messages)
    with pytest.raises(RecordingError, match=r'joint_states.*never set, all 300 are zero'):
        read_recording(bag, arm)
    np.testing.assert_allclose(read_recording(bag, arm, received=True).t, motion.t, atol=1e-9)


def test_single_unset_stamps_among_wall_clock_ones_are_left_out(tmp_path, arm):
    motion = Motion(list(NAMES), start=1_700_000_000 * 10**9)
    messages = motion.messages()
    for i in (0, 17):
        messages[i] = replace(messages[i], stamp=0, received=messages[i].stamp)
    log = read_recording(write_bag(tmp_path / 'bag', messages), arm)
    assert_motion(log, motion, np.delete(np.arange(300), [0, 17]))
    assert codes(log) == {('stamps_zero', 'warning'): 2}


def test_simulated_time_may_start_at_zero(tmp_path, arm):
    log = read_recording(write_bag(tmp_path / 'b', Motion(list(NAMES), start=0).messages()), arm)
    assert log.defects == ()
    assert len(log.t) == 300


def test_messages_of_a_second_publisher_are_left_out_and_counted(tmp_path, arm):
    motion = Motion(list(NAMES))
    messages = []
    for m in motion.messages():
        gripper = Message(m.stamp, ['finger'], [0.1], [0.0], [0.0])
        messages += [m, gripper]
    log = read_recording(write_bag(tmp_path / 'bag', messages), arm)
    assert_motion(log, motion)
    assert codes(log) == {('messages_skipped', 'info'): 300}
    assert 'finger' in log.defects[0].message


def test_joints_of_which_each_message_holds_a_part_are_no_matter_of_names(tmp_path, arm):
    messages = [Message(m.stamp, [name], m.position[k:k + 1], [], m.effort[k:k + 1])
                for m in Motion(list(NAMES)).messages() for k, name in enumerate(NAMES)]
    bag = write_bag(tmp_path / 'bag', messages)
    with pytest.raises(RecordingError, match='each a part of them; publish them in one') as caught:
        read_recording(bag, arm)
    assert 'aliases' not in str(caught.value)


def test_aliases_are_tried_after_the_joint_names(tmp_path, arm):
    motion = Motion(['left_1', 'left_2', 'left_3'])
    arm = replace(arm, aliases=(('x', 'y', 'z'), ('left_1', 'left_2', 'left_3')))
    log = read_recording(write_bag(tmp_path / 'bag', motion.messages()), arm)
    assert_motion(log, motion)
    assert log.joint_names == arm.joint_names


def test_names_that_do_not_match_are_listed_from_both_sides(tmp_path, arm):
    bag = write_bag(tmp_path / 'bag', Motion(['u1', 'v2', 'w3']).messages())
    with pytest.raises(RecordingError, match=r'j1, j2, j3.*u1, v2, w3'):
        read_recording(bag, arm)


def test_motor_positions_become_joint_positions_and_signals_stay_raw(tmp_path, arm):
    transmission = np.array([[30.0, 0, 0], [0, 40, 0], [0, 5, -20]])
    offset = np.array([0.1, -np.pi / 2, 0.0])
    drive = Drive('current', np.full(3, 2.0), transmission, offset)
    motion = Motion(list(NAMES))
    log = read_recording(
        write_bag(tmp_path / 'bag', motion.messages()), replace(arm, drive=drive)
    )
    # q = R^-1 p + offset, checked by its inverse; the condition number of R is about 2.
    np.testing.assert_allclose((log.q - offset) @ transmission.T, motion.q, atol=1e-14)
    np.testing.assert_allclose(log.qd @ transmission.T, motion.qd, atol=1e-14)
    np.testing.assert_array_equal(log.u, motion.effort)
    assert log.signal == 'current'


def test_velocities_may_be_absent(tmp_path, arm):
    motion = Motion(list(NAMES))
    messages = [replace(m, velocity=[]) for m in motion.messages()]
    log = read_recording(write_bag(tmp_path / 'bag', messages), arm)
    assert log.qd is None
    assert log.defects == ()


def test_velocities_that_are_partly_absent_are_left_out_and_reported(tmp_path, arm):
    messages = Motion(list(NAMES)).messages()
    messages[5] = replace(messages[5], velocity=[])
    log = read_recording(write_bag(tmp_path / 'bag', messages), arm)
    assert log.qd is None
    assert codes(log) == {('velocity_missing', 'info'): 1}


@pytest.mark.parametrize('field', ['position', 'effort'])
def test_a_missing_array_is_named(tmp_path, arm, field):
    messages = [replace(m, **{field: []}) for m in Motion(list(NAMES)).messages()]
    words = rf'/joint_states, message 0: 0 values of {field} for 3 joints, j1, j2, j3'
    with pytest.raises(RecordingError, match=words):
        read_recording(write_bag(tmp_path / 'bag', messages), arm)


@pytest.mark.parametrize('field', ['position', 'velocity', 'effort'])
def test_arrays_of_another_length_are_named_with_topic_joint_and_sample(tmp_path, arm, field):
    messages = Motion(list(NAMES)).messages()
    for k in range(7, 300, 18):
        messages[k] = replace(messages[k], **{field: [1.0, 2.0]})
    words = rf'/joint_states, message 7: 2 values of {field} for 3 joints, j1'
    with pytest.raises(RecordingError, match=words):
        read_recording(write_bag(tmp_path / 'bag', messages), arm)


@pytest.mark.parametrize('field', ['position', 'velocity', 'effort'])
def test_few_messages_with_arrays_of_another_length_are_left_out(tmp_path, arm, field):
    motion = Motion(list(NAMES))
    messages = motion.messages()
    messages[7] = replace(messages[7], **{field: [1.0, 2.0]})
    messages[70] = replace(messages[70], **{field: [1.0, 2.0, 3.0, 4.0]})
    log = read_recording(write_bag(tmp_path / 'bag', messages), arm)
    assert_motion(log, motion, np.delete(np.arange(300), [7, 70]))
    assert codes(log) == {('messages_damaged', 'warning'): 2}
    assert f'message 7: 2 values of {field} for 3 joints' in log.defects[0].message


@pytest.mark.parametrize('storage', ['sqlite3', 'mcap'])
def test_few_messages_that_cannot_be_decoded_are_left_out(tmp_path, arm, storage):
    motion = Motion(list(NAMES))
    messages = motion.messages()
    torn = {5: b'', 80: messages[80].cdr()[:-9], 299: b'\xff' * len(messages[299].cdr())}
    torn |= dict.fromkeys(range(100, 112), b'')
    for k, data in torn.items():
        messages[k] = Torn(**vars(messages[k]), data=data)
    log = read_recording(write_bag(tmp_path / 'bag', messages, storage), arm)
    assert_motion(log, motion, np.delete(np.arange(300), list(torn)))
    assert codes(log) == {('messages_damaged', 'warning'): 15}
    assert '15 of 300 messages on /joint_states' in log.defects[0].message
    assert 'first message 5' in log.defects[0].message


def test_many_messages_that_cannot_be_decoded_are_refused_with_the_first(tmp_path, arm):
    messages = Motion(list(NAMES)).messages()
    for k in range(30, 300, 15):
        messages[k] = Torn(**vars(messages[k]), data=messages[k].cdr()[:-9])
    words = r'bag is not a readable .*/joint_states, message 30: .*; 18 of 300 messages'
    with pytest.raises(RecordingError, match=words):
        read_recording(write_bag(tmp_path / 'bag', messages), arm)


def test_a_wrong_stamp_in_a_bag_costs_one_sample(tmp_path, arm):
    motion = Motion(list(NAMES), start=1_700_000_000 * 10**9)
    messages = motion.messages()
    messages[0] = replace(messages[0], stamp=3 * 10**9, received=messages[0].stamp)
    messages[40] = replace(messages[40], stamp=2**31 * 10**9 - 1, received=messages[40].stamp)
    log = clean(read_recording(write_bag(tmp_path / 'bag', messages), arm), arm)
    assert_motion(log, motion, np.delete(np.arange(300), [0, 40]))
    assert codes(log) == {('stamps_far_off', 'warning'): 2}


def test_a_missing_file_and_an_unknown_kind_say_what_is_expected(tmp_path, arm):
    with pytest.raises(RecordingError, match=r'nowhere\.db3 does not exist'):
        read_recording(tmp_path / 'nowhere.db3', arm)
    (tmp_path / 'notes.xlsx').touch()
    with pytest.raises(RecordingError, match=r'notes\.xlsx is not a recording.*as \.csv$'):
        read_recording(tmp_path / 'notes.xlsx', arm)


@pytest.mark.parametrize('there', [
    ('ur10_j1', 'ur10_j2', 'ur10_j3', 'ur10_finger'), ('left/j1', 'left/j2', 'left/j3', 'j4'),
    ('j1_position', 'j2_position', 'j3_position'), ('A1', 'A2', 'A3'), ('1', '2', '3')])
def test_names_that_share_a_prefix_or_suffix_of_their_own_are_guessed(tmp_path, arm, there):
    motion = Motion(list(NAMES), samples=40)
    order = np.random.default_rng(0).permutation(len(there)).tolist()
    messages = [permuted(replace(message, names=list(there[:3])), range(3), there[3:])
                for message in motion.messages()]
    messages = [permuted(message, order) for message in messages]
    path = write_bag(tmp_path / 'bag', messages)
    log = read_recording(path, arm)
    assert_motion(log, motion)
    [guess] = log.defects
    alias = f'[[{", ".join(there[:3])}]]'
    assert (guess.code, guess.severity) == ('joints_guessed', 'info')
    assert f'set aliases: {alias} in arm.yaml' in guess.message
    assert read_recording(path, replace(arm, aliases=(there[:3],))).defects == ()


@pytest.mark.parametrize(('own', 'there'), [
    (('panda_joint1', 'panda_joint2'), ('fr3_joint1', 'fr3_joint2', 'fr3_finger_joint1')),
    (('r_pan_joint', 'r_lift_joint'), ('pan', 'lift', 'finger'))])
def test_names_may_lack_or_replace_what_those_of_the_arm_share(tmp_path, own, there):
    arm = random_arm(np.random.default_rng(0), 2, prismatic=False).with_tree(joint_names=own)
    motion = Motion(list(there), samples=40)
    log = read_recording(write_bag(tmp_path / 'bag', motion.messages()), arm)
    np.testing.assert_array_equal(log.q, motion.q[:, :2])


@pytest.mark.parametrize(('there', 'said'), [
    ([f'{side}_j{k}' for side in ('left', 'right') for k in (1, 2, 3)],
     r'aliases: \[\[left_j1, left_j2, left_j3\]\] or \[\[right_j1, right_j2, right_j3\]\] in'),
    # Numbers count joints: this arm has four.
    (['a1', 'a2', 'a3', 'a4'], 'set joints or aliases in arm'),
    (['a11', 'a12', 'a13'], 'set joints or aliases in arm')])
def test_names_that_fit_twice_or_count_another_arm_are_refused(tmp_path, arm, there, said):
    path = write_bag(tmp_path / 'bag', Motion(there).messages())
    with pytest.raises(RecordingError, match=said):
        read_recording(path, arm)
