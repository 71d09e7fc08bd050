# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drive signals in another unit, told by the weight of the links."""

from dataclasses import replace

import numpy as np
import pytest
from results import samples_of
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.estimation.diagnosis.copied_signals import unit_findings
from dynid_ros.estimation.identification.gain_check import drive_defects
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion

PLAIN = ('viscous', 'coulomb', 'offset')


@pytest.fixture(scope='module')
def ur10():
    arm = load_arm('ur10')
    # The band is no matter of the unit, and its choice would take most of the time.
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0, delay=0.0))
    return arm, followed(arm, random_motion(arm, 0, tries=5, periods=2), 125.0)


def found(arm, log):
    return unit_findings(arm, samples_of(arm, log))


@pytest.mark.slow
@pytest.mark.parametrize(('factor', 'text'), [
    (1000.0, 'mNm or mA'), (100.0, 'N cm'), (10.2, 'kgf cm'), (1 / 9.81, 'kgf m'),
    (1 / 101, 'motors before gears')])
def test_another_unit_is_named_with_its_factor(ur10, factor, text):
    arm, log = ur10
    (finding,) = found(arm, replace(log, u=factor * log.u))
    assert text in finding.text
    stated = float(finding.text.split(' about ')[1].split(' times')[0])
    assert stated == pytest.approx(factor, rel=0.15)
    assert {arm.joint_names[1], arm.joint_names[2]} <= set(finding.joints)


@pytest.mark.parametrize('without', [(), (3,), (1, 2, 3, 4)])
def test_joints_that_carry_links_without_a_mass_judge_no_unit(ur10, without):
    """Descriptions state no mass of some links, whose weight is in the signals."""
    arm, log = ur10
    inertial = 1e-2 * arm.inertial
    inertial[list(without)] = 0.0
    assert bool(found(replace(arm, inertial=inertial), log)) == (not without)


def test_a_model_of_millinewton_metres_is_not_trusted(ur10):
    arm, log = ur10
    verdict = identify(arm, [replace(log, u=1000 * log.u)], friction=PLAIN).verdict
    assert not verdict.trustworthy
    assert verdict.findings[0].code == 'effort_unit'


def test_gears_of_different_ratios_that_were_left_out_are_named(ur10):
    arm, log = ur10
    (finding,) = found(arm, replace(log, u=log.u / [120, 120, 100, 80, 80, 80]))
    assert 'motors before gears' in finding.text


def test_right_units_and_wrong_masses_are_accused_of_nothing(ur10):
    arm, log = ur10
    assert not found(arm, log)
    for factor in (0.6, 1.8):
        assert not found(replace(arm, inertial=factor * arm.inertial), log)


def test_one_signal_of_another_scale_is_no_other_unit(ur10):
    arm, log = ur10
    assert not found(arm, replace(log, u=log.u * [1, 1000, 1, 1, 1, 1]))


def test_nothing_is_told_without_masses_or_without_gains_of_currents(ur10):
    arm, log = ur10
    milli = replace(log, u=1000 * log.u)
    assert not found(replace(arm, inertial=None), milli)
    unknown = replace(Drive.joint_torque(arm.n), signal='current')
    assert not found(replace(arm, drive=unknown), replace(milli, signal='current'))
    stated = replace(unknown, gain=np.full(arm.n, 0.5))
    assert found(replace(arm, drive=stated), replace(milli, signal='current', u=2 * milli.u))


def test_a_check_names_the_unit_and_fails(ur10, tmp_path, capsys):
    arm, log = ur10
    for factor, status in ((1, 0), (1000, 1)):
        table = np.column_stack([log.t, log.q, factor * log.u])
        path = tmp_path / f'{factor}.csv'
        header = ','.join(['t', *(f'{x}_{k}' for x in ('q', 'tau') for k in range(arm.n))])
        np.savetxt(path, table, delimiter=',', header=header, comments='')
        assert main(['check', str(path), '--arm', 'ur10']) == status
        assert ('1000 times' in capsys.readouterr().out) == bool(status)


@pytest.mark.slow
def test_real_arms_are_in_the_unit_that_they_state(shared_data):
    for name, file in (('ur10', 'ur10/ur10_exciting_trajectory.db3'),
                       ('panda', 'panda/panda_exciting_trajectory.db3'),
                       ('tx40', 'tx40/pos_read_data.csv')):
        arm = load_arm(name)
        log = read_recording(shared_data / file, arm)
        assert not found(arm, log)
        if name != 'tx40':
            milli = drive_defects(arm, replace(log, u=1000 * log.u))
            assert [each.code for each in milli] == ['effort_unit']
