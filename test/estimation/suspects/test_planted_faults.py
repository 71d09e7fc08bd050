# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Planted faults are named by their cause, and good recordings are accused of nothing."""

from dataclasses import replace
import json

import numpy as np
import pytest
from results import cause_of
from synthetic_recordings import followed
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import joint_position, motor_position
from dynid_ros.arm.friction import PRESLIDING_DISTANCE
from dynid_ros.arm.parameters import is_physical
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.history import presliding_of
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion

pytestmark = pytest.mark.slow
PLAIN = ('viscous', 'coulomb', 'offset')
REAL = {'ur10': 'ur10/ur10_exciting_trajectory.db3', 'tx40': 'tx40/pos_read_data.csv',
        'panda': 'panda/panda_exciting_trajectory.db3'}


@pytest.fixture(scope='module')
def leg():
    """Return the smallest arm whose gravity and joints show every fault, and its recording."""
    arm = load_arm('hand_leg')
    return arm, moved(arm)


@pytest.fixture(scope='module')
def ur10():
    arm = load_arm('ur10')
    return arm, moved(arm)


def moved(arm):
    return followed(arm, random_motion(arm, 0, tries=5, periods=2), 125.0)


def identified(arm, log):
    return identify(arm, [log], friction=PLAIN)


@pytest.fixture(scope='module')
def good(leg):
    return identified(*leg)


def codes(arm, log):
    return [finding.code for finding in identified(arm, log).verdict.findings]


def changed(values, joint, change):
    values = values.copy()
    values[:, joint] = change(values[:, joint])
    return values


def exchanged(values, *joints):
    order = np.arange(values.shape[1])
    order[list(joints)] = np.roll(order[list(joints)], 1)
    return values[:, order]


def test_a_good_recording_is_accused_of_nothing(good):
    assert good.verdict.trustworthy and good.verdict.findings == ()
    assert any('gravity agrees' in note for note in good.treatment.notes)


@pytest.mark.parametrize(('lacking', 'share'), [((2,), 0.5), ((3, 4, 5), 2.0)])
def test_signals_without_the_compensation_of_friction_are_named_together(ur10, lacking, share):
    """Velocity drives the joints, and their Coulomb friction does not."""
    arm, log = ur10
    u = log.u.copy()
    for joint in lacking:
        u[:, joint] -= share * u[:, joint].std() / log.qd[:, joint].std() * log.qd[:, joint]
    model = identified(arm, replace(log, u=u))
    finding = model.verdict.findings[0]
    assert (finding.code, finding.joints) == (
        'friction_compensated', tuple(arm.joint_names[joint] for joint in lacking))
    assert finding.is_error


def test_a_late_signal_is_named_although_it_lowers_the_cut_off(shared_data):
    """At 2 Hz, the table sees no delay of joint 3 of the fast TX40."""
    arm = load_arm('tx40')
    log, _ = checked_recording(read_recording(shared_data / REAL['tx40'], arm), arm)
    late = replace(log, u=changed(
        log.u, 2, lambda u: np.interp(log.t - 0.06, log.t, u)))
    model = identify(arm, [late])
    assert model.treatment.cutoff_hz == 2.0
    assert [(each.code, each.joints) for each in model.verdict.findings if each.is_error] == [
        ('effort_delay', ('joint_3',))]


@pytest.fixture(scope='module', params=REAL)
def real(request, shared_data):
    arm = load_arm(request.param)
    return identify(arm, [read_recording(shared_data / REAL[request.param], arm)])


def test_real_recordings_are_accused_of_nothing_and_lose_nothing(real):
    assert real.verdict.findings == ()
    assert not [note for note in real.treatment.notes if 'sensor' in note]
    (note,) = [note for note in real.treatment.notes if 'gravity agrees' in note]
    assert float(note.split(' to ')[1].split(' ')[0]) < 3.0, note


