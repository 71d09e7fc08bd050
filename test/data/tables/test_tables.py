# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Tables are read by the names of their columns, and a bad cell is found."""

from dataclasses import replace
import struct

from bag_files import Motion
import numpy as np
from oracles import random_arm
import pytest
from scipy.io import savemat

from dynid_ros.arm.model import Table
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import RecordingError

N = 3
MOTION = Motion(['j1', 'j2', 'j3'])
BLOCK = np.column_stack([MOTION.t, MOTION.q, MOTION.qd, MOTION.effort])


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), N, prismatic=False)


def names(pattern, first=0):
    stems = {'q': 'position', 'qd': 'velocity', 'tau': 'effort'}
    return [
        pattern.format(stem=stem, i=i + first, joint=f'j{i + 1}', word=word)
        for stem, word in stems.items()
        for i in range(N)
    ]


def write_csv(path, header, values, separator=','):
    lines = [separator.join(header)] if header else []
    # repr of a float loses nothing.
    lines += [separator.join(map(repr, row)) for row in np.asarray(values).tolist()]
    path.write_text('\n'.join(lines) + '\n')
    return path


def assert_motion(log, velocity=True):
    np.testing.assert_array_equal(log.t, MOTION.t)
    np.testing.assert_array_equal(log.q, MOTION.q)
    np.testing.assert_array_equal(log.u, MOTION.effort)
    if velocity:
        np.testing.assert_array_equal(log.qd, MOTION.qd)
    else:
        assert log.qd is None
    assert log.defects == ()


@pytest.mark.parametrize(
    ('pattern', 'first'),
    [('{stem}_{i}', 0), ('{stem}_{i}', 1), ('{stem}{i}', 1), ('{joint}.{word}', 0)],
)
@pytest.mark.parametrize('time', ['t', 'time', 'stamp'])
def test_usual_column_names_need_no_settings(tmp_path, arm, pattern, first, time):
    header = [time, *names(pattern, first)]
    assert_motion(read_recording(write_csv(tmp_path / 'a.csv', header, BLOCK), arm))


@pytest.fixture(scope='module')
def servo(arm):
    return replace(arm, drive=replace(arm.drive, signal='command'))


@pytest.mark.parametrize('pattern', [
    'q_des_{i}', 'des_q{i}', 'q_cmd[{i}]', 'action_{i}', 'goal_position_{i}', 'target_q_{i}',
    'desired_joint_pos_{i}', 'ctrl{i}', '{joint}.command', '{joint}_goal_position',
    '/joint_command/{joint}/position', '/arm_controller/controller_state/reference/positions[{i}]',
])
def test_commands_are_found_beside_positions(tmp_path, servo, pattern):
    told = [pattern.format(i=i, joint=f'j{i + 1}') for i in range(N)]
    others = [f'tau_{i}' for i in range(N)]
    # Torque, and commands of velocities, are no commands of positions.
    header = ['t', *(f'q_{i}' for i in range(N)), *others, *told,
              *(f'cmd_vel_{i}' for i in range(N))]
    values = np.column_stack([MOTION.t, MOTION.q, MOTION.effort, MOTION.q + 0.1, MOTION.qd])
    log = read_recording(write_csv(tmp_path / 'a.csv', header, values), servo)
    np.testing.assert_array_equal(log.q, MOTION.q)
    np.testing.assert_array_equal(log.u, MOTION.q + 0.1)
    assert log.signal == 'command' and not [d for d in log.defects if d.severity != 'info']


def test_commands_may_lie_in_a_file_beside(tmp_path, servo):
    header = ['t', 'j1', 'j2', 'j3']
    path = write_csv(tmp_path / 'positions.csv', header, BLOCK[:, :1 + N])
    told = np.column_stack([MOTION.t, MOTION.q + 0.1])
    write_csv(tmp_path / 'goals.csv', header, told)
    log = read_recording(path, replace(servo, table=Table(signal_file='goals.csv')))
    np.testing.assert_array_equal(log.u, MOTION.q + 0.1)
    np.testing.assert_array_equal(log.q, MOTION.q)


def test_commands_have_the_unit_of_positions(tmp_path, servo):
    header = ['t', *(f'q_{i}' for i in range(N)), *(f'q_des_{i}' for i in range(N))]
    values = np.column_stack([MOTION.t, MOTION.q, MOTION.q + 0.1])
    path = write_csv(tmp_path / 'a.csv', header, values)
    log = read_recording(path, replace(servo, table=Table(unit='deg')))
    np.testing.assert_allclose(log.u, np.deg2rad(MOTION.q + 0.1))
    ends = replace(
        servo.limits, lower=np.array([-1.0, -2.0, 0.0]), upper=np.array([1.0, 2.0, 1.0]))
    log = read_recording(path, replace(servo, table=Table(unit='percent'), limits=ends))
    np.testing.assert_allclose(log.q, [0.0, 0.0, 0.5] + MOTION.q / 100 * [1.0, 2.0, 0.5])


