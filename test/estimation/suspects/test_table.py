# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The decision of the table: what is reported, what is not, and with which size."""

from dataclasses import replace

import numpy as np
import pytest
from results import samples_of
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.blocks.groups import GROUPS
from dynid_ros.estimation.suspects import table as table_module
from dynid_ros.estimation.suspects.arm_suspects import shifted, shifted_zeros
from dynid_ros.estimation.suspects.best_size import equally_likely_sizes, refined
from dynid_ros.estimation.suspects.cross_validation import error_before_percent, Prediction
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.motion_suspects import exchanged_positions
from dynid_ros.estimation.suspects.reported_lines import (
    decisive,
    is_reported,
    Line,
    reduces_error,
    winners_of,
)
from dynid_ros.estimation.suspects.signal_suspects import (
    exchanged_signals,
    loads_in_a_part,
    reversed_signals,
    scaled_signals,
    silent_signals,
)
from dynid_ros.estimation.suspects.suspect import as_recorded, described, Fault, resized
from dynid_ros.estimation.suspects.table import table_of
from dynid_ros.motion.excitation.random_motion import random_motion


@pytest.fixture(scope='module')
def ur10():
    arm = load_arm('ur10')
    return arm, followed(arm, random_motion(arm, 0, tries=5, periods=2), 125.0)


def base_of(arm, log):
    return as_recorded(arm, samples_of(arm, log))


def table(arm, log):
    return table_of(base_of(arm, log))


def scaled(log, joint, factor, part=slice(None)):
    u = log.u.copy()
    u[part, joint] *= factor
    return replace(log, u=u)


@pytest.fixture(scope='module')
def base(ur10):
    return base_of(*ur10)


@pytest.fixture(scope='module')
def good(base):
    return table_of(base)


@pytest.fixture(scope='module')
def of_another_sign(ur10):
    """Return a table of three rows for each parameter, and the recording that it is made of."""
    arm, log = ur10
    base = base_of(arm, scaled(log, 1, -1.0).part(0, 500))
    return base, table_of(base)


@pytest.fixture(scope='module')
def of_another_gain(ur10):
    arm, log = ur10
    return table(arm, scaled(log, 1, 2.6))


def test_a_good_recording_has_no_winner(good):
    assert good.winners == ()
    assert good.prediction.error_percent < 5


def test_a_scale_is_refined_between_those_that_are_tried(of_another_gain):
    best = of_another_gain.winners[0]
    assert (best.suspect.fault.code, best.suspect.joints) == ('effort_scale', (1,))
    assert best.suspect.mixing[1, 1] == pytest.approx(1 / 2.6, rel=0.05)


def test_a_fault_that_hardly_matters_is_not_reported(ur10):
    arm, log = ur10
    found = table(arm, scaled(log, 3, 1.3))
    # It is beyond chance, but lowers no error of a joint by a third.
    assert found.lines[0].evidence > 10
    assert found.winners == ()


