# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Headers as people, drivers and simulators write them, each of which is understood alone."""

import numpy as np
from oracles import random_arm
import pytest
from scipy.io import savemat

from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import RecordingError

JOINTS = ('pan', 'lift', 'elbow')
T = np.arange(40) / 100
Q, QD, TAU = np.random.default_rng(0).normal(size=(3, 40, 3))

#: Time; positions, velocities (or none) and drive signals; further columns. ``{i}`` counts from 0,
#: ``{k}`` from 1, ``{j}`` and ``{J}`` are the joint's name.
FORMS = """
t | q_{i} | qd_{i} | tau_{i}
time | q{k} | dq{k} | tau{k}
time | q{k} | dq{k} | tau_measured{k} | ddq{k}
time | Q{k} | dQ{k} | Tau{k} | X Y Z
Time | q_{k} | qdot_{k} | tau_feedback_{k}
t[s] | q[{i}] | dq[{i}] | tau_J[{i}] | q_d[{i}] tau_J_d[{i}] tau_ext_hat_filtered[{i}]
timestamp | actual_q_{i} | actual_qd_{i} | actual_current_{i} | target_q_{i} actual_TCP_force_{i}
Time (s) | q_{k} (rad) | qd_{k} (rad/s) | tau_{k} (Nm)
time_s | q{k}_rad | qd{k}_rads | tau{k}_Nm
t | q_meas_{k} | qd_meas_{k} | tau_meas_{k} | q_ref_{k}
t | qMeas{k} | qdMeas{k} | tauMeas{k} | qDes{k}
t | q_{k} | qd_{k} | i_q_{k}
t | measured_q_{k} | measured_qd_{k} | measured_tau_{k} | commanded_q_{k}
t | q_act_{k} | qd_act_{k} | tau_act_{k} | q_des_{k}
t | q{k}_measured | | tau{k}_measured
t | q_{k}_act | | trq_{k}_act
t | q_{k} | qp_{k} | tau_{k}
t | q{k} | qDot{k} | u{k}
ts | q_{i} | dq_{i} | tau_est_{i}
time | theta_{k} | theta_dot_{k} | tau_{k}
time | theta{k} | dtheta{k} | torque{k}
time | th{k} | thd{k} | tq{k}
time | pos_{k} | vel_{k} | eff_{k}
time | pos_{k} | vel_{k} | torq_{k}
time | ang_{k} | vel_{k} | torq_{k}
time | ang_{k} | angvel_{k} | trq_{k}
time | angle_{k} | speed_{k} | torque_{k}
time | angle_{k} | angular_velocity_{k} | torque_{k}
time | jpos{k} | jvel{k} | jtor{k}
time | jpos_{i} | jvel_{i} | jeff_{i}
time | jnt_pos_{k} | jnt_vel_{k} | jnt_trq_{k}
time | position_{i} | velocity_{i} | effort_{i}
time | position.{i} | velocity.{i} | effort.{i}
Time | .position[{i}] | .velocity[{i}] | .effort[{i}]
time | joint_states.position[{i}] | joint_states.velocity[{i}] | joint_states.effort[{i}]
Time | Position{k} | Velocity{k} | Torque{k}
Time | PositionJ{k} | SpeedJ{k} | TorqueJ{k}
Time | Position{J} | Velocity{J} | Torque{J}
Time | {J}Position | {J}Velocity | {J}Torque
time | {j}Pos | {j}Vel | {j}Tau
time | pos{J} | vel{J} | eff{J}
time | {j}pos | {j}vel | {j}torque
time | pos_{j} | vel_{j} | eff_{j}
time | {j}_pos | {j}_vel | {j}_eff
time | {j}_ang | {j}_vel | {j}_torq
time | {j}_position | {j}_velocity | {j}_force
time | {j}.position | {j}.velocity | {j}.effort
time | q_{j} | dq_{j} | tau_{j}_measured
time | measured_position_{j} | | measured_torque_{j}
__time | /joint_states/{j}/position | /joint_states/{j}/velocity | /joint_states/{j}/effort
time | Joint{k}_Position | Joint{k}_Velocity | Joint{k}_Force
time | Joint {k} Angle | Joint {k} Velocity | Joint {k} Torque
time | Joint{k} | | JointTorque{k}
time | joint{k} | | joint{k}_torque
time | J{k} (deg) | | J{k} torque (Nm)
time | A{k} | | A{k}_current
time | j{k} | | tau{k}
time | joint_positions_{k} | joint_velocities_{k} | joint_torques_{k}
time | jointAngle{k} | jointVelocity{k} | jointTorque{k}
time | joint_angle_{k} | joint_speed_{k} | joint_load_torque_{k}
time | lf_joint{k}_pos | lf_joint{k}_vel | lf_joint{k}_torque
time | msrJntPos{k} | | msrJntTrq{k} | cmdJntPos{k}
time | MeasuredJointPosition{k} | | MeasuredTorque{k} | CommandedTorque{k} ExternalTorque{k}
time | axis{k}.ActPos | axis{k}.ActVel | axis{k}.ActTorque | axis{k}.SetPos
time | Axis {k} actual position | | Axis {k} motor torque
time | motor_position_{i} | motor_velocity_{i} | motor_current_{i}
time | motor_state[{i}].q | motor_state[{i}].dq | motor_state[{i}].tau_est
time | motorState[{i}].q | motorState[{i}].dq | motorState[{i}].tauEst | motorState[{i}].ddq
time | actuators[{i}].position | actuators[{i}].velocity | actuators[{i}].torque
time | Present_Position_{k} | Present_Velocity_{k} | Present_Current_{k} | Goal_Position_{k}
time | qpos_{i} | qvel_{i} | qfrc_actuator_{i} | qfrc_bias_{i}
time | qpos_{i} | qvel_{i} | actuator_force_{i} | qacc_{i}
time | q{k} | dq{k} | iq{k}
time | q_{k} | qd_{k} | I_{k}
time | q_{k} | qd_{k} | curr_{k}
time_ms | pos_{k}_deg | vel_{k}_deg | cur_{k}_mA
Zeit [s] | Istposition_{k} | Istgeschwindigkeit_{k} | Istmoment_{k} | Sollposition_{k}
Zeit [s] | Istposition A{k} [rad] | | Motormoment A{k} [Nm]
t | Achswinkel {k} | | Achsmoment {k}
t | Gelenkwinkel_{k} | | Gelenkmoment_{k}
time | q{i} | dq{i} | tau_J{i} | theta{i} dtheta{i} q_d{i}
elapsed_time | robot0_joint_pos_{i} | robot0_joint_vel_{i} | robot0_torques_{i}
"""
ROWS = FORMS.strip().splitlines()


