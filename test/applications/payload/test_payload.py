# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Loads that are known, from motions and from rests, and recordings that tell none."""

from dataclasses import replace

import hypothesis
from hypothesis import strategies as st
from loaded_arms import arm_named, free_model, free_theta, LOAD, noise_of, RATE, recorded
import numpy as np
from oracles import random_arm
import pytest
from rests import rest_motion
from results import identification

from dynid_ros.applications.payload.body import load_body
from dynid_ros.applications.payload.estimate import estimate_payload
from dynid_ros.applications.payload.fit import LoadRegression
from dynid_ros.applications.payload.known_friction import breakaway
from dynid_ros.applications.payload.load_estimate import LoadEstimate
from dynid_ros.arm.description.tree import Placement, rotation_rpy
from dynid_ros.arm.parameters import inertial_from_com, inertial_to_com, is_physical
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import frame_change, load_columns, LOAD_STD
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import InputError, RecordingError
from dynid_ros.estimation.model.outside_range import outside_range

ARM = arm_named()


def codes(found):
    return [finding.code for finding in found.findings]


@pytest.mark.parametrize('seed', [1, 2])
def test_a_load_is_found_within_one_percent_and_its_error_bars(seed):
    found = estimate_payload(free_model(), [recorded(ARM, LOAD, seed=seed)])
    assert found.present and found.trustworthy and found.method == 'motion'
    assert abs(found.body.mass / LOAD[0] - 1) < 0.01
    center, inertia = inertial_to_com(LOAD)[1:]
    assert np.linalg.norm(found.body.center - center) < 0.005
    known = found.body.from_data
    assert known[:4].all()
    # Of some ten values none lies 4.5 standard deviations away by chance.
    assert (np.abs(found.body.parameters - LOAD) < 4.5 * found.body.std)[known].all()
    assert (np.abs(found.body.center - center) < 4.5 * found.body.center_std).all()
    # Twice what is measured: bars of any size would hold the truth.
    assert found.body.mass_std < 0.02 * LOAD[0] and (found.body.center_std < 0.005).all()
    own = known[4:].all()
    assert not own or (np.abs(found.body.inertia - inertia) < 4.5 * found.body.inertia_std).all()
    assert (found.evidence.after[1:] < 0.5 * found.evidence.before[1:]).all()


def test_without_noise_all_ten_parameters_come_out():
    found = estimate_payload(
        free_model(noise=1e-3), [recorded(ARM, LOAD, seed=1, noise=1e-3)])
    np.testing.assert_allclose(found.body.parameters, LOAD, rtol=0.02, atol=2e-3)
    assert found.body.from_data.all()


def test_several_recordings_narrow_the_error_bar():
    first, second = (recorded(ARM, LOAD, seed=seed) for seed in (1, 2))
    one, two = (estimate_payload(free_model(), logs) for logs in ([first], [first, second]))
    assert two.body.mass_std < one.body.mass_std
    assert two.trustworthy and abs(two.body.mass - LOAD[0]) < 0.02


@pytest.mark.parametrize('seed', [3, 4, 5])
def test_a_free_arm_has_no_payload(seed):
    found = estimate_payload(free_model(), [recorded(ARM, seed=seed)])
    assert not found.present and found.trustworthy
    assert abs(found.masses['motion'][0]) < 0.05


def test_the_frame_of_the_result_can_be_chosen():
    flange = Placement(rotation_rpy([0.2, -0.4, 1.0]), np.array([0.01, 0.02, 0.1]))
    log = recorded(ARM, frame_change(flange) @ LOAD, seed=1, noise=1e-3)
    found = estimate_payload(free_model(noise=1e-3), [log], flange)
    np.testing.assert_allclose(found.body.parameters, LOAD, rtol=0.02, atol=2e-3)


def test_a_load_that_slips_or_falls_is_named_with_its_time():
    slipped = LOAD + np.array([0, 0.08, *np.zeros(8)])
    for after in (slipped, np.zeros(10)):
        found = estimate_payload(free_model(), [recorded(ARM, LOAD, seed=2, after=after)])
        assert codes(found).count('payload_changed') == 1
        assert abs(found.change.t - 10.0) < 2.6
        np.testing.assert_allclose(found.change.before[0], 2.0, atol=0.1)
        np.testing.assert_allclose(found.change.after[0], after[0], atol=0.1)


def test_a_model_with_the_load_against_a_free_arm_is_refused():
    model = free_model()
    loaded = replace(model, theta=model.theta + load_columns(ARM) @ LOAD)
    found = estimate_payload(loaded, [recorded(ARM, seed=3)])
    assert codes(found) == ['payload_negative'] and not found.present
    assert 'exchanged' in found.findings[0].sentence
    assert not any('solid ball' in remark for remark in found.remarks)


def test_another_drive_gain_is_no_load():
    log = recorded(ARM, LOAD, seed=1)
    found = estimate_payload(
        free_model(), [replace(log, u=log.u * np.array([1, 1, 1.5, 1, 1, 1]))])
    assert 'payload_unexplained' in codes(found)