def test_the_group_that_speaks_most_for_a_suspect_does_not_count(ur10):
    arm, log = ur10
    # One joint is more wrong in a tenth of the motion.
    log = scaled(scaled(log, 1, 2.0), 1, 2.0, slice(0, len(log.t) // 10))
    found = table(arm, log)
    (line, *_) = [line for line in found.lines if line.prediction is not None]
    gains = line.prediction.values - found.prediction.values
    assert line.evidence * line.prediction.dispersion == pytest.approx(gains.sum() - gains.max())
    assert gains.max() > 1.0


def test_model_errors_weaken_evidence(ur10):
    arm, log = ur10
    # Torque ripple, which no parameter explains but impossible ones absorb in part.
    ripple = 0.1 * np.abs(log.u).mean(axis=0) * np.sin(4 * log.q)
    found = table(arm, replace(log, u=log.u + ripple).part(0, 700))
    assert found.prediction.dispersion > 3
    likeliest = max(line.evidence * line.prediction.dispersion
                    for line in found.lines if line.prediction is not None)
    assert likeliest > 2 * found.threshold
    assert all((line.evidence or 0) < found.threshold for line in found.lines)
    # Faults that would show but for the model errors are listed as hidden.
    masked = {each.suspect.fault for each in found.one_step
              if each.smallest_detectable(found.threshold) < each.suspect.size.typical
              < each.smallest_detectable(found.threshold * found.prediction.dispersion)}
    assert masked and masked <= set(found.hidden)


def test_three_rows_for_each_parameter_show_a_wrong_sign(of_another_sign):
    best = of_another_sign[1].winners[0].suspect
    assert (best.fault.code, best.joints) == ('effort_sign', (1,))


def test_a_zero_and_the_same_a_turn_further_are_one_answer(ur10):
    arm, log = ur10
    base = base_of(arm, replace(log, q=log.q + 3.0 * np.eye(6)[1], qd=None))
    likelihood = Likelihood(base)
    best = refined(likelihood, shifted(base, [1], np.array([3.0]), 1.0))
    further = shifted(base, [1], best.size.x - 2 * np.pi, 1.0)
    assert not equally_likely_sizes(likelihood, best, [further], 10.0)


def test_a_true_model_leaves_evidence_as_it_is(good):
    assert 1 <= good.prediction.dispersion < 1.5


def test_a_scale_that_leaves_its_joint_unexplained_has_no_likelihood_of_its_own(base):
    # What is left of the joint shrinks with its torque. Joints move in different numbers of
    # samples, of which its own count in the density of its signal.
    likelihood = Likelihood(base)
    for joint in range(base.arm.n):
        change = np.eye(base.arm.n)
        change[joint, joint] = 1e-3
        # Parameters that the joint no longer ties fit the others a little better.
        assert likelihood.unconstrained(base.with_signals(change, None)) < (
            likelihood.unconstrained(base) + 5)


def test_all_gains_at_once_stand_behind_one_that_does_as_well(of_another_gain):
    found = of_another_gain
    codes = [line.suspect.fault.code for line in found.lines if line.gain > found.threshold]
    assert 'gains_refuted' in codes
    assert [line.suspect.fault.code for line in found.winners] == ['effort_scale']


def test_two_faults_are_named_together(ur10):
    arm, log = ur10
    u = log.u[:, [0, 1, 2, 5, 4, 3]] * [1, -1, 1, 1, 1, 1]
    (best, *others) = table(arm, replace(log, u=u)).winners
    assert not others
    found = {(fault.code, fault.joints) for fault in best.suspect.faults}
    assert found == {('effort_sign', (1,)), ('effort_exchanged', (3, 5))}
    text = described(arm, best.suspect.faults)
    assert 'wrong sign' in text and 'exchanged' in text


def test_a_signal_that_only_impossible_parameters_explain_is_not_dead(ur10):
    arm, log = ur10
    u, qdd = log.u.copy(), np.gradient(np.gradient(log.q, log.t, axis=0), log.t, axis=0)
    # A rotor with a negative inertia.
    u[:, 3] -= 2 * np.abs(u[:, 3]).max() / np.abs(qdd[:, 3]).max() * qdd[:, 3]
    codes = {line.suspect.fault.code for line in table(arm, replace(log, u=u)).winners}
    assert codes and 'effort_meaningless' not in codes


def test_the_same_fault_of_several_joints_is_described_once(ur10):
    arm, log = ur10
    base = base_of(arm, log)
    for joint in (1, 3, 5):
        base = next(each for each in reversed_signals(base, [joint]))
    first, second, third = (arm.joint_names[joint] for joint in (1, 3, 5))
    of_the_arm = Fault('gravity_removed', (), 'the effort holds no gravity torque', '')
    assert described(arm, [*base.faults, of_the_arm]) == (
        f"the drive signal of '{first}' seems to have the wrong sign, likewise that of "
        f"'{second}', likewise that of '{third}' and the effort holds no gravity torque")


def test_all_signs_are_told_from_none_by_the_possible_parameters(ur10):
    arm, log = ur10
    base = base_of(arm, replace(log, u=-log.u))
    likelihood = Likelihood(base)
    (every,) = [each for each in reversed_signals(base, likelihood.joints.tolist())
                if len(each.joints) == arm.n]
    free = [likelihood.unconstrained(each) for each in (base, every)]
    possible = [likelihood.possible(each)[0] for each in (base, every)]
    # Any parameters explain one sign as well as the other; bodies do not.
    assert free[0] == pytest.approx(free[1], abs=1.0)
    assert possible[1] > possible[0] + 100


@pytest.mark.parametrize('joint', [1, 4, 5])
def test_the_free_likelihood_bounds_that_of_bodies(ur10, joint):
    arm, log = ur10
    base = base_of(arm, scaled(log, joint, 3.0))
    likelihood = Likelihood(base)
    # The priors of the two differ by some of it. What is left out is worse than the best one by
    # this, so that it is no winner either.
    threshold = np.log(100 / table_module.FALSE_ALARM)
    for each in (base, *scaled_signals(base, [joint, 0])):
        assert likelihood.possible(each)[0] <= likelihood.unconstrained(each) + threshold


def test_units_of_all_signals_do_not_change_the_density_of_the_recorded_ones(base):
    likelihood = Likelihood(base)
    in_milli = base.with_signals(2.0 * np.eye(base.arm.n), None)
    assert likelihood.unconstrained(in_milli) == pytest.approx(
        likelihood.unconstrained(base), abs=2.0)


def test_too_few_samples_have_no_table(ur10):
    arm, log = ur10
    assert table(arm, log.part(0, 200)) is None


def test_a_fault_shows_from_its_smallest_size_on(ur10, good):
    arm, log = ur10
    (shown,) = [each for each in good.one_step if each.suspect.fault.code == 'position_zero'
                and each.suspect.joints == (1,)]
    smallest = shown.smallest_detectable(good.threshold)

    def gain(size):
        q = log.q.copy()
        q[:, 1] += size
        base = base_of(arm, replace(log, q=q, qd=None))
        likelihood = Likelihood(base)
        (start,) = [each for each in shifted_zeros(base, [1]) if not each.size.x.any()]
        best = refined(likelihood, start)
        assert best.size.x[0] == pytest.approx(size, abs=4 * shown.std)
        return likelihood.unconstrained(best) - likelihood.unconstrained(base)

    # Noise moves the size by some standard deviations, of which the smallest has more than four.
    assert gain(2 * smallest) > good.threshold > gain(0.0)


def test_the_same_motion_again_is_no_other_group():
    arm = load_arm('two_axis')
    motion = random_motion(arm, 0, tries=5, periods=4)
    base = base_of(arm, followed(arm, motion, 125.0))
    phase = (base.samples.t - base.samples.t[0]) % base.samples.shift / base.samples.shift
    for number in np.unique(base.groups):
        own = phase[base.groups == number]
        assert own.min() >= number / GROUPS - 1e-9 and own.max() <= (number + 1) / GROUPS


@pytest.mark.parametrize(('apart', 'told'), [(5.0, 2), (20.0, 0)])
def test_what_matters_is_told_beside_what_explains_the_data_better(apart, told):
    """An exchange of two joints may imitate a direction of gravity, which all joints feel."""
    arm = load_arm('ur10')
    base = base_of(arm, followed(arm, random_motion(arm, 0, tries=2, periods=1), 125.0))
    signs = {each.joints: each for each in reversed_signals(base, list(range(arm.n)))}
    power = np.ones((GROUPS, arm.n))

    def line(joint, evidence, left):
        squares = 0.1 * power
        squares[:, joint] *= left
        values = np.full(GROUPS, evidence / (GROUPS - 1))
        return Line(signs[(joint,)], 100.0, evidence, predicted(squares, power, values))

    best, other = line(1, 50.0 + apart, 0.9), line(2, 50.0, 0.1)
    reference = predicted(0.1 * power, power)
    found = winners_of([best, other], reference, np.arange(arm.n), 10.0)
    assert found == [best, other][:told]


@pytest.mark.parametrize(('lead', 'decides'), [(30.0, True), (5.0, False)])
def test_another_fault_counts_only_if_it_decides_between_the_first_ones(base, lead, decides):
    first, second, third = list(reversed_signals(base, [0, 1, 2]))[:3]
    power = np.ones((GROUPS, base.arm.n))

    def chain(evidence, *suspects):
        values = np.full(GROUPS, evidence / (GROUPS - 1))
        faults = tuple(each.fault for each in suspects)
        return (Line(replace(suspects[-1], faults=faults), 100.0, evidence,
                     predicted(0.1 * power, power, values)),)

    reference = predicted(0.1 * power, power)
    best, other = chain(50.0 + lead, first, third), chain(50.0, second)
    assert decisive([other, best], reference, 10.0) == (best if decides else ())
    # The same two faults, found in either order, decide together.
    same = [chain(50.0, first, second), chain(52.0, first, second)]
    assert decisive(same, reference, 10.0) == same[1]
    assert decisive([], reference, 10.0) == ()


def predicted(squares, power, values=None, mixing=None):
    """Return a prediction without dispersion, by default of equal likelihood."""
    count, joints = power.shape
    return Prediction(np.zeros(count) if values is None else values, squares, power, 1.0,
                      np.eye(joints) if mixing is None else mixing)


def judged(suspect, before, after):
    """Judge a suspect by what is left of its joint in each group, before and after."""
    own, found = (np.ones((GROUPS, suspect.arm.n)) for _ in range(2))
    (joint,) = suspect.joints
    own[:, joint], found[:, joint] = before, after
    power = 100 * np.ones_like(own)
    own, found = (predicted(each, power) for each in (own, found))
    return is_reported(Line(suspect, 100.0, 50.0, found), own, np.arange(suspect.arm.n), 10.0)


@pytest.fixture(scope='module')
def reversed_joint(base):
    return next(reversed_signals(base, [1]))


@pytest.mark.parametrize(('after', 'holding'), [(0.52, False), (0.48, True)])
def test_a_fault_matters_that_makes_as_much_of_the_error_as_all_else(
        reversed_joint, after, holding):
    assert judged(reversed_joint, np.ones(GROUPS), after) == holding


def test_one_part_of_the_motion_does_not_show_that_a_fault_matters(reversed_joint):
    once = np.append(9.0, np.ones(GROUPS - 1))
    assert not judged(reversed_joint, once, 0.9)
    # The same in two parts is no accident.
    assert judged(reversed_joint, np.append(12.0, once[:-1]), 0.9)


@pytest.mark.parametrize(('factor', 'holding'), [(1.35, False), (1.5, True)])
def test_a_gain_that_differs_as_those_of_any_arm_is_not_reported(base, factor, holding):
    (exact,) = [each for each in scaled_signals(base, [0, 1])
                if each.joints == (1,) and not each.size.x.any()]
    assert judged(resized(exact, np.log([factor])), np.ones(GROUPS), 0.01) == holding


@pytest.mark.parametrize(('recorded', 'holding'), [(1e-5, False), (1.0, True)])
def test_a_joint_without_torque_is_accused_if_its_signal_is_large(
        reversed_joint, recorded, holding):
    joints, power = np.arange(reversed_joint.arm.n), np.ones((GROUPS, reversed_joint.arm.n))
    before, after = power.copy(), power.copy()
    before[:, 1], after[:, 1] = recorded**2, 1e-10
    reference, found = (predicted(share * each, each)
                        for share, each in ((0.5, before), (0.01, after)))
    assert is_reported(
        Line(reversed_joint, 100.0, 50.0, found), reference, joints, 10.0) == holding


@pytest.mark.parametrize('kg', [5.0, -5.0])
def test_a_load_has_a_mass(ur10, kg):
    arm, log = ur10
    late, last = log.t > log.t[-1] / 2, arm.layout.inertial(arm.n - 1).start
    weight = regressor(arm, log.q, *[np.zeros_like(log.q)] * 2)[:, :, last]
    base = base_of(arm, replace(log, u=log.u + kg * late[:, None] * weight))
    likelihood, of_moment = Likelihood(base), slice(4, None, GROUPS - 1)
    picked_up, put_down = list(loads_in_a_part(base, [*range(arm.n)]))[of_moment]
    right, wrong = (picked_up, put_down) if kg > 0 else (put_down, picked_up)
    recorded = likelihood.unconstrained(base)
    assert likelihood.unconstrained(right) > recorded + 300
    assert abs(likelihood.unconstrained(wrong) - recorded) < 1
    _, fit = likelihood.possible(right)
    assert fit.theta[len(base.rows.columns)] == pytest.approx(5.0, rel=0.2)
    _, fit = likelihood.possible(wrong)
    assert not fit.theta[len(base.rows.columns):].any()


@pytest.mark.parametrize('left', [0.5, 0.99])
def test_a_suspect_that_leaves_a_signal_dead_gives_way_to_its_silence(base, left):
    joints = np.arange(base.arm.n)
    exchange = next(iter(exchanged_signals(base, joints.tolist())))
    dead = next(iter(silent_signals(base, joints.tolist())))
    power = np.ones((10, base.arm.n))
    reference, silence, exchanged = (predicted(share**2 * power, power) for share in (
        0.8, 0.01, np.where(joints == 5, left, 0.1)))
    found = winners_of([Line(exchange, 90.0, 50.0, exchanged), Line(dead, 80.0, 9.0, silence)],
                       reference, joints, 10.0)
    assert bool(found) == (left == 0.5)


def test_signals_of_joints_that_do_not_move_together_are_not_exchanged(base):
    samples, joints = base.samples, [*range(base.arm.n)]
    moving = samples.moving.copy()
    part = len(moving) * 2 // 5
    moving[:part, 0] = moving[-part:, 3] = False
    alone = replace(base, rows=replace(base.rows, samples=replace(samples, moving=moving)))
    together = {each.fault.joints for each in exchanged_signals(alone, joints)}
    assert {each.fault.joints for each in exchanged_signals(base, joints)} - together == {(0, 3)}
    positions = [each.fault.code for each in exchanged_positions(alone, joints)
                 if each.fault.joints == (0, 3)]
    assert positions == ['joint_exchanged']


def test_an_error_without_a_correction_is_relative_to_the_corrected_torque(base):
    # Each joint misses a tenth of its torque, in whatever unit.
    n = base.arm.n
    joints, (scaled_one, exchanged) = np.arange(n), (
        next(iter(maker(base, [1, 2]))) for maker in (scaled_signals, exchanged_signals))
    power = np.tile(100.0 * (1 + joints), (2, 1))
    reference = predicted(power / 100, power)
    for suspect in (scaled_one, exchanged):
        corrected = predicted(power, power @ suspect.mixing**2, mixing=suspect.mixing)
        assert error_before_percent(reference, corrected) == pytest.approx(10.0)


@pytest.mark.parametrize(('left', 'reduced'), [(0.9, True), (1.01, True), (1.3, False)])
def test_a_correction_that_helps_one_joint_and_harms_the_torque_reduces_no_error(
        base, left, reduced):
    (suspect, *_) = reversed_signals(base, [1])
    power = np.tile([100.0, 1.0, *[10.0] * (base.arm.n - 2)], (GROUPS, 1))
    after = 0.1 * power
    after[:, 1] *= 0.1
    after[:, 0] *= left
    line = Line(suspect, 100.0, 50.0, predicted(after, power, mixing=suspect.mixing))
    reference = predicted(0.1 * power, power)
    assert is_reported(line, reference, np.arange(base.arm.n), 10.0)
    assert reduces_error(line, reference) == reduced


def test_a_correction_that_reduces_no_error_is_not_reported(of_another_sign, monkeypatch):
    base, scored = of_another_sign
    monkeypatch.setattr(table_module, '_one_fault', lambda *_: scored)
    assert table_of(base).winners == scored.winners != ()
    monkeypatch.setattr(table_module, 'reduces_error', lambda *_: False)
    assert table_of(base).winners == ()


def test_a_sliding_joint_in_millimetres_is_named():
    arm, joint = load_arm('ur10'), 3
    slides = np.arange(arm.n) == joint
    arm = arm.with_tree(prismatic=slides)
    # Longer travels in mm jump, so that the recording is refused.
    limits = arm.limits
    arm = replace(arm, limits=replace(limits, **{
        field: np.where(slides, share, 1.0) * getattr(limits, field) for field, share in (
            ('lower', 0.02), ('upper', 0.02), ('velocity', 1e-3), ('acceleration', 1e-3))}))
    log = followed(arm, random_motion(arm, 0, tries=5, periods=2), 125.0)
    q = log.q.copy()
    q[:, joint] *= 1000
    (found,) = table(arm, replace(log, q=q, qd=None)).winners
    assert (found.suspect.fault.code, found.suspect.joints) == ('position_unit', (joint,))
