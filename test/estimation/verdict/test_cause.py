# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Which suspects of the table a verdict reports."""

from dataclasses import replace

import numpy as np
import pytest
from results import samples_of
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.estimation.blocks.groups import GROUPS
from dynid_ros.estimation.model.verdict import Finding, Verdict
from dynid_ros.estimation.suspects.arm_suspects import GRAVITY, other_gravity
from dynid_ros.estimation.suspects.cross_validation import Prediction
from dynid_ros.estimation.suspects.reported_lines import is_reported, Line
from dynid_ros.estimation.suspects.signal_suspects import reversed_signals
from dynid_ros.estimation.suspects.suspect import as_recorded
from dynid_ros.estimation.suspects.table import Table, table_of
from dynid_ros.estimation.verdict import cause
from dynid_ros.estimation.verdict.cause import reported, with_cause
from dynid_ros.motion.excitation.random_motion import random_motion

LEAST, TORQUE = 10.0, np.array([100.0, 50.0, 30.0, 1.0, 0.2, 0.1])


@pytest.fixture(scope='module')
def recorded():
    arm = load_arm('ur10')
    log = followed(arm, random_motion(arm, 0, tries=5, periods=1), 125.0)
    return as_recorded(arm.memoryless, samples_of(arm, log))


@pytest.fixture(scope='module')
def leg():
    arm = load_arm('hand_leg')
    log = followed(arm, random_motion(arm, 0, tries=5, periods=1), 125.0)
    return as_recorded(arm.memoryless, samples_of(arm, log))


def table(recorded, joint, torque, after=0.1):
    """Return a sign that wins, in a recording with this root mean square torque, Nm."""
    (suspect,) = [each for each in reversed_signals(recorded, list(range(6)))
                  if each.joints == (joint,)]
    left = np.full((GROUPS, 6), 0.01) * torque**2
    better = left.copy()
    better[:, joint] *= after
    power = np.ones((GROUPS, 1)) * torque**2
    best = Line(suspect, 100.0, 50.0, Prediction(np.zeros(GROUPS), better, power, 1.0, np.eye(6)))
    own = Prediction(np.zeros(GROUPS), left, power, 1.0, np.eye(6))
    winners = (best,) if is_reported(best, own, np.arange(6), LEAST) else ()
    return Table(recorded, np.arange(6), own, (best,), winners, LEAST, (), ())


@pytest.mark.parametrize(('torque', 'heard'), [(0.1, 0), (0.13, 1)])
def test_a_joint_below_a_thousandth_of_the_torque_is_not_accused(recorded, torque, heard):
    """The torque of all joints together is 116 Nm."""
    found = table(recorded, 5, np.append(TORQUE[:5], torque))
    assert len(found.winners) == heard
    assert len(reported(found)) == heard
    # Others keep their suspects.
    assert len(table(recorded, 1, np.append(TORQUE[:5], torque)).winners) == 1


@pytest.mark.parametrize('joint', range(5))
def test_a_fault_is_an_error_whichever_joint_it_harms(recorded, joint):
    """The error of all joints hardly changes with that of a wrist."""
    (finding,) = reported(table(recorded, joint, TORQUE))
    assert finding.is_error
    assert finding.joints == (recorded.arm.joint_names[joint],)


def with_noise(recorded, joint):
    """Return the samples with noise of 1 mNm in the place of one drive signal."""
    samples = recorded.samples
    tau = samples.tau.copy()
    tau[:, joint] = 1e-3 * np.random.default_rng(0).normal(size=len(tau))
    return replace(samples, tau=tau)


@pytest.mark.parametrize('severity', ['warning', 'error'])
def test_a_dead_signal_is_blamed_before_the_motion(recorded, severity):
    """Weak noise has so much weight that it widens the error bars of all joints."""
    doubt = Finding('excitation', 'the motion excites too little', severity=severity)
    before = Verdict(severity == 'warning', (doubt,), 15.0, (), ())
    verdict, _ = with_cause(before, recorded.arm, with_noise(recorded, 5))
    assert [finding.code for finding in verdict.findings] == ['effort_meaningless']


@pytest.mark.parametrize('start', [0, 16, 32])
def test_too_little_motion_makes_no_signal_dead(recorded, start):
    """Two seconds: the samples fit, and nothing predicts them from others."""
    doubt = Finding('excitation', 'the motion excites too little')
    verdict, _ = with_cause(Verdict(False, (doubt,), 170.0), recorded.arm,
                            recorded.samples.at(slice(start, start + 16)))
    assert verdict.findings == (doubt,)


@pytest.mark.parametrize('joint', range(6))
def test_a_dead_signal_is_told_from_one_that_impossible_parameters_explain(recorded, joint):
    """Weak noise has much weight: it disturbs the fit of other joints, and few samples fit it."""
    verdict, _ = with_cause(Verdict(True, (), 0.0), recorded.arm, with_noise(recorded, joint))
    (found,) = verdict.findings
    assert (found.code, found.joints) == (
        'effort_meaningless', (recorded.arm.joint_names[joint],))
    # As a factor of the torque, it would be none that the data distinguish from zero.
    assert 'times the torque' not in found.text


def test_signals_of_several_joints_are_dead(recorded):
    samples, last = recorded.samples, recorded.arm.joint_names[3:]
    tau = samples.tau.copy()
    tau[:, 3:] = 1e-3 * np.random.default_rng(0).normal(size=tau[:, 3:].shape)
    verdict, _ = with_cause(Verdict(True, (), 0.0), recorded.arm, replace(samples, tau=tau))
    (found,) = verdict.findings
    assert (found.code, found.joints) == ('effort_meaningless', last)