def named(pattern):
    return [pattern.format(i=k, k=k + 1, j=name, J=name.capitalize())
            for k, name in enumerate(JOINTS)]


def written(folder, form):
    """Write a table in a form; return its path and whether it has velocities."""
    time, position, velocity, signal, *others = [part.strip() for part in form.split('|')]
    names, columns = [time], [T]
    for pattern, values in ((position, Q), (velocity, QD), (signal, TAU)):
        names += named(pattern) if pattern else []
        columns += [values] if pattern else []
    for pattern in ' '.join(others).split():
        every = list(dict.fromkeys(named(pattern)))
        names += every
        columns.append(np.full((len(T), len(every)), 7.0))
    path = folder / 'run.csv'
    rows = [names, *np.column_stack(columns).tolist()]
    path.write_text('\n'.join(','.join(map(str, row)) for row in rows) + '\n')
    return path, bool(velocity)


@pytest.fixture(scope='module')
def arm():
    found = random_arm(np.random.default_rng(0), 3, prismatic=False)
    return found.with_tree(joint_names=JOINTS)


@pytest.mark.parametrize('form', ROWS)
def test_each_form_is_understood(tmp_path, arm, form):
    path, velocity = written(tmp_path, form)
    log = read_recording(path, arm)
    signal = form.split('|')[3]
    turn = np.pi / 180 if 'deg' in form else 1.0
    np.testing.assert_allclose(log.q, turn * Q)
    np.testing.assert_allclose(log.u, TAU * (1e-3 if 'mA' in signal else 1.0))
    assert (log.qd is not None) == velocity
    if velocity:
        np.testing.assert_allclose(log.qd, turn * QD)
    assert not [each for each in log.defects if each.severity == 'error']


UNCLEAR = {
    # As of a sensor at the wrist.
    't | q_{k} | | force_{k}': 'no columns of signal for pan, lift, elbow',
    't | q_{k} | | tool_force_{k}': 'no columns of signal for pan, lift, elbow',
    't | pos_{k} | | eff_{k} | ang_{k}': 'position may be pos_1 ... pos_3 or ang_1 ... ang_3',
    't | {j}Pos | | {j}Tau | {j}Angle': 'position may be panPos',
    # Letters of the name inside another word.
    't | q{J}s | | tau{J}s': 'no columns of position',
    't | pos_{k} | | tau_bias_{k}': 'no columns of signal',
}


@pytest.mark.parametrize('form', UNCLEAR)
def test_what_may_be_another_quantity_is_not_taken(tmp_path, arm, form):
    path, _ = written(tmp_path, form)
    with pytest.raises(RecordingError) as caught:
        read_recording(path, arm)
    assert UNCLEAR[form] in str(caught.value)


def test_an_estimate_of_the_drive_yields_to_a_measured_torque(tmp_path, arm):
    path, _ = written(tmp_path, 't | q_{k} | | tau_{k} | tau_est_{k}')
    np.testing.assert_array_equal(read_recording(path, arm).u, TAU)


def test_the_times_of_signals_are_one_where_they_are_equal(tmp_path, arm):
    def save(own):
        signal = {'q': (T, Q), 'tau': (own, TAU[:len(own)])}
        savemat(tmp_path / 'out.mat', {
            name: {'time': time[:, None], 'signals': {'values': values, 'label': ''}}
            for name, (time, values) in signal.items()})
        return tmp_path / 'out.mat'

    log = read_recording(save(T), arm)
    np.testing.assert_allclose(log.t, T)
    np.testing.assert_array_equal(log.q, Q)
    np.testing.assert_array_equal(log.u, TAU)
    for own in (T + 0.001, T[:-1]):
        with pytest.raises(RecordingError, match=r'the time may be q\.time, tau\.time; name the'):
            read_recording(save(own), arm)
