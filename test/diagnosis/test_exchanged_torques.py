"""Torques in the wrong columns are noticed; torques in the right ones are left alone."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import rotation_rpy
from dynid_ros.arm.drive import joint_position
from dynid_ros.diagnosis.exchanged_torques import exchanged_torques
from dynid_ros.excitation.random_motion import random_motion
from dynid_ros.identification.identify import identify
from dynid_ros.regression.preparation import checked_recording, choose_conditioning, motions
from dynid_ros.simulation.record import simulate
from dynid_ros.storage.recording_reader import read_recording

pytestmark = pytest.mark.slow

ARMS = ('gluon_6l3', 'hand_leg', 'panda', 'two_axis', 'tx40', 'ur10')
REAL = {'ur10': 'ur10/ur10_exciting_trajectory.db3', 'tx40': 'tx40/pos_read_data.csv',
        'panda': 'panda/panda_exciting_trajectory.db3'}


def exchanged(log, first, second):
    u = log.u.copy()
    u[:, [first, second]] = u[:, [second, first]]
    return replace(log, u=u)


def found(arm, log):
    log, _ = checked_recording(log, arm)
    treatment = choose_conditioning(arm, [log])
    return exchanged_torques(arm, motions(arm, log, treatment), treatment)


def simulated(arm):
    log = simulate(arm, random_motion(arm, 0, tries=5, periods=1), rate_hz=125).log
    return replace(log, q=joint_position(log.q, arm.drive))


def last_pairs(arm):
    """All pairs of the last three joints, which are the most alike."""
    return list(combinations(range(max(arm.n - 3, 0), arm.n), 2))


@pytest.mark.parametrize('name', ARMS)
def test_exchanged_joints_of_simulated_arms_are_named_and_others_are_not(name):
    arm = load_arm(name)
    log = simulated(arm)
    assert found(arm, log) is None
    for pair in last_pairs(arm):
        assert ' and '.join(arm.joint_names[j] for j in pair) in found(arm, exchanged(log, *pair))


@pytest.mark.parametrize('name', REAL)
def test_exchanged_joints_of_real_arms_are_named_and_others_are_not(shared_data, name):
    arm = load_arm(name)
    log = read_recording(shared_data / REAL[name], arm)
    assert found(arm, log) is None
    for pair in last_pairs(arm):
        assert ' and '.join(arm.joint_names[j] for j in pair) in found(arm, exchanged(log, *pair))


def test_a_real_arm_that_hardly_moves_raises_no_alarm(shared_data, tmp_path):
    folder = shared_data / 'med7'
    (tmp_path / 'arm.yaml').write_text(yaml.safe_dump({
        'name': 'med7', 'description': {'urdf': str(folder / 'med7dock.urdf')},
        'table': {'rate_hz': 100}}))
    arm = load_arm(str(tmp_path / 'arm.yaml'))
    assert found(arm, read_recording(folder / 'measurements.csv', arm)) is None


@pytest.mark.parametrize(
    'fault', ['on a wall', 'no gravity', 'a joint at rest', 'all but one at rest'])
def test_other_faults_are_not_taken_for_an_exchange(fault):
    arm = load_arm('ur10')
    real = replace(arm, gravity={'on a wall': rotation_rpy((np.pi / 2, 0, 0)) @ arm.gravity,
                                 'no gravity': 1e-9 * arm.gravity}.get(fault, arm.gravity))
    log = simulated(real)
    if 'rest' in fault:
        still = slice(4, 5) if fault == 'a joint at rest' else slice(0, 5)
        log.q[:, still] = log.q[0, still]
    assert found(arm, log) is None


def test_the_verdict_names_the_two_wrist_joints():
    arm = load_arm('ur10')
    log = simulate(arm, random_motion(arm, 0, tries=5, periods=2), rate_hz=125).log
    result = identify(arm, [exchanged(log, 3, 5)])
    # What made this fault slip through: the wrist hardly counts in the torque of the whole arm.
    assert result.validation.relative_error_percent < 25
    assert not result.verdict.trustworthy
    reason = result.verdict.reasons[0]
    assert 'wrist_1_joint and wrist_3_joint seem to be exchanged' in reason
    # Of gravity nothing is said, since the check would look at the wrong columns.
    told = (*result.verdict.reasons, *result.treatment.notes)
    assert not any('gravity' in text for text in told)
