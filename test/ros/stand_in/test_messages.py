# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Messages of the embedded layer against plain rosbags, and against bytes that are none."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from rosbags.typesys import get_types_from_msg, get_typestore, Stores

from dynid_ros.ros.stand_in.messages import decode, encode, message_class, STORE

#: As in the action file of control_msgs.
GOAL = """
trajectory_msgs/JointTrajectory trajectory
trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory
control_msgs/JointTolerance[] path_tolerance
control_msgs/JointComponentTolerance[] component_path_tolerance
control_msgs/JointTolerance[] goal_tolerance
control_msgs/JointComponentTolerance[] component_goal_tolerance
builtin_interfaces/Duration goal_time_tolerance
"""
TOLERANCE = 'string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration'
COMPONENT = ('string joint_name\nuint16 component\nfloat64 position\nfloat64 velocity\n'
             'float64 acceleration')
PLAIN = get_typestore(Stores.ROS2_JAZZY)
for text, name in ((TOLERANCE, 'control_msgs/msg/JointTolerance'),
                   (COMPONENT, 'control_msgs/msg/JointComponentTolerance'),
                   (GOAL, 'control_msgs/action/FollowJointTrajectory_Goal')):
    PLAIN.register(get_types_from_msg(text, name))

words = st.text(st.characters(exclude_categories=['Cs'], exclude_characters='\0'), max_size=12)
numbers = st.floats(width=64)
arrays = st.lists(numbers, max_size=8)
stamps = st.tuples(st.integers(-2**31, 2**31 - 1), st.integers(0, 2**32 - 1))


def both(name, fields):
    """Return one content as a message of the layer, and as one of rosbags."""
    return message_class(name)(**fields[0]), PLAIN.types[name](**fields[1])


def array(values):
    return np.array(values, dtype=np.float64)


def check_same(ours, plain, name):
    """Both have the same bytes, and reading them gives the same bytes again."""
    cdr = bytes(PLAIN.serialize_cdr(plain, name))
    assert encode(ours) == cdr
    read = decode(cdr, name)
    assert read == ours
    assert encode(read) == cdr


def header_of(stamp, frame):
    times = [{'sec': stamp[0], 'nanosec': stamp[1]}] * 2
    return [made(stamp=time_(**fields), frame_id=frame) for made, time_, fields in zip(
        (message_class('std_msgs/msg/Header'), PLAIN.types['std_msgs/msg/Header']),
        (message_class('builtin_interfaces/msg/Time'),
         PLAIN.types['builtin_interfaces/msg/Time']), times, strict=True)]


@given(stamps, words, st.lists(words, max_size=5), arrays, arrays, arrays)
def test_joint_states_have_the_bytes_of_rosbags(stamp, frame, names, q, qd, tau):
    name = 'sensor_msgs/msg/JointState'
    header, plain = header_of(stamp, frame)
    check_same(
        message_class(name)(header=header, name=names, position=q, velocity=qd, effort=tau),
        PLAIN.types[name](plain, names, array(q), array(qd), array(tau)), name)


@given(stamps, st.lists(st.tuples(
    # rosbags takes a byte as a signed one.
    st.integers(0, 127), words, words, st.lists(st.tuples(words, words), max_size=3)),
    max_size=3))
def test_diagnostics_have_the_bytes_of_rosbags(stamp, statuses):
    name, status, pair = (f'diagnostic_msgs/msg/{kind}' for kind in (
        'DiagnosticArray', 'DiagnosticStatus', 'KeyValue'))
    header, plain = header_of(stamp, '')
    ours = message_class(name)(header=header, status=[
        message_class(status)(
            level=bytes([level]), name=title, message=text,
            values=[message_class(pair)(key=key, value=value) for key, value in pairs])
        for level, title, text, pairs in statuses])
    # rosbags takes a level as a number, and has no hardware_id left out.
    theirs = PLAIN.types[name](plain, [
        PLAIN.types[status](level, title, text, '', [
            PLAIN.types[pair](key, value) for key, value in pairs])
        for level, title, text, pairs in statuses])
    check_same(ours, theirs, name)
    for read, (level, *_) in zip(decode(encode(ours), name).status, statuses, strict=True):
        # As rclpy gives it.
        assert isinstance(read.level, bytes)
        assert read.level == bytes([level])


