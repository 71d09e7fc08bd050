# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A drive signal on a topic of its own is read with the joint states."""

from dataclasses import replace

from bag_files import KIND, Motion, PLUGINS
import numpy as np
from oracles import random_arm
import pytest
from rosbags.rosbag2 import Writer
from rosbags.typesys import get_types_from_msg, get_typestore, Stores

from dynid_ros.arm.drive import DriveTopic
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.quality import clean
from dynid_ros.errors import ArmError, RecordingError

NAMES = ['j1', 'j2', 'j3']
#: Of the files, so that the signals differ from the efforts of the joint states.
FACTOR = 7.0
STORE = get_typestore(Stores.ROS2_HUMBLE)
STORE.register({
    **get_types_from_msg('string[] interface_names\nfloat64[] values',
                         'control_msgs/msg/InterfaceValue'),
    **get_types_from_msg('std_msgs/Header header\nstring[] joint_names\n'
                         'control_msgs/InterfaceValue[] interface_values',
                         'control_msgs/msg/DynamicJointState')})
POINT = 'trajectory_msgs/msg/JointTrajectoryPoint'
#: As control_msgs has it in Humble, and since then up to what is not read.
STATES = {
    'desired': '\n'.join(f'{POINT.replace("/msg", "")} {name}' for name in (
        'desired', 'actual', 'error')),
    'reference': '\n'.join([*(f'{POINT.replace("/msg", "")} {name}' for name in (
        'reference', 'feedback', 'error', 'output')), 'string[] multi_dof_joint_names'])}
TOPICS = {
    'states': DriveTopic('currents'),
    'interfaces': DriveTopic('/ns/dynamic', 'current'),
    'array': DriveTopic('currents', None, ('j3', 'j1', 'j2')),
}


def arm_with(topic):
    arm = random_arm(np.random.default_rng(0), 3, prismatic=False)
    return replace(arm, drive=replace(arm.drive, signal='current', topic=topic))


def dynamic(message, interface):
    """Joints in reverse order, each with the interface at another place, and a tool without it."""
    make, types = STORE.types['control_msgs/msg/InterfaceValue'], STORE.types
    values = [make(['x'] * i + [interface], np.array([9.0] * i + [FACTOR * u]))
              for i, u in enumerate(message.effort)]
    header = types['std_msgs/msg/Header'](message.typed().header.stamp, 'base_link')
    return types['control_msgs/msg/DynamicJointState'](
        header, ['tool', *message.names[::-1]], [make(['x'], np.array([1.0])), *values[::-1]])


def array(message, joints):
    types = STORE.types
    dimension = types['std_msgs/msg/MultiArrayDimension']('joints', 3, 3)
    layout = types['std_msgs/msg/MultiArrayLayout']([dimension], 0)
    picked = [FACTOR * message.effort[message.names.index(name)] for name in joints]
    return types['std_msgs/msg/Float64MultiArray'](layout, np.array(picked))


def typed(topic, message):
    if topic.interface:
        return dynamic(message, topic.interface)
    if topic.joints:
        return array(message, topic.joints)
    own = replace(message, position=[], velocity=[], effort=[FACTOR * u for u in message.effort])
    return own.typed()


def write(path, topic, states, signals):
    """Write a bag of joint states without efforts, and of signals, by the library rosbags."""
    return write_typed(path, topic, [*states, *signals], [typed(topic, m) for m in signals],
                       states=len(states))


def write_typed(path, topic, messages, contents, store=STORE, states=None):
    """Write a bag of joint states, all or some of the messages, and of signals of the others."""
    others = messages if states is None else messages[states:]
    writer = Writer(path, version=9, storage_plugin=PLUGINS['mcap'])
    with writer:
        one = writer.add_connection('/joint_states', KIND, typestore=store)
        two = writer.add_connection(
            topic.beside('/joint_states'), topic.kind, typestore=store)
        every = [(m, replace(m, effort=[]).typed(), one) for m in messages[:states]]
        every += [(m, own, two) for m, own in zip(others, contents, strict=True)]
        for message, content, connection in sorted(every, key=lambda entry: entry[0].stamp):
            received = message.stamp if message.received is None else message.received
            writer.write(
                connection, received, store.serialize_cdr(content, connection.msgtype))
    return path