def test_commands_are_offered_where_there_is_no_torque(tmp_path, arm, servo):
    header = ['t', *(f'q_{i}' for i in range(N)), *(f'q_des_{i}' for i in range(N))]
    path = write_csv(tmp_path / 'a.csv', header, BLOCK[:, :1 + 2 * N])
    with pytest.raises(RecordingError, match=(
            r'if its drives follow q_des_0 \.\.\. q_des_2, state drive: \{signal: command\}')):
        read_recording(path, arm)
    bare = write_csv(tmp_path / 'b.csv', header[:1 + N], BLOCK[:, :1 + N])
    with pytest.raises(RecordingError, match=r'such as q_des_0 or j1\.command'):
        read_recording(bare, servo)


@pytest.mark.parametrize('separator', [',', ';', '\t', ' '])
def test_the_separator_is_found(tmp_path, arm, separator):
    header = ['t', *names('{stem}_{i}')]
    assert_motion(read_recording(write_csv(tmp_path / 'a.csv', header, BLOCK, separator), arm))


def test_columns_may_stand_in_any_order_among_others(tmp_path, arm):
    header = ['t', *names('{stem}_{i}'), 'tau_ext_0']
    values = np.column_stack([BLOCK, np.full(len(BLOCK), 7.0)])
    order = np.random.default_rng(1).permutation(len(header))
    path = write_csv(tmp_path / 'a.csv', [header[i] for i in order], values[:, order])
    assert_motion(read_recording(path, arm))


def test_a_headerless_file_is_read_by_the_names_of_the_arm(tmp_path, arm):
    header = ('clock', 'a', 'b', 'c', 'x', 'y', 'z')
    table = Table(time='clock', position=('a', 'b', 'c'), signal=('z', 'y', 'x'), header=header)
    values = np.column_stack([MOTION.t, MOTION.q, MOTION.effort[:, ::-1]])
    log = read_recording(write_csv(tmp_path / 'a.csv', [], values), replace(arm, table=table))
    assert_motion(log, velocity=False)


def test_signals_may_lie_in_a_file_beside(tmp_path, arm):
    axes = ('Joint_1', 'Joint_2', 'Joint_3')
    table = Table(rate_hz=100.0, position=axes, signal=axes, signal_file='current.csv')
    write_csv(tmp_path / 'current.csv', axes, MOTION.effort)
    path = write_csv(tmp_path / 'position.csv', axes, MOTION.q)
    assert_motion(read_recording(path, replace(arm, table=table)), velocity=False)
    write_csv(tmp_path / 'current.csv', axes, MOTION.effort[:-1])
    with pytest.raises(RecordingError, match=r'300 rows of positions but 299 .* current\.csv'):
        read_recording(path, replace(arm, table=table))


@pytest.mark.parametrize('signal', ['tau', 'u'])
@pytest.mark.parametrize('velocity', [False, True])
def test_npz_arrays_are_read(tmp_path, arm, signal, velocity):
    arrays = {'t': MOTION.t, 'q': MOTION.q, signal: MOTION.effort}
    if velocity:
        arrays['qd'] = MOTION.qd
    np.savez(tmp_path / 'a.npz', **arrays)
    assert_motion(read_recording(tmp_path / 'a.npz', arm), velocity)


@pytest.mark.parametrize('suffix', ['.csv', '.npz'])
def test_without_times_a_rate_is_needed_and_an_explicit_one_wins(tmp_path, arm, suffix):
    path = tmp_path / f'a{suffix}'
    if suffix == '.csv':
        write_csv(path, names('{stem}_{i}'), BLOCK[:, 1:])
    else:
        np.savez(path, q=MOTION.q, tau=MOTION.effort, qd=MOTION.qd)
    with pytest.raises(RecordingError, match=r'no time column \(t, time, stamp\).*rate'):
        read_recording(path, arm)
    timed = replace(arm, table=Table(rate_hz=100.0))
    assert_motion(read_recording(path, timed))
    assert read_recording(path, timed, rate_hz=50.0).seconds == pytest.approx(2 * MOTION.t[-1])


def test_missing_columns_are_named_with_those_there(tmp_path, arm):
    path = write_csv(tmp_path / 'a.csv', ['t', 'q_0', 'q_1', 'q_2'], BLOCK[:, :4])
    with pytest.raises(RecordingError, match=r'no columns of signal.*tau_0.*it has t, q_0'):
        read_recording(path, arm)
    table = Table(position=('q_0', 'q_1', 'missing'))
    with pytest.raises(RecordingError, match=r'no column missing; it has t, q_0'):
        read_recording(path, replace(arm, table=table))