@given(st.integers(0, 9), st.booleans(), st.integers(-2**63, 2**63 - 1), numbers, words,
       st.binary(max_size=5), st.lists(st.booleans(), max_size=4),
       st.lists(st.integers(-2**63, 2**63 - 1), max_size=4), arrays, st.lists(words, max_size=4))
def test_parameter_values_have_the_bytes_of_rosbags(
        kind, truth, whole, number, text, data, truths, wholes, values, texts):
    name = 'rcl_interfaces/msg/ParameterValue'
    fields = {
        'type': kind, 'bool_value': truth, 'integer_value': whole, 'double_value': number,
        'string_value': text, 'byte_array_value': np.frombuffer(data, np.int8),
        'bool_array_value': np.array(truths, bool),
        'integer_array_value': np.array(wholes, np.int64),
        'double_array_value': array(values), 'string_array_value': texts}
    check_same(message_class(name)(**fields), PLAIN.types[name](**fields), name)


@given(st.lists(words, max_size=3), st.lists(st.tuples(arrays, arrays, stamps), max_size=3),
       st.lists(st.tuples(words, st.integers(0, 65535), numbers, numbers, numbers), max_size=3),
       stamps)
def test_goals_have_the_bytes_of_rosbags(names, points, tolerances, patience):
    def goal(make, values):
        def time_(span):
            return make('builtin_interfaces/msg/Duration')(sec=span[0], nanosec=span[1])

        empty = make('std_msgs/msg/Header')(
            stamp=make('builtin_interfaces/msg/Time')(sec=0, nanosec=0), frame_id='')
        several = make('trajectory_msgs/msg/MultiDOFJointTrajectory')(
            header=empty, joint_names=[], points=[])
        single = make('trajectory_msgs/msg/JointTrajectory')(
            header=empty, joint_names=names, points=[
                make('trajectory_msgs/msg/JointTrajectoryPoint')(
                    positions=values(q), velocities=values(qd), accelerations=values([]),
                    effort=values([]), time_from_start=time_(span)) for q, qd, span in points])
        return make('control_msgs/action/FollowJointTrajectory_Goal')(
            trajectory=single, multi_dof_trajectory=several, path_tolerance=[],
            component_path_tolerance=[
                make('control_msgs/msg/JointComponentTolerance')(
                    joint_name=name, component=k, position=p, velocity=v, acceleration=a)
                for name, k, p, v, a in tolerances],
            goal_tolerance=[
                make('control_msgs/msg/JointTolerance')(
                    name=name, position=p, velocity=v, acceleration=a)
                for name, _, p, v, a in tolerances],
            component_goal_tolerance=[], goal_time_tolerance=time_(patience))

    name = 'control_msgs/action/FollowJointTrajectory_Goal'
    assert message_class('control_msgs/action/FollowJointTrajectory').Goal is message_class(name)
    check_same(goal(message_class, list), goal(PLAIN.types.__getitem__, array), name)


def test_fields_begin_empty_or_zero_and_are_no_ones_but_the_messages():
    one, other = (message_class('sensor_msgs/msg/JointState')() for _ in range(2))
    assert (one.header.frame_id, one.header.stamp.sec, list(one.name)) == ('', 0, [])
    assert len(one.position) == len(one.velocity) == len(one.effort) == 0
    one.name.append('a')
    one.header.stamp.sec = 5
    assert list(other.name) == []
    assert other.header.stamp.sec == 0
    assert message_class('diagnostic_msgs/msg/DiagnosticStatus')().level == b'\0'
    assert list(message_class('unique_identifier_msgs/msg/UUID')().uuid) == [0] * 16
    assert message_class('std_srvs/srv/SetBool').Request().data is False