@pytest.mark.parametrize(('unexplained', 'partly'), [(0.1, False), (0.5, True)])
def test_a_cause_that_leaves_most_unexplained_is_a_part_of_it(recorded, unexplained, partly):
    found = table(recorded, 1, TORQUE)
    squares = unexplained**2 * found.winners[0].prediction.power
    best = replace(found.winners[0], prediction=replace(
        found.winners[0].prediction, residual_squares=squares))
    (finding,) = reported(replace(found, winners=(best,)))
    assert ('explains a part only: 50 % stay unexplained' in finding.text) == partly
    assert finding.remedy.startswith('reverse it') == (not partly)
    assert 'reverse it' in finding.remedy


def test_of_tied_suspects_the_one_that_explains_all_is_told_first(recorded):
    found = table(recorded, 1, TORQUE)
    (all_of_it,) = found.winners
    squares = 0.5**2 * all_of_it.prediction.power
    (other,) = table(recorded, 2, TORQUE).winners
    part = replace(other, prediction=replace(other.prediction, residual_squares=squares))
    (finding,) = reported(replace(found, winners=(part, all_of_it)))
    assert finding.joints == (recorded.arm.joint_names[1],)
    assert 'a part only' not in finding.text and recorded.arm.joint_names[2] in finding.text


@pytest.mark.parametrize('fitted', [True, False])
def test_too_little_motion_does_not_explain_what_no_parameters_fit(leg, fitted):
    samples = leg.samples
    if not fitted:
        samples = replace(samples, tau=samples.tau[::-1].copy(), later=samples.later[::-1].copy())
    doubt = Finding('excitation', 'the motion excites too little')
    verdict, _ = with_cause(
        Verdict(False, (doubt,), 170.0), leg.arm, samples)
    codes = [finding.code for finding in verdict.findings]
    assert codes == (['excitation'] if fitted else ['unexplained', 'excitation'])


def test_gravity_does_not_agree_where_another_direction_fits_better(recorded, monkeypatch):
    good = table_of(recorded)
    tilted = next(each for each in other_gravity(recorded, [*range(6)])
                  if each.fault.code == GRAVITY)
    other = Line(tilted, good.least_gain + 1)
    for lines, agrees in (((), True), ((other,), False)):
        monkeypatch.setattr(cause, 'table_of', lambda *_, own=lines: replace(good, lines=own))
        _, notes = with_cause(Verdict(True, (), 0.0), recorded.arm, recorded.samples)
        assert any('gravity agrees' in note for note in notes) == agrees


def test_a_signal_that_only_impossible_parameters_explain_is_not_called_dead(
        recorded, monkeypatch):
    good = table_of(recorded)
    squares = good.prediction.residual_squares.copy()
    squares[:, 2] = good.prediction.power[:, 2].mean()
    missed = replace(good, prediction=replace(good.prediction, residual_squares=squares))
    monkeypatch.setattr(cause, 'table_of', lambda *_: missed)
    verdict, _ = with_cause(Verdict(True, (), 0.0), recorded.arm, recorded.samples)
    (found,) = verdict.findings
    assert (found.code, found.joints) == ('effort_impossible', (recorded.arm.joint_names[2],))
    assert not verdict.trustworthy


def test_remedies_of_faults_that_hold_together_name_their_joints(recorded):
    found = table(recorded, 1, TORQUE)
    (winner,) = found.winners
    first, *_ = winner.suspect.faults
    one, two, three = (replace(first, joints=(joint,), remedy=remedy) for joint, remedy in (
        (1, 'turn it by 1.59 rad'), (2, 'turn it by 1.55 rad'), (3, 'turn it by 1.59 rad')))
    both, alike = (replace(winner, suspect=replace(winner.suspect, faults=faults))
                   for faults in ((one, two), (one, three)))
    names = recorded.arm.joint_names
    (finding,) = reported(replace(found, winners=(both,)))
    assert finding.remedy == (
        f"'{names[1]}': turn it by 1.59 rad, and '{names[2]}': turn it by 1.55 rad")
    (finding,) = reported(replace(found, winners=(both, alike)))
    assert finding.remedy.endswith(', or turn it by 1.59 rad')


@pytest.mark.parametrize(('noise', 'named'), [(0.0, True), (0.3, False)])
def test_a_wider_band_reveals_a_fault_unless_noise_spoils_it(recorded, noise, named):
    """A fault that lowered the cut-off leaves no reason for it once it is undone."""
    samples, random = recorded.samples, np.random.default_rng(0)

    def measured(share, sign):
        added = share * samples.tau.std(axis=0) * random.normal(size=samples.tau.shape)
        return replace(samples, tau=sign * (samples.tau + added),
                       later=sign[:, None] * (samples.later + added[:, :, None]))

    lower = measured(0.1, np.ones(6))
    wider = measured(noise, np.where(np.arange(6) == 2, -1.0, 1.0))
    # Alone, the noisy samples have that cause, too.
    for verdict, expected in (
            (with_cause(Verdict(True, (), 0.0), recorded.arm, wider)[0], True),
            (with_cause(Verdict(True, (), 0.0), recorded.arm, lower)[0], False),
            (with_cause(Verdict(True, (), 0.0), recorded.arm, lower, wider=wider)[0], named)):
        assert [(each.code, each.joints) for each in verdict.findings] == expected * [
            ('effort_sign', (recorded.arm.joint_names[2],))]
        assert verdict.trustworthy == (not expected)
