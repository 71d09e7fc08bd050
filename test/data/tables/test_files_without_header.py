# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recordings with a file for each quantity, whose columns have no names."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.model import Table
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.quality import check_recording
from dynid_ros.errors import RecordingError

RATE = 250
T = np.arange(400) / RATE
#: Slow enough for velocities to be those of the positions, and in no joint rising throughout.
SPEEDS = np.array([3.0, 4.0, 5.0])
Q, QD = np.sin(np.outer(T, SPEEDS)), SPEEDS * np.cos(np.outer(T, SPEEDS))
TAU = np.random.default_rng(0).normal(size=Q.shape)
#: Of files beside those that are wanted.
OTHER = np.full(Q.shape, 7.0)


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), 3, prismatic=False)


def write(folder, **files):
    """Write numbers alone into text files, or into arrays where the name says so."""
    for name, values in files.items():
        if name.endswith('_npy'):
            np.save(folder / f'{name.removesuffix("_npy")}.npy', values)
        else:
            np.savetxt(folder / f'{name}.txt', values)


def assert_motion(log, t=T):
    np.testing.assert_allclose(log.t, t, atol=1e-12)
    np.testing.assert_allclose(log.q, Q)
    np.testing.assert_allclose(log.qd, QD)
    np.testing.assert_allclose(log.u, TAU)


@pytest.mark.parametrize(('position', 'velocity', 'signal', 'time', 'others'), [
    ('dataQ', 'dataDotQ', 'dataCur', 'dataTimeStamp', ('dataDotQ_NF', 'dataDDotQ', 'dataQref')),
    ('excit_ang_record', 'excit_vel_record', 'excit_torque_record', 'excit_time_record',
     ('excit_motor_record', 'excit_acc_record')),
    ('position', 'velocity', 'torque', 'time', ('position_error', 'gravity', 'coriolis')),
    ('q_run1', 'qd_run1', 'tau_run1', 't_run1', ('q_run2', 'qd_run2', 'tau_run2', 't_run2')),
    ('position_npy', 'velocity_npy', 'torque_npy', 'time_npy', ('acceleration_npy',))])
def test_each_quantity_may_have_a_file(
        tmp_path, arm, position, velocity, signal, time, others):
    write(tmp_path, **{position: Q, velocity: QD, signal: TAU, time: T + 100},
          **dict.fromkeys(others, OTHER))
    first = next(tmp_path.glob(f'{position.removesuffix("_npy")}.*'))
    assert_motion(read_recording(first, arm))


@pytest.mark.parametrize('stamped', ['both', 'positions', 'signals'])
def test_the_time_may_stand_before_the_joints(tmp_path, arm, stamped):
    named = {'q': stamped != 'signals', 'tau': stamped != 'positions', 'qd': False}
    write(tmp_path, **{name: np.column_stack([T, values]) if named[name] else values
                       for name, values in (('q', Q), ('qd', QD), ('tau', TAU))})
    assert_motion(read_recording(tmp_path / 'q.txt', arm))


def test_a_joint_that_goes_back_is_no_time(tmp_path, arm):
    # It rises for the first hundred samples.
    write(tmp_path, q=np.column_stack([Q, T]), tau=TAU)
    with pytest.raises(RecordingError, match=r'no header line, but 4 columns; .* name the files'):
        read_recording(tmp_path / 'q.txt', arm)


def test_a_header_for_the_first_file_is_none_for_the_signals(tmp_path, arm):
    write(tmp_path, encoder=Q, torque=TAU)
    stated = Table(rate_hz=RATE, header=('q_1', 'q_2', 'q_3'))
    log = read_recording(tmp_path / 'encoder.txt', replace(arm, table=stated))
    np.testing.assert_allclose(log.u, TAU)


def test_a_stated_file_needs_no_header_either(tmp_path, arm):
    write(tmp_path, encoder=Q, torque_a=TAU, torque_b=OTHER)
    stated = Table(rate_hz=RATE, header=('q_1', 'q_2', 'q_3'), signal_file='torque_a.txt')
    log = read_recording(tmp_path / 'encoder.txt', replace(arm, table=stated))
    np.testing.assert_allclose(log.u, TAU)


def test_a_time_of_another_length_is_refused(tmp_path, arm):
    write(tmp_path, q=Q, tau=TAU, time=T[:-1])
    with pytest.raises(RecordingError, match=r'400 rows of positions but 399 .* in time\.txt'):
        read_recording(tmp_path / 'q.txt', arm)


def test_stated_columns_need_no_velocities_of_another_file(tmp_path, arm):
    write(tmp_path, q=Q, qd=QD, tau=TAU)
    stated = Table(rate_hz=RATE, header=('a', 'b', 'c'), position=('a', 'b', 'c'))
    assert read_recording(tmp_path / 'q.txt', replace(arm, table=stated)).qd is None


def test_without_a_time_the_rate_is_asked_for(tmp_path, arm):
    write(tmp_path, q=Q, qd=QD, tau=TAU)
    with pytest.raises(RecordingError, match=r'rate_hz: 100\}$'):
        read_recording(tmp_path / 'q.txt', arm)
    assert_motion(read_recording(
        tmp_path / 'q.txt', replace(arm, table=Table(rate_hz=RATE))))


def test_velocities_of_another_file_reveal_a_wrong_rate(tmp_path, arm):
    write(tmp_path, q=Q, qd=QD, tau=TAU)
    log = read_recording(tmp_path / 'q.txt', replace(arm, table=Table(rate_hz=RATE / 2)))
    (scaled,) = [each for each in check_recording(log, arm) if each.code == 'stamps_scaled']
    assert scaled.severity == 'error' and scaled.value == pytest.approx(0.5, rel=0.02)


def test_measured_signals_win_over_those_of_a_feedback(tmp_path, arm):
    np.savez(tmp_path / 'log.npz', t=T, q=Q, tau_measured=TAU, tau_feedback=OTHER,
             tau_command=OTHER)
    np.testing.assert_array_equal(read_recording(tmp_path / 'log.npz', arm).u, TAU)
    np.savez(tmp_path / 'log.npz', t=T, q=Q, tau_meas=TAU, tau_measured=OTHER)
    with pytest.raises(RecordingError, match=r'signal may be tau_meas_0 .* or tau_measured_0'):
        read_recording(tmp_path / 'log.npz', arm)