def test_possible_links_are_the_model_of_real_recordings(real):
    found, layout = real.standard_parameters(), real.arm.layout
    links = found.values[layout.all_inertial()].reshape(real.arm.links, 10)
    assert all(map(is_physical, links))
    assert found.impossible != ()
    assert real.possible
    np.testing.assert_allclose(
        real.theta, base_parameters(real.arm).grouping @ found.values, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(('name', 'code', 'joint', 'change'), [
    ('leg', 'effort_sign', 1, np.negative),
    ('leg', 'effort_scale', 1, lambda x: 10 * x),
    ('leg', 'effort_meaningless', 2, lambda x: np.random.default_rng(0).normal(size=len(x))),
    # Nothing tells the gain of its last joint.
    ('ur10', 'effort_beyond_limit', 5, lambda x: 1000 * x),
    ('leg', 'effort_clipped', 1, lambda x: np.clip(
        x, -np.abs(x).max() / 2, np.abs(x).max() / 2)),
])
def test_a_fault_of_the_drive_signals_is_named(request, name, code, joint, change):
    arm, log = request.getfixturevalue(name)
    result = identified(arm, replace(log, u=changed(log.u, joint, change)))
    assert not result.verdict.trustworthy
    first = result.verdict.findings[0]
    assert (first.code, first.joints) == (code, (arm.joint_names[joint],))
    assert arm.joint_names[joint] in first.sentence
    if code not in ('effort_clipped', 'effort_beyond_limit'):
        assert first.error_after_percent < min(15, 0.8 * first.error_before_percent)


def test_a_zero_can_be_corrected_as_the_remedy_says(ur10):
    arm, log = ur10
    first = cause_of(arm, replace(log, q=changed(log.q, 2, lambda x: x + 1.0)))
    assert (first.code, first.joints) == ('position_zero', (arm.joint_names[2],))
    subtracted = float(first.remedy.split('subtract ')[1].split()[0])
    assert abs(subtracted - 1.0) < 0.02


def test_the_right_order_of_three_drive_signals_is_given(leg):
    arm, log = leg
    found = cause_of(arm, replace(log, u=exchanged(log.u, 0, 1, 2)))
    text, (first, second, third) = found.text, arm.joint_names[:3]
    assert (found.code, set(found.joints)) == ('effort_exchanged', {first, second, third})
    for column, held in ((first, third), (second, first), (third, second)):
        assert f"'{column}' holds that of '{held}'" in text


@pytest.mark.parametrize(('code', 'joints', 'q'), [
    ('position_exchanged', [1, 2], lambda q: exchanged(q, 1, 2)),
    ('position_sign', [2], lambda q: changed(q, 2, np.negative)),
])
def test_a_fault_of_the_positions_is_named(leg, code, joints, q):
    arm, log = leg
    first = cause_of(arm, replace(log, q=q(log.q), qd=None))
    assert first.code == code
    assert set(first.joints) == {arm.joint_names[joint] for joint in joints}


# The parameters absorb a part of an exchange of the last two joints.
@pytest.mark.parametrize(('joints', 'left'), [
    ((0, 2), 0.3), ((2, 3), 0.7), ((0, 1, 2), 0.3)])
def test_joints_whose_positions_and_efforts_are_in_another_order_are_named(leg, joints, left):
    """Arrays that were saved without names, by a driver that sorts its joints otherwise."""
    arm, log = leg
    swapped = replace(log, q=exchanged(log.q, *joints), u=exchanged(log.u, *joints), qd=None)
    first = cause_of(arm, swapped)
    assert first.code == 'joint_exchanged'
    assert set(first.joints) == {arm.joint_names[joint] for joint in joints}
    assert 'ositions and drive signals of' in first.sentence
    assert first.error_after_percent < left * first.error_before_percent


def test_the_data_do_not_tell_the_sign_of_the_last_position_from_that_of_its_effort(leg):
    arm, log = leg
    first = cause_of(arm, replace(log, u=changed(log.u, 3, np.negative)))
    assert 'the drive signal of' in first.text and arm.joint_names[3] in first.joints
    assert {'effort_sign', 'position_sign'} >= {first.code}


@pytest.mark.parametrize('joint', [1, 2])
def test_an_axis_that_points_the_other_way_is_named(leg, joint):
    arm, log = leg
    both = [changed(values, joint, np.negative) for values in (log.q, log.u)]
    first = cause_of(arm, replace(log, q=both[0], u=both[1]))
    assert (first.code, first.joints) == ('axis_reversed', (arm.joint_names[joint],))


def test_missing_gravity_is_named_and_not_an_exchange(leg):
    arm, log = leg
    assert cause_of(replace(arm, gravity=np.zeros(3)), log).code == 'gravity_missing'


def test_one_late_drive_signal_is_named_with_its_delay(leg):
    arm, log = leg
    late = changed(log.u, 2, lambda x: np.interp(log.t - 0.12, log.t, x))
    first = cause_of(arm, replace(log, u=late))
    assert (first.code, first.joints) == ('effort_delay', (arm.joint_names[2],))
    assert '120 ms late' in first.text


def with_hysteresis(log, joint, distance):
    """Add friction as large as the torque of a joint, whose contact bends over a distance, rad."""
    bend = presliding_of(log.q * PRESLIDING_DISTANCE / distance)[:, joint]
    return replace(log, u=changed(log.u, joint, lambda u: u + u.std() * bend))


# With plain friction alone, the signal of its last joint seems to be 60 ms late.
@pytest.mark.parametrize('distance', [PRESLIDING_DISTANCE, 1.5 * PRESLIDING_DISTANCE])
def test_friction_that_bends_before_it_slides_is_no_late_signal(leg, distance):
    arm, log = leg
    assert codes(arm, with_hysteresis(log, 3, distance)) == []


# With plain friction alone, it seems to be 120 ms late.
@pytest.mark.parametrize('distance', [0.6 * PRESLIDING_DISTANCE, PRESLIDING_DISTANCE])
def test_a_late_signal_of_such_friction_is_named_with_its_own_delay(leg, distance):
    arm, log = leg
    bent = with_hysteresis(log, 3, distance)
    late = changed(bent.u, 3, lambda x: np.interp(log.t - 0.06, log.t, x))
    first = cause_of(arm, replace(bent, u=late))
    assert (first.code, first.joints) == ('effort_delay', (arm.joint_names[3],))
    assert ' 60 ms late' in first.text


def test_a_wrong_zero_is_named_although_the_error_stays_small():
    arm = load_arm('panda')
    log = moved(arm)
    shifted = changed(log.q, 2, lambda q: q + np.radians(10))
    first = cause_of(arm, replace(log, q=shifted, qd=None))
    assert (first.code, first.joints) == ('position_zero', (arm.joint_names[2],))
    assert 'off by 10 degrees' in first.text


def test_a_wrong_offset_between_two_joints_is_named_with_its_length(leg):
    arm, log = leg
    translation = arm.translation.copy()
    translation[2] *= 2
    first = cause_of(arm.with_tree(translation=translation), log)
    assert (first.code, first.joints) == ('link_length', (arm.joint_names[2],))
    found, stated = (float(text.split(' mm')[0].split()[-1])
                     for text in first.text.split(' instead of '))
    right = 1000 * np.linalg.norm(arm.translation[2])
    assert abs(found / right - 1) < 0.05 and abs(stated / right - 2) < 0.01


def test_faults_that_the_parameters_absorb_are_listed(leg, good):
    arm, log = leg
    (note,) = [text for text in good.treatment.notes if 'cannot reveal' in text]
    gains = note.split('factor of two (')[1].split(')')[0]
    doubled = changed(log.u, 3, lambda x: 2 * x)
    assert arm.joint_names[3] in gains and arm.joint_names[1] not in gains
    assert identified(arm, replace(log, u=doubled)).verdict.trustworthy


def test_a_fault_that_widens_the_error_bars_is_not_blamed_on_the_motion(shared_data):
    arm = load_arm('panda')
    log = read_recording(shared_data / REAL['panda'], arm)
    upside_down = replace(arm, gravity=-arm.gravity)
    found = codes(upside_down, log)
    # With some friction terms the torque of joint 7 is missed, too.
    assert found[0] == 'gravity_direction'
    assert set(found) <= {'gravity_direction', 'joint_error'}
    assert cause_of(arm, replace(log, u=exchanged(log.u, 0, 4))).code == 'effort_exchanged'


def test_several_dead_joints_are_named_together(leg):
    arm, log = leg
    u = log.u.copy()
    u[:, 2:] = 1e-3 * np.random.default_rng(0).normal(size=u[:, 2:].shape)
    first = cause_of(arm, replace(log, u=u))
    assert first.code == 'effort_meaningless'
    assert set(first.joints) == set(arm.joint_names[2:])


def test_a_signal_of_few_levels_is_coarse_and_not_cut_off(leg):
    arm, log = leg
    u = changed(log.u, 1, lambda x: np.ptp(x) * np.round(1.5 * x / np.ptp(x)))
    first = identified(arm, replace(log, u=u)).verdict.findings[0]
    assert (first.code, first.joints) == ('effort_meaningless', (arm.joint_names[1],))


def test_noise_is_explained_by_nothing(leg):
    arm, log = leg
    noise = np.random.default_rng(1).normal(size=log.u.shape) * log.u.std(axis=0)
    found = codes(arm, replace(log, u=noise))
    assert found and not any(code.startswith(('effort_ex', 'effort_sign', 'position', 'gravity'))
                             for code in found)


def test_joints_at_rest_are_taken_for_no_fault(ur10):
    arm, log = ur10
    q = log.q.copy()
    q[:, :5] = q[0, :5]
    assert not any(code.startswith(('effort_ex', 'effort_sign', 'position'))
                   for code in codes(arm, replace(log, q=q, qd=None)))


def test_a_real_arm_whose_signals_are_all_reversed_is_named(shared_data, tmp_path, monkeypatch):
    # Others beside it would be sought twice more.
    monkeypatch.setattr('dynid_ros.estimation.suspects.table.MOST_FAULTS', 1)
    folder = shared_data / 'med7'
    (tmp_path / 'arm.yaml').write_text(yaml.safe_dump({
        'name': 'med7', 'description': {'urdf': str(folder / 'med7dock.urdf')},
        'table': {'rate_hz': 100}}))
    arm = load_arm(str(tmp_path / 'arm.yaml'))
    first = cause_of(arm, read_recording(folder / 'measurements.csv', arm))
    assert (first.code, first.joints) == ('effort_sign', arm.joint_names)


def test_reversed_signals_that_no_link_explains_are_named(shared_data, monkeypatch):
    """The counterweight of this arm would ask for a link of a thousand tons."""
    monkeypatch.setattr('dynid_ros.estimation.suspects.table.MOST_FAULTS', 1)
    folder = shared_data / 'field' / 'dvrk_psm'
    arm = load_arm(folder / 'arm.yaml')
    log, _ = checked_recording(read_recording(folder / 'free.csv', arm), arm)
    first = identify(arm, [replace(log, u=-log.u)]).verdict.findings[0]
    assert (first.code, first.joints) == ('effort_sign', arm.joint_names)


def test_the_command_prints_code_evidence_and_remedy(leg, tmp_path, capsys):
    arm, log = leg
    np.savez(tmp_path / 'log.npz', t=log.t, q=log.q, tau=exchanged(log.u, 0, 2))
    assert main(['identify', str(tmp_path / 'log.npz'), '--arm', 'hand_leg', '--json',
                 '-o', str(tmp_path / 'out')]) == 1
    verdict = json.loads(capsys.readouterr().out)['verdict']
    first, suspect = verdict['findings'][0], verdict['suspects'][0]
    assert suspect['reported'] and suspect['text'] == first['text']
    assert suspect['evidence'] > 10
    page = (tmp_path / 'out' / 'report.html').read_text()
    assert '<tr class="chosen"><th scope="row">the drive signals of' in page
    assert first['code'] == 'effort_exchanged'
    assert set(first['joints']) == {arm.joint_names[joint] for joint in (0, 2)}
    assert first['error_after_percent'] < first['error_before_percent']
    assert 'check the order of the effort columns' in first['remedy']


def test_a_last_joint_of_next_to_no_torque_is_accused_of_nothing():
    arm = load_arm('ur10')
    log = followed(arm, random_motion(arm, 1, tries=20), 250.0, seed=1)
    assert identify(arm, [log]).verdict.findings == ()


def test_an_exchange_that_torque_hardly_shows_is_named(shared_data):
    arm = load_arm('tx40')
    # In the band that these signals themselves choose, 2 Hz, nothing shows it.
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0))
    log, _ = checked_recording(read_recording(shared_data / REAL['tx40'], arm), arm)
    at_motors = exchanged(motor_position(log.q, arm.drive), 3, 4)
    swapped = replace(log, q=joint_position(at_motors, arm.drive), u=exchanged(log.u, 3, 4))
    finding, = identified(arm, swapped).verdict.findings
    assert finding.code == 'joint_exchanged' and finding.joints == ('joint_4', 'joint_5')


@pytest.mark.parametrize('joint', [1, 3])
def test_limits_that_are_stated_too_narrow_accuse_no_signal(leg, joint):
    arm, log = leg
    lower, upper = arm.limits.lower.copy(), arm.limits.upper.copy()
    lower[joint], upper[joint] = np.quantile(log.q[:, joint], [0.2, 0.8])
    narrow = replace(arm, limits=replace(arm.limits, lower=lower, upper=upper))
    assert codes(narrow, log) == []