@pytest.mark.parametrize('kind', TOPICS)
def test_signals_are_found_by_the_names_of_the_joints(tmp_path, kind):
    motion, topic = Motion(NAMES), TOPICS[kind]
    messages = motion.messages()
    log = read_recording(write(tmp_path / 'bag', topic, messages, messages), arm_with(topic))
    np.testing.assert_array_equal(log.u, FACTOR * motion.effort)
    np.testing.assert_array_equal(log.q, motion.q)
    np.testing.assert_array_equal(log.qd, motion.qd)
    np.testing.assert_allclose(log.t, motion.t, atol=1e-12)
    assert log.signal == 'current' and not log.defects


@pytest.mark.slow
@pytest.mark.parametrize('kind', TOPICS)
def test_what_a_killed_recorder_leaves_is_read(tmp_path, kind):
    motion, topic = Motion(NAMES, samples=9000), TOPICS[kind]
    messages = motion.messages()
    bag = write(tmp_path / 'bag', topic, messages, messages)
    (file,) = bag.glob('*.mcap')
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(file.read_bytes()[:int(file.stat().st_size * 0.85)])
    log = read_recording(cut, arm_with(topic))
    assert 1000 < len(log.t) < 9000
    np.testing.assert_array_equal(log.u, FACTOR * motion.effort[:len(log.t)])
    assert {d.code for d in log.defects} - {'drive_signal_missing'} == {'bag_truncated'}


def test_joint_states_without_a_signal_near_are_left_out_and_said(tmp_path):
    motion, topic = Motion(NAMES), TOPICS['states']
    messages = motion.messages()
    bag = write(tmp_path / 'bag', topic, messages, messages[:100] + messages[150:])
    log = read_recording(bag, arm_with(topic))
    kept = np.r_[0:100, 150:300]
    np.testing.assert_array_equal(log.q, motion.q[kept])
    np.testing.assert_array_equal(log.u, FACTOR * motion.effort[kept])
    (defect,) = log.defects
    assert (defect.code, defect.severity, defect.count) == ('drive_signal_missing', 'warning', 50)


def test_array_without_stamps_is_paired_by_its_time_of_reception(tmp_path):
    motion, topic = Motion(NAMES), TOPICS['array']
    messages = motion.messages()
    # Halfway to the next joint state; the first has no signal before it.
    late = [replace(m, received=m.stamp + 5_000_000) for m in messages]
    bag = write(tmp_path / 'bag', topic, messages, late)
    log = read_recording(bag, arm_with(topic))
    np.testing.assert_array_equal(log.q, motion.q[1:])
    between = (motion.effort[:-1] + motion.effort[1:]) / 2
    # Rounding.
    np.testing.assert_allclose(log.u, FACTOR * between, atol=1e-12)


def test_topics_that_never_meet_are_refused(tmp_path):
    motion, topic = Motion(NAMES), TOPICS['states']
    late = [replace(m, stamp=m.stamp + 10**12) for m in motion.messages()]
    bag = write(tmp_path / 'bag', topic, motion.messages(), late)
    with pytest.raises(RecordingError, match='no joint state has a drive signal'):
        read_recording(bag, arm_with(topic))


def test_absent_topic_and_wrong_type_are_named(tmp_path):
    messages = Motion(NAMES).messages()
    bag = write(tmp_path / 'bag', TOPICS['states'], messages, messages)
    with pytest.raises(RecordingError, match=r'no topic /volts; .*set drive\.topic in'):
        read_recording(bag, arm_with(DriveTopic('volts')))
    with pytest.raises(RecordingError, match='is of type sensor_msgs/msg/JointState, not '
                                             'std_msgs/msg/Float64MultiArray'):
        read_recording(bag, arm_with(TOPICS['array']))


def test_relative_topic_is_in_the_namespace_of_the_joint_states():
    assert DriveTopic('currents').beside('/left/joint_states') == '/left/currents'
    assert DriveTopic('/currents').beside('/left/joint_states') == '/currents'
    assert DriveTopic('currents').beside('/joint_states') == '/currents'


@pytest.mark.parametrize(('drive', 'words'), [
    ({'interface': 'current'}, 'give the topic too'),
    ({'joints': ['j1']}, 'give the topic too'),
    ({'topic': 'a', 'interface': 'current', 'joints': ['j1']}, 'does not belong to a topic'),
])
def test_wrong_settings_are_named(tmp_path, drive, words):
    from dynid_ros.arm.description.schema import Section
    from dynid_ros.arm.settings import read_drive

    with pytest.raises(ArmError, match=words):
        read_drive(Section({'drive': drive}, tmp_path / 'arm.yaml', ('drive',)), ('j1',))