@pytest.mark.parametrize('pattern', ['q_{j}', 'q_{i}'])
def test_a_name_that_stands_twice_in_the_header_is_shown_with_its_columns(tmp_path, arm, pattern):
    """Whether the joint that it hides is missing, or all of them are there."""
    header = ['t', *(pattern.format(j=f'j{i}', i=i) for i in (1, 2, 3)),
              'tau_1', 'tau_2', 'tau_2', 'tau_9']
    path = write_csv(tmp_path / 'a.csv', header, BLOCK[:, :8])
    said = r'a\.csv: the header has the name tau_2 2 times, for the columns 6 and 7; give each'
    with pytest.raises(RecordingError, match=said):
        read_recording(path, arm)
    path = write_csv(tmp_path / 'a.csv', [*header[:-1], 'tau_3'], BLOCK[:, :8])
    with pytest.raises(RecordingError, match=said):
        read_recording(path, arm)


def test_columns_of_an_arm_with_more_joints_are_refused(tmp_path, arm):
    header = ['t', *(f'q_{i}' for i in range(7)), *(f'tau_{i}' for i in range(7))]
    path = write_csv(tmp_path / 'a.csv', header, np.zeros((9, 15)))
    with pytest.raises(RecordingError, match=r'for j1, j2, j3: q_0 \.\.\. q_6 do not fit'):
        read_recording(path, arm)


@pytest.mark.parametrize(
    ('content', 'said'),
    [
        ('', 'is empty'),
        ('1,2,3\n4,5,6\n', 'no header line'),
        ('t,q_0,q_1,q_2,tau_0,tau_1,tau_2\n', 'no rows'),
    ],
)
def test_a_file_that_is_no_table_says_why(tmp_path, arm, content, said):
    path = tmp_path / 'a.csv'
    path.write_text(content)
    with pytest.raises(RecordingError, match=said):
        read_recording(path, arm)


def mat_object(path, name, kind, **arrays):
    """Write an object beside arrays, in level 5 of the format: its strings, and a number."""
    def element(code, data):
        return struct.pack('<II', code, len(data)) + data + bytes(-len(data) % 8)

    flags = element(6, struct.pack('<II', 17, 0))
    number = element(14, element(6, struct.pack('<II', 13, 0)) + element(
        5, struct.pack('<ii', 1, 1)) + element(1, b'') + element(6, struct.pack('<I', 7)))
    strings = b''.join(element(1, text.encode()) for text in (name, 'MCOS', kind))
    savemat(path, arrays)
    path.write_bytes(path.read_bytes() + element(14, flags + strings + number))


@pytest.mark.parametrize(('kind', 'said'), [
    ('table', r"run is a MATLAB table, .* with writetable\(run, 'a\.csv'\)$"),
    ('timeseries', r"run is a MATLAB timeseries, .* with save\('a\.mat', 't', 'q', 'tau'")])
def test_an_object_that_matlab_alone_reads_is_named(tmp_path, arm, kind, said):
    mat_object(tmp_path / 'a.mat', 'run', kind, rate=100.0, joints=np.array(['j1', 'j2', 'j3']))
    with pytest.raises(RecordingError, match=said):
        read_recording(tmp_path / 'a.mat', arm)


def test_an_object_of_matlab_beside_the_arrays_does_no_harm(tmp_path, arm):
    mat_object(tmp_path / 'a.mat', 'made', 'datetime', t=MOTION.t, q=MOTION.q, qd=MOTION.qd,
               tau=MOTION.effort)
    assert_motion(read_recording(tmp_path / 'a.mat', arm))


@pytest.mark.parametrize(
    ('arrays', 'said'),
    [
        ({'q': MOTION.q}, r'no columns of signal.*it has t, q_0 \.\.\. q_2'),
        ({'q': MOTION.q, 'tau': MOTION.effort[:, :2]}, r'for j1, j2, j3: tau_0 \.\.\. tau_1 do'),
        ({'q': MOTION.q, 'tau': MOTION.effort[:-1]}, 'tau 299'),
        ({'q': MOTION.q.astype(str), 'tau': MOTION.effort}, 'q is not numeric'),
    ],
)
def test_unusable_npz_arrays_are_named(tmp_path, arm, arrays, said):
    np.savez(tmp_path / 'a.npz', t=MOTION.t, **arrays)
    with pytest.raises(RecordingError, match=said):
        read_recording(tmp_path / 'a.npz', arm)