@pytest.mark.parametrize('balanced', [(1,), (2,)])
def test_a_load_that_a_counterweight_carries_is_no_body(balanced):
    found = estimate_payload(free_model(), [recorded(ARM, LOAD, seed=1, balanced=balanced)])
    assert codes(found) == ['payload_unexplained'] and not found.present and not found.ready
    assert all(name in found.findings[0].sentence for name in ARM.joint_names[1:3])


def test_a_load_that_sits_in_one_point_is_a_body():
    point = inertial_from_com(1.0, [0.02, -0.03, 0.08], np.zeros((3, 3)))
    for seed in (1, 2):
        found = estimate_payload(
            free_model(noise=1e-2), [recorded(ARM, point, seed=seed, noise=1e-2)])
        assert found.ready and abs(found.body.mass - 1.0) < 0.01


@pytest.mark.slow
def test_torque_that_no_load_explains_is_no_change_of_the_load():
    for seed in range(1, 13):
        log = recorded(ARM, LOAD, seed=seed, seconds=8.0)
        ripple = np.array([4, 4, 2, 0.5, 0.5, 0.5]) * np.sin(8 * log.q)
        found = estimate_payload(free_model(), [replace(log, u=log.u + ripple)])
        assert 'payload_changed' not in codes(found)


@pytest.mark.slow
@pytest.mark.parametrize('mass', [0.5, 1.0, 2.0, 5.0])
def test_friction_that_the_model_does_not_have_is_no_reason_against_a_load(mass):
    for seed in range(1, 7):
        found = estimate_payload(
            free_model(rough=1.0), [recorded(ARM, mass / 2 * LOAD, seed=seed, rough=1.0)])
        assert abs(found.masses['motion'][0] - mass) < 0.4
        # A small load lies within error bars that count the friction of both recordings.
        assert set(codes(found)) <= ({'payload_undetermined'} if mass < 2.0 else set())
        assert found.present or mass < 2.0


@pytest.mark.parametrize('mass', [0.0, 0.5, 2.0])
def test_zeros_that_drift_are_no_load_for_a_model_without_offsets(mass):
    model = free_model(friction=('viscous', 'coulomb'))
    for seed in range(1, 5):
        zeros = 0.15 * breakaway(model) * np.random.default_rng(seed).normal(size=ARM.n)
        log = recorded(ARM, mass / 2 * LOAD, seed=seed)
        found = estimate_payload(model, [replace(log, u=log.u + zeros)])
        value, std = found.mass
        assert found.trustworthy and found.present == (mass > 0)
        assert abs(value - mass) < 4.5 * std < 0.1


def hose(seed, q, share):
    """Pull each joint by its position, as no body does, relative to the torque of the load."""
    rng = np.random.default_rng(seed)
    W = regressor(ARM, q, 0 * q, 0 * q)[:, :, base_parameters(ARM).columns]
    size = share * np.sqrt(((W @ load_columns(ARM) @ LOAD)**2).mean(axis=0))
    return size * sum(rng.normal(size=ARM.n) / k * np.sin(k * q + rng.uniform(0, 7, ARM.n))
                      for k in (1, 2))


@pytest.mark.slow
@pytest.mark.parametrize('share', [0.1, 0.2])
def test_joints_in_step_hold_the_truth_or_leave_it_open(share):
    model, log = free_model(step=True), recorded(ARM, LOAD, seed=0, step=True)
    outside, stated = 0, 0
    for seed in range(24):
        found = estimate_payload(model, [replace(log, u=log.u + hose(seed, log.q, share))])
        stated += found.trustworthy
        outside += found.trustworthy and abs(
            found.body.mass - LOAD[0]) > 1.96 * found.body.mass_std
    # By chance, more than four of 24 intervals of 95 % miss in one of 150 trials.
    assert outside <= 4 and stated >= 12


def test_a_rod_too_light_for_its_error_bar_is_not_called_no_load():
    rod = inertial_from_com(0.025, [0.0, 0.0, 1.5], 1e-3 * np.eye(3))
    log = recorded(ARM, rod, seed=0, step=True)
    pull = hose(3, log.q, 0.15) * (np.arange(ARM.n) < 3)
    found = estimate_payload(free_model(step=True), [replace(log, u=log.u + pull)])
    mass, std = found.masses['motion']
    assert mass < 0.05 and abs(mass) < 3 * std
    assert codes(found) == ['payload_undetermined']
    assert f'{ARM.joint_names[4]} is not that of the free arm' in found.findings[0].text


def test_motion_elsewhere_is_an_extrapolation():
    found = estimate_payload(free_model(), [recorded(ARM, LOAD, seed=1)])
    own = estimate_payload(free_model(), [recorded(ARM, LOAD, seed=0)])
    assert any('extrapolation' in remark for remark in found.remarks)
    assert not any('extrapolation' in remark for remark in own.remarks)


def test_speeds_have_the_units_of_their_joints():
    model = identification(random_arm(np.random.default_rng(0), 2, prismatic=False).with_tree(
        prismatic=np.array([False, True])))
    faster = [replace(part, qd=10 * part.qd) for part in model.predictions]
    (told,) = outside_range(model, faster)
    for joint, unit in (('j1', 'rad/s'), ('j2', 'm/s')):
        assert f'{joint} (10.00 instead of 1.00 {unit})' in told