def test_constants_are_those_of_ros():
    status = message_class('diagnostic_msgs/msg/DiagnosticStatus')
    assert (status.OK, status.WARN, status.ERROR, status.STALE) == (b'\0', b'\1', b'\2', b'\3')
    result = message_class('control_msgs/action/FollowJointTrajectory').Result
    assert (result.SUCCESSFUL, result.GOAL_TOLERANCE_VIOLATED) == (0, -5)


def test_unknown_fields_and_messages_are_refused_by_name():
    made = message_class('std_msgs/msg/String')
    with pytest.raises(AttributeError, match=r'std_msgs/msg/String has no field text'):
        made(text='a')
    with pytest.raises(AttributeError, match=r'std_msgs/msg/String has no field text'):
        made().text = 'a'
    with pytest.raises(ImportError, match='nobody_msgs/msg/Nothing'):
        message_class('nobody_msgs/msg/Nothing')


@pytest.mark.parametrize(('name', 'fields'), [
    ('std_msgs/msg/String', {'data': 5}),
    ('std_msgs/msg/String', {'data': '\ud800'}),
    ('sensor_msgs/msg/JointState', {'name': [1, 2]}),
    ('sensor_msgs/msg/JointState', {'header': None}),
    ('builtin_interfaces/msg/Time', {'sec': 2**31}),
    ('builtin_interfaces/msg/Time', {'nanosec': -1}),
    ('builtin_interfaces/msg/Time', {'sec': 1.5}),
    ('diagnostic_msgs/msg/DiagnosticArray', {'status': ['bad']}),
    ('unique_identifier_msgs/msg/UUID', {'uuid': [1, 2, 3]}),
])
def test_values_that_do_not_fit_are_refused_with_the_name_of_the_message(name, fields):
    message = message_class(name)(**fields)
    with pytest.raises(TypeError, match=name):
        encode(message)


def interfaces():
    """Descriptions of interfaces in the ROS 2 installations of this machine."""
    packages = ('action_msgs', 'builtin_interfaces', 'control_msgs', 'diagnostic_msgs',
                'geometry_msgs', 'rcl_interfaces', 'sensor_msgs', 'std_msgs', 'std_srvs',
                'trajectory_msgs')
    # rosbags takes a char for a uint8, which has a hash of its own; no node uses one.
    wanted = [name for name in STORE.fielddefs
              if name.split('/')[0] in packages and name != 'std_msgs/msg/Char']
    for ros in Path('/opt/ros').glob('*/share'):
        for name in wanted:
            package, kind, base = name.split('/')
            whole = base.partition('_')[0] if kind in ('srv', 'action') else base
            file = ros / package / kind / f'{whole}.json'
            if file.exists():
                yield name, json.loads(file.read_text())['type_hashes']


def test_type_hashes_are_those_of_a_ros_installation():
    found = list(interfaces())
    if not found:
        pytest.skip('no ROS 2 with descriptions of interfaces under /opt/ros')
    compared = set()
    for name, hashes in found:
        theirs = {each['type_name']: each['hash_string'] for each in hashes}
        if name in theirs:
            message_class(name)
            assert STORE.hash_rihs01(name) == theirs[name], name
            compared.add(name)
    # A build may be there in part, with some packages alone.
    there = {name for name, _ in found}
    assert there & {
        'sensor_msgs/msg/JointState', 'diagnostic_msgs/msg/DiagnosticArray',
        'std_srvs/srv/SetBool_Request', 'rcl_interfaces/srv/DescribeParameters_Response',
        'control_msgs/msg/DynamicJointState', 'action_msgs/srv/CancelGoal_Request',
        'control_msgs/action/FollowJointTrajectory_SendGoal_Request',
        'control_msgs/action/FollowJointTrajectory_FeedbackMessage'} <= compared
    assert compared
