# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Logs as their tools write them: joints by name, whatever the order of the columns."""

from dataclasses import replace
import re

from bag_files import Motion
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest
from rosbags.rosbag1 import Writer
from rosbags.typesys import get_typestore, Stores
from scipy.io import savemat
import yaml

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import Table
from dynid_ros.arm.shipped import shipped_files
from dynid_ros.data.files.conversion import convert
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import RecordingError

JOINTS = ('pan', 'lift', 'elbow')
MOTION = Motion(list(JOINTS), samples=200, start=1_714_737_600_123_000_000)
T, Q, QD, TAU = MOTION.t, MOTION.q, MOTION.qd, MOTION.effort
STAMPS = [message.stamp for message in MOTION.messages()]
#: Names with numbers too, which are none of the order.
JOINT_SETS = (JOINTS, ('j3', 'j1', 'j2'), ('wrist_1', 'wrist_2', 'elbow'), ('A10', 'A1', 'A2'))
#: An order of the joints in files that is none of the arm.
OTHER = [2, 0, 1]
NAMES = [JOINTS[k] for k in OTHER]


@pytest.fixture(scope='module')
def arm():
    found = random_arm(np.random.default_rng(0), 3, prismatic=False)
    return replace(found.with_tree(joint_names=JOINTS), aliases=(('a1', 'a2', 'a3'),))


def text(rows, separator=','):
    return '\n'.join(separator.join(cell if isinstance(cell, str) else repr(float(cell))
                                    for cell in row) for row in rows) + '\n'


def table(names, *columns, separator=','):
    return text([names, *np.column_stack(columns)], separator)


def numbered(*patterns, first=0):
    return [pattern.format(k) for pattern in patterns for k in range(first, first + 3)]


def plotjuggler():
    # Sorted by name, with a topic of its own stamps whose rows lack the others.
    values = {f'/joint_states/{name}/{field}': x[:, k] for k, name in enumerate(JOINTS)
              for field, x in (('position', Q), ('velocity', QD), ('effort', TAU))}
    values['/joint_states/gripper/position'] = T
    rows = [['__time', *sorted(values), '/tf/x']]
    for k, row in enumerate(np.column_stack([values[name] for name in sorted(values)])):
        rows += [[T[k] + 1.7e9, *row, ''], [T[k] + 1.7e9 + 1e-3, *[''] * len(row), '0.5']]
    return text(rows)


def rostopic(arrays=('position', 'velocity', 'effort')):
    fields = {'position': Q, 'velocity': QD, 'effort': TAU}
    head = ['%time', 'field.header.seq', 'field.header.stamp', 'field.header.frame_id',
            *numbered('field.name{}', *(f'field.{name}{{}}' for name in arrays))]
    rows = [[str(stamp + 50_000), str(k), str(stamp), 'base', *NAMES,
             *np.concatenate([fields[name][k, OTHER] for name in arrays])]
            for k, stamp in enumerate(STAMPS)]
    # Another publisher, with two joints of its own.
    rows.insert(5, [str(STAMPS[4]), '4', str(STAMPS[4]), 'hand', 'f1', 'f2', *[0.1] * 2
                    * len(arrays)])
    return text([head, *rows])