@pytest.fixture
def rests():
    """Return a recorder of positions that are approached from either side, held by friction."""
    def record(load, seed, positions=10):
        rng = np.random.default_rng(seed)
        course = rest_motion(rng.uniform(-1.5, 1.5, (positions + 1, ARM.n)), RATE)
        W = regressor(ARM, course.q, course.qd, course.qdd)[:, :, base_parameters(ARM).columns]
        names, theta = base_parameters(ARM).names, free_theta(ARM)
        coulomb = theta[[names.index(f'Fc{j + 1}') for j in range(ARM.n)]]
        tau = W @ (theta + load_columns(ARM) @ load)
        tau += course.held(coulomb, rng.uniform(0, 0.8, (positions, ARM.n)))
        tau += 0.3 * rng.normal(size=tau.shape) * noise_of(ARM)
        return Recording(course.t, course.q, tau, ARM.joint_names, source='rests')

    return record


def test_rests_from_both_directions_give_mass_and_centre(rests):
    found = estimate_payload(free_model(), [rests(LOAD, 1)])
    mass, std = found.masses['rests']
    assert len(found.rests.q) == 10
    assert found.rests.both_directions.all()
    assert abs(mass - LOAD[0]) < 3 * std
    assert std < 0.5
    assert found.present


def test_recordings_that_do_not_fit_the_model_are_refused():
    model, log = free_model(), recorded(ARM, LOAD, seed=1)
    with pytest.raises(RecordingError, match='current'):
        estimate_payload(model, [replace(log, signal='current')])
    with pytest.raises(RecordingError, match='at least one'):
        estimate_payload(model, [])
    # As a damaged file may hold it.
    with pytest.raises(InputError):
        estimate_payload(replace(model, theta=1e200 * model.theta), [log])


def test_a_chain_that_cannot_tell_the_mass_is_refused():
    model = free_model('two_axis')
    with pytest.raises(RecordingError, match='mass of the load is not determined'):
        estimate_payload(model, [recorded(model.arm, 0.05 * LOAD, seed=1)])


@pytest.mark.parametrize('still', [(5,), (0, 3, 4, 5)])
def test_a_model_of_joints_at_rest_gives_the_load_with_what_is_known_of_the_arm(still):
    own = inertial_from_com(0.1, [0.05, -0.03, 0.02], 5e-5 * np.eye(3))
    model = free_model(still=still, own=tuple(own))
    names = np.array(base_parameters(ARM).names)
    assert {'mx6', 'Fc6'} <= set(names[~model.from_data])
    for seed in (1, 2):
        found = estimate_payload(model, [recorded(ARM, own + LOAD, seed=seed)])
        sure = estimate_payload(free_model(), [recorded(ARM, LOAD, seed=seed)])
        off = np.append(found.body.mass - LOAD[0], found.body.center - inertial_to_com(LOAD)[1])
        # Of sixteen values none lies 4.5 standard deviations away by chance.
        assert (np.abs(off) < 4.5 * found.body.fields_std[:4]).all()
        assert (found.body.std > 0).all()
        assert (found.body.std > 1.5 * sure.body.std)[1:3].all()
        assert any(' more open, which the load changes' in remark or 'mx6' in remark
                   for remark in found.remarks)


def test_a_load_of_which_the_rows_tell_nothing_has_the_width_of_its_prior():
    regression = LoadRegression(free_model('two_axis'))
    b = len(regression.columns)
    load, factor, *_ = regression.solve(np.zeros((1, b)), np.zeros(1))
    fit = LoadEstimate(load, factor, factor.T @ factor)
    np.testing.assert_allclose(fit.std, LOAD_STD, rtol=1e-9)
    assert not fit.tells_mass


def test_a_short_motion_names_the_parameters_that_it_leaves_open():
    found = estimate_payload(free_model(), [recorded(ARM, 0.3 * LOAD, seed=1, seconds=4.0)])
    assert found.present
    assert any('not determined by this motion: ' in remark for remark in found.remarks)


@hypothesis.settings(max_examples=25)
@hypothesis.given(st.integers(0, 10_000), st.floats(0.1, 100.0))
def test_the_body_is_always_possible_and_near_a_certain_estimate(seed, certainty):
    rng = np.random.default_rng(seed)
    factor = certainty * np.linalg.qr(rng.normal(size=(10, 10)), mode='r')
    load = rng.normal(size=10)
    body = load_body(LoadEstimate(load, factor, factor.T @ factor))
    assert is_physical(body.parameters)
    assert np.isfinite(body.covariance).all()
    real = inertial_from_com(
        rng.uniform(0.3, 3), rng.uniform(-0.1, 0.1, 3), np.diag(rng.uniform(0.02, 0.03, 3)))
    sure = 1e5 * np.eye(10)
    body = load_body(LoadEstimate(real, sure, sure.T @ sure))
    np.testing.assert_allclose(body.parameters, real, atol=1e-4)