def test_few_damaged_signals_are_left_out_and_reported(tmp_path):
    motion, topic = Motion(NAMES), TOPICS['states']
    messages = motion.messages()
    signals = [*messages]
    signals[100] = replace(signals[100], effort=[1.0, 2.0])
    log = read_recording(write(tmp_path / 'bag', topic, messages, signals), arm_with(topic))
    (defect,) = log.defects
    assert (defect.code, defect.count) == ('messages_damaged', 1)
    assert 'message 100: 2 values of effort for 3 joints' in defect.message
    # The joint state there gets the mean of the signals beside it.
    kept = np.delete(np.arange(len(messages)), 100)
    np.testing.assert_array_equal(log.u[kept], FACTOR * motion.effort[kept])
    np.testing.assert_allclose(log.u[100], FACTOR * motion.effort[[99, 101]].mean(axis=0))


@pytest.mark.parametrize('stamp', [1, 2**31 * 10**9 - 1])
def test_a_wrong_stamp_on_either_topic_costs_few_samples(tmp_path, stamp):
    motion, topic = Motion(NAMES, start=1_700_000_000 * 10**9), TOPICS['states']
    good = [replace(m, received=m.stamp) for m in motion.messages()]
    states, signals = [*good], [*good]
    states[100] = replace(states[100], stamp=stamp)
    signals[200] = replace(signals[200], stamp=stamp)
    arm = arm_with(topic)
    log = clean(read_recording(write(tmp_path / 'bag', topic, states, signals), arm), arm)
    places = np.rint(log.t * motion.rate).astype(int)
    assert len(places) > 290 and 100 not in places
    np.testing.assert_array_equal(log.q, motion.q[places])
    # Beside the wrong one, the signal is interpolated.
    np.testing.assert_allclose(log.u, FACTOR * motion.effort[places], atol=1e-3)


def command_arm(topic):
    arm = arm_with(topic)
    return replace(arm, drive=replace(arm.drive, signal='command'))


def test_commands_are_the_positions_of_joint_states(tmp_path):
    motion, topic = Motion(NAMES), DriveTopic('joint_command', field='position')
    messages = motion.messages()
    told = [replace(m, position=[FACTOR * q for q in m.position], velocity=[]) for m in messages]
    bag = write(tmp_path / 'bag', replace(topic, field='effort'), messages, messages)
    path = write_typed(tmp_path / 'told', topic, messages, [m.typed() for m in told])
    log = read_recording(path, command_arm(topic))
    np.testing.assert_array_equal(log.u, FACTOR * motion.q)
    assert log.signal == 'command'
    with pytest.raises(RecordingError, match=r'no topic /other; topics there: /joint_command'):
        read_recording(bag, command_arm(replace(topic, name='other')))


@pytest.mark.parametrize('first', STATES)
def test_commands_are_the_references_of_a_trajectory_controller(tmp_path, first):
    store = get_typestore(Stores.ROS2_HUMBLE)
    kind = 'control_msgs/msg/JointTrajectoryControllerState'
    store.register(get_types_from_msg(
        f'std_msgs/Header header\nstring[] joint_names\n{STATES[first]}', kind))
    motion, topic = Motion(NAMES), DriveTopic('/arm_controller/controller_state', field='position')
    messages, types = motion.messages(), store.types
    wait = types['builtin_interfaces/msg/Duration'](0, 0)

    def point(q):
        empty = np.zeros(0)
        return types[POINT](np.array(q), empty, empty, empty, wait)

    def state(message):
        own = message.typed().header
        header = types['std_msgs/msg/Header'](own.stamp, 'base')
        others = len(STATES[first].split('\n')) - 1 - (first == 'reference')
        more = [[]] if first == 'reference' else []
        return types[kind](
            header, [*message.names[::-1]], point([FACTOR * q for q in message.position[::-1]]),
            *[point([9.0])] * others, *more)

    path = write_typed(tmp_path / 'bag', topic, messages, [state(m) for m in messages], store)
    log = read_recording(path, command_arm(topic))
    np.testing.assert_array_equal(log.u, FACTOR * motion.q)
    np.testing.assert_array_equal(log.q, motion.q)