def ros2_topic(velocity=True):
    rows = [[str(stamp // 10**9), str(stamp % 10**9), '', *NAMES, *Q[k, OTHER],
             *(QD[k, OTHER] if velocity else ['']), *TAU[k, OTHER]]
            for k, stamp in enumerate(STAMPS)]
    rows.insert(5, [str(STAMPS[4] // 10**9), '0', '', 'finger', 0.1, '', ''])
    return text(rows)


def german():
    names = numbered('q{} [deg]', 'dq{} [deg/s]', 'tau{} [Nm]', first=1)
    degrees = table(['Nr;Time [ms]', *names], T, 1e3 * T, np.degrees(Q), np.degrees(QD), TAU,
                    separator=';')
    return '\ufeff' + degrees.replace('.', ',')


def dated():
    return text([['date', *numbered('joint_{}_pos', 'torque_{}', first=1)],
                 *([f'2024-05-03T23:59:{59 + t:06.3f}' if t < 1 else
                    f'2024-05-04 00:00:{t - 1:06.3f}Z', *q, *u]
                   for t, q, u in zip(T, Q, TAU, strict=True))])


VELOCITY = {
    'plotjuggler.csv': plotjuggler, 'rostopic.csv': rostopic, 'ros2.csv': ros2_topic,
    'german.csv': german,
    'rtde.csv': lambda: table(
        ['timestamp', *numbered('target_q_{}', 'actual_q_{}', 'actual_qd_{}', 'actual_current_{}',
                                'actual_TCP_pose_{}')],
        T + 900, Q + 1, Q, QD, TAU, Q, separator=' '),
    'franka.csv': lambda: table(
        ['duration', *numbered('q[{}]', 'q_d[{}]', 'dq[{}]', 'tau_J[{}]', 'tau_J_d[{}]',
                               'theta[{}]')], 1e3 * T, Q, Q + 1, QD, TAU, TAU + 1, Q),
    'tabs.tsv': lambda: table(
        ['time', *(f'{name}_{field}' for field in ('pos', 'vel', 'torque') for name in NAMES)],
        T, Q[:, OTHER], QD[:, OTHER], TAU[:, OTHER], separator='\t'),
    'alias.dat': lambda: table(
        ['time', *(f'r_{name}.{field}' for field in ('position', 'velocity', 'effort')
                   for name in ('a3', 'a1', 'a2'))],
        T, Q[:, OTHER], QD[:, OTHER], TAU[:, OTHER], separator='  '),
}
NO_VELOCITY = {
    'rostopic.txt': lambda: rostopic(('position', 'effort')),
    'ros2.csv': lambda: ros2_topic(velocity=False),
    'dates.csv': dated,
    'units.csv': lambda: table(['t', *numbered('q_{}', 'tau_{}')], T, np.degrees(Q), 1e3 * TAU)
    .replace('\n', '\n' + text([['s', *['deg'] * 3, *['mNm'] * 3]]), 1),
    'ns.csv': lambda: table(['stamp', *numbered('pos_joint_{}', 'effort_joint_{}', first=1)],
                            1e9 * T, Q, TAU),
    'clock_us.csv': lambda: table(['t', *numbered('q{}', 'u{}')], 1e6 * (T + 1.7e9), Q, TAU),
    'parts.csv': lambda: text([
        ['secs', 'nsecs', *numbered('position_{}', 'effort_{}')],
        *([str(s // 10**9), str(s % 10**9), *q, *u]
          for s, q, u in zip(STAMPS, Q, TAU, strict=True))]),
}


def assert_motion(log, velocity=False):
    np.testing.assert_allclose(log.t, T, atol=1e-6)
    np.testing.assert_allclose(log.q, Q, atol=1e-12)
    np.testing.assert_allclose(log.u, TAU, atol=1e-12)
    assert (log.qd is not None) == velocity
    if velocity:
        np.testing.assert_allclose(log.qd, QD, atol=1e-12)


@pytest.mark.parametrize(('name', 'velocity'), [
    *((name, True) for name in VELOCITY), *((name, False) for name in NO_VELOCITY)])
def test_text_as_tools_write_it(tmp_path, arm, name, velocity):
    path = tmp_path / name
    path.write_text((VELOCITY if velocity else NO_VELOCITY)[name](), encoding='utf-8')
    log = read_recording(path, arm)
    assert_motion(log, velocity)
    assert not [defect for defect in log.defects if defect.severity == 'error']


FORMS = ('{j}.{w}', '{w}_{j}', '{j}_{w}', '/joint_states/{j}/{w}', 'actual_{w}_{j}', '{j} {w}',
         'robot1/{w}/{j}', '{w}[{j}]', 'left_{j}_{w} [x]')


@settings(max_examples=40)
@given(st.sampled_from(FORMS), st.permutations(range(9)), st.sampled_from(JOINT_SETS),
       st.sampled_from([('pos', 'vel', 'tau'), ('position', 'velocity', 'effort'),
                        ('angle', 'speed', 'torque'), ('q', 'dq', 'current')]))
def test_names_decide_which_joint_a_column_is_of(tmp_path_factory, form, order, joints, words):
    arm = random_arm(np.random.default_rng(0), 3, prismatic=False).with_tree(joint_names=joints)
    values = np.hstack([Q, QD, TAU])
    names = [form.format(j=joint, w=word) for word in words for joint in joints]
    path = tmp_path_factory.mktemp('names') / 'a.csv'
    path.write_text(table(['t', 'gripper_pos', *(names[k] for k in order)],
                          T, T, values[:, order]))
    assert_motion(read_recording(path, arm), True)


def ros1_bag(path):
    store = get_typestore(Stores.ROS1_NOETIC)
    kind = 'sensor_msgs/msg/JointState'
    state, header, time = (store.types[name] for name in (
        kind, 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time'))
    with Writer(path) as writer:
        connection = writer.add_connection('/joint_states', kind, typestore=store)
        for k, stamp in enumerate(STAMPS):
            message = state(header(k, time(stamp // 10**9, stamp % 10**9), 'base'), NAMES,
                            Q[k, OTHER], QD[k, OTHER], TAU[k, OTHER])
            writer.write(connection, stamp + 1000, store.serialize_ros1(message, kind))


def npy_fields(path):
    fields = np.zeros(len(T), dtype=[(name, float) for name in ['t', *numbered('q{}', 'tau{}')]])
    for name, values in zip(fields.dtype.names, np.column_stack([T, Q, TAU]).T, strict=True):
        fields[name] = values
    np.save(path, fields)


BINARY = {
    'a.bag': (ros1_bag, True),
    'b.mat': (lambda path: savemat(path, {'t': T, 'q': Q, 'dq': QD, 'tau': TAU}), True),
    # As MATLAB users have it: a struct, samples in columns, names in a cell array.
    'c.mat': (lambda path: savemat(path, {'log': {
        'time': T, 'q': Q[:, OTHER].T, 'dq': QD[:, OTHER].T, 'torque': TAU[:, OTHER].T,
        'joint_names': np.array(NAMES, dtype=object)}}), True),
    'd.npz': (lambda path: np.savez(path, t=T, q=Q[:, OTHER], tau=TAU[:, OTHER],
                                    names=np.array(NAMES)), False),
    'e.npy': (npy_fields, False),
}


@pytest.mark.parametrize('name', BINARY)
def test_binary_files(tmp_path, arm, name):
    write, velocity = BINARY[name]
    write(tmp_path / name)
    assert_motion(read_recording(tmp_path / name, arm), velocity)


@pytest.mark.parametrize('name', [*VELOCITY, 'a.bag', 'c.mat'])
def test_each_is_written_as_a_bag_that_reads_the_same(tmp_path, arm, name):
    if name in BINARY:
        BINARY[name][0](tmp_path / name)
    else:
        (tmp_path / name).write_text(VELOCITY[name](), encoding='utf-8')
    written = convert(tmp_path / name, tmp_path / 'bag')
    # Names in the file stay; numbers become names in their order.
    known = set(written.joint_names) & set(JOINTS)
    order = JOINTS if known else sorted(written.joint_names)
    assert_motion(read_recording(tmp_path / 'bag', arm.with_tree(joint_names=tuple(order))), True)


def test_positions_and_signals_in_two_files_with_clocks_of_their_own(tmp_path, arm):
    for run, sign in (('run1', 1), ('run2', -1)):
        (tmp_path / f'{run}_positions.csv').write_text(table(['t', *NAMES], T, sign * Q[:, OTHER]))
        (tmp_path / f'{run}_torques.csv').write_text(
            table(['t', *JOINTS], np.append(T, T[-1] + 0.01) - 0.004,
                  sign * np.vstack([TAU, TAU[-1:]])))
    log = read_recording(tmp_path / 'run2_positions.csv', arm)
    np.testing.assert_allclose(log.q, -Q, atol=1e-12)
    inside = slice(1, -1)
    expected = np.column_stack([np.interp(T, T - 0.004, tau) for tau in TAU.T])
    np.testing.assert_allclose(log.u[inside], -expected[inside], atol=1e-12)
    (tmp_path / 'run2_torques.csv').rename(tmp_path / 'other.csv')
    with pytest.raises(RecordingError, match=r'run1_torques\.csv, write .*table: \{signal_file'):
        read_recording(tmp_path / 'run2_positions.csv', arm)


def test_degrees_that_only_arm_yaml_states(tmp_path, arm):
    path = tmp_path / 'a.csv'
    path.write_text(table(['t', *numbered('q{}', 'qd{}', 'tau{}')],
                          T, np.degrees(Q), np.degrees(QD), TAU))
    assert_motion(read_recording(path, replace(arm, table=Table(unit='deg'))), True)


def test_guesses_are_reported_and_what_the_documents_name_is_none(tmp_path, arm):
    path = tmp_path / 'a.csv'
    path.write_text(VELOCITY['rtde.csv']())
    guessed, kind = read_recording(path, arm).defects
    assert (guessed.code, guessed.severity) == ('columns_guessed', 'info')
    for part in ('time from timestamp', 'position from actual_q_0 ... actual_q_2',
                 'signal from actual_current_0', 'joints by number, pan, lift, elbow'):
        assert part in guessed.message
    assert kind.code == 'signal_kind' and 'signal: current' in kind.message
    path.write_text(table(['t', *numbered('q_{}', 'tau_{}')], T, Q, TAU))
    assert read_recording(path, arm).defects == ()


@pytest.mark.parametrize(('word', 'stated'), [
    ('current', 'effort'), ('voltage', 'effort'), ('torque', 'current'), ('torque', 'voltage')])
def test_the_remedy_for_another_kind_of_signal_loads_and_ends_the_warning(
        tmp_path, word, stated):
    arm, path = load_arm('two_axis'), tmp_path / 'a.csv'
    path.write_text(table(['t', 'q_0', 'q_1', f'{word}_0', f'{word}_1'],
                          T, Q[:, :2], TAU[:, :2]))
    other = replace(arm, drive=replace(arm.drive, signal=stated))
    (kind,) = (d for d in read_recording(path, other).defects if d.code == 'signal_kind')
    drive = re.search(r'state drive: (\{.*\})\.$', kind.message)[1].replace('...', '1.5, 2.5')
    written = yaml.safe_load(shipped_files()['two_axis'].read_text())
    written['drive'] = yaml.safe_load(drive)
    (tmp_path / 'arm.yaml').write_text(yaml.safe_dump(written))
    assert 'signal_kind' not in {
        d.code for d in read_recording(path, load_arm(tmp_path / 'arm.yaml')).defects}


def test_names_in_a_table_may_lack_what_those_of_the_arm_share(tmp_path, arm):
    own = arm.with_tree(joint_names=tuple(f'ur10_{name}_joint' for name in JOINTS))
    path = tmp_path / 'a.csv'
    path.write_text(plotjuggler())
    log = read_recording(path, own)
    assert_motion(log, True)
    (guess,) = log.defects
    assert 'joints pan, lift, elbow as ur10_pan_joint, ur10_lift_joint, ur10_e' in guess.message
    # Documented names of columns, but not of the joints.
    path.write_text(table(['t', *(f'{name}.{field}' for field in ('position', 'effort')
                                  for name in NAMES)], T, Q[:, OTHER], TAU[:, OTHER]))
    assert 'joints pan, lift, elbow as' in read_recording(path, own).defects[0].message
    assert read_recording(path, arm).defects == ()


@pytest.mark.parametrize(('before', 'separator'), [
    ('# robot: UR3e\n# operator: X, at noon\n', ','),
    ('Trace: KRCAxis\n\nDate: 1.11.2024\n', '\t'), ('% log of 3 joints\n%\n% ', ';')])
def test_a_header_may_stand_behind_other_lines(tmp_path, arm, before, separator):
    path = tmp_path / 'a.txt'
    names = ['t', *numbered('q_{}', 'qd_{}', 'tau_{}')]
    path.write_text(before + table(names, T, Q, QD, TAU, separator=separator))
    assert_motion(read_recording(path, arm), True)
    # Without names, arm.yaml names the columns.
    path.write_text('# robot: UR3e\n' + text(np.column_stack([T, Q, TAU]), separator))
    with pytest.raises(RecordingError, match='no header line, but 7 columns'):
        read_recording(path, arm)
    named = replace(arm, table=Table(header=('t', *numbered('q{}', 'tau{}'))))
    assert_motion(read_recording(path, named))


def test_text_of_windows_in_german(tmp_path, arm):
    names = ['Zeit [s]', *(f'{word}_A{k}[{unit}]' for word, unit in (
        ('AxisActual_Winkel', '°'), ('Soll_Winkel', 'Grad'), ('Drehmoment', 'Nm'))
        for k in (1, 2, 3))]
    trace = table(names, T, np.degrees(Q), 1 + Q, TAU, separator=';').replace('.', ',')
    (tmp_path / 'a.txt').write_text(trace, encoding='cp1252', newline='\r\n')
    assert_motion(read_recording(tmp_path / 'a.txt', arm))


@pytest.mark.parametrize(('content', 'said'), [
    ('header:\n  stamp:\n    sec: 1\n    nanosec: 5\n  frame_id: base\nname:\n- pan\n',
     'messages as "ros2 topic echo" prints .*--csv'),
    ('<Rob Type="KUKA"><AIPos A1="1.0"/></Rob>\n' * 2, 'XML or JSON; write a line of names'),
    ('{"t": 0.0, "q": [0.1, 0.2, 0.3]}\n' * 2, 'XML or JSON; write a line of names'),
    ('t,position,effort\n0.0,"[0.1, 0.2, 0.3]","[1, 2, 3]"\n', 'lists in its cells; write each')])
def test_text_that_is_no_table_has_its_own_remedy(tmp_path, arm, content, said):
    (tmp_path / 'a.txt').write_text(content)
    with pytest.raises(RecordingError, match=said):
        read_recording(tmp_path / 'a.txt', arm)


FIVE = (T[:5], Q[:5], TAU[:5])
WRONG = {
    'a column missing': (
        table(['t', *(f'/js/{name}/position' for name in JOINTS), '/js/pan/effort',
               '/js/elbow/effort'], FIVE[0], FIVE[1], FIVE[2][:, :2]),
        ['no columns of signal for lift: /js/pan/effort, /js/elbow/effort do not fit']),
    'two arms': (
        table(['t', *(f'{side}_{name}_q' for side in ('left', 'right') for name in JOINTS),
               *numbered('tau_{}')], FIVE[0], FIVE[1], FIVE[1], FIVE[2]),
        ['position may be left_pan_q', 'or right_pan_q', 'table']),
    'two signals': (
        table(['t', *numbered('q_{}', 'tau_raw_{}', 'tau_smooth_{}')], *FIVE, FIVE[2]),
        ['tau_raw_0 ... tau_raw_2 or tau_smooth_0 ... tau_smooth_2']),
    'commands alone': (
        table(['t', *numbered('q_{}', 'tau_cmd_{}')], *FIVE),
        ['no columns of signal', 'tau_cmd_0']),
    'other joints': (
        table(['t', *(f'{name}.{field}' for field in ('position', 'effort')
                      for name in ('base', 'arm1', 'hand'))], *FIVE),
        ['for pan, lift, elbow: base.position, arm1.position, hand.position', 'aliases']),
    'no header': (table([*map(repr, np.r_[T[0], Q[0], TAU[0]].tolist())], *FIVE),
                  ['no header line', '7 columns', 'header: [t, q_1']),
    'no time': (table(numbered('q_{}', 'tau_{}'), FIVE[1], FIVE[2]), ['table: {rate_hz: 100}']),
}


@pytest.mark.parametrize('case', WRONG)
def test_what_cannot_be_told_is_one_error_with_the_candidates(tmp_path, arm, case):
    content, parts = WRONG[case]
    (tmp_path / 'a.csv').write_text(content)
    with pytest.raises(RecordingError) as caught:
        read_recording(tmp_path / 'a.csv', arm)
    for part in parts:
        assert part in str(caught.value)


def test_arrays_without_names_and_mat_files_of_version_7_3_are_refused(tmp_path, arm):
    np.save(tmp_path / 'log.npy', np.column_stack([T, Q, TAU]))
    with pytest.raises(RecordingError, match=r'shape \(200, 7\).*0 columns.*table: \{header'):
        read_recording(tmp_path / 'log.npy', arm)
    named = replace(arm, table=Table(header=('t', *numbered('q{}', 'tau{}'))))
    assert_motion(read_recording(tmp_path / 'log.npy', named))
    head = b'MATLAB 7.3 MAT-file, Platform: GLNXA64'.ljust(124) + b'\0\2IM'
    (tmp_path / 'a.mat').write_bytes(head.ljust(512, b'\0') + b'\x89HDF\r\n\x1a\n')
    with pytest.raises(RecordingError, match=r'v7\.3 .*-v7'):
        read_recording(tmp_path / 'a.mat', arm)
