# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Products of rows are those of the rows themselves, for any change of the signals."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from results import samples_of
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.blocks.groups import GROUPS, groups_of_samples
from dynid_ros.estimation.suspects.motion_suspects import exchanged_positions, reversed_positions
from dynid_ros.estimation.suspects.signal_suspects import with_presliding
from dynid_ros.estimation.suspects.sums import Sums
from dynid_ros.estimation.suspects.suspect import as_recorded, exchange
from dynid_ros.estimation.suspects.suspect_rows import SuspectRows
from dynid_ros.motion.excitation.random_motion import random_motion


@pytest.fixture(scope='module')
def rows():
    arm = load_arm('two_axis').with_friction(PLAIN_TERMS)
    log = followed(arm, random_motion(arm, 3, tries=5), 100.0)
    samples = samples_of(arm, log)
    return arm, samples, SuspectRows(arm, samples, base_parameters(arm).columns)


def test_sums_are_those_of_mixed_torque(rows):
    arm, samples, found = rows
    mixings = np.random.default_rng(1).normal(size=(3, arm.n, arm.n))
    Y = regressor(arm, samples.q, samples.qd, samples.qdd)[:, :, base_parameters(arm).columns]
    inertial = [k for k, name in enumerate(base_parameters(arm).names) if name[0] not in 'F']
    sums = Sums.of(found.products, found.counts, mixings)
    for joint, (s, mixing) in product(range(arm.n), enumerate(mixings)):
        used = samples.moving[:, joint]
        W, tau = Y[used, joint][:, inertial], (samples.tau @ mixing)[used, joint]
        own = sums.W[joint][np.ix_(inertial, inertial)]
        np.testing.assert_allclose(own, W.T @ W, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            sums.torque[s, joint, inertial], W.T @ tau, rtol=1e-9, atol=1e-9)
        assert sums.power[s, joint] == pytest.approx(tau @ tau)
        assert found.counts[joint] == used.sum()


def test_fits_are_the_least_squares_of_the_rows():
    rng = np.random.default_rng(2)
    W = rng.normal(size=(50, 4))
    tau = W @ rng.normal(size=4) + rng.normal(size=50)
    every = np.column_stack([W, tau])
    mixings = np.array([[[1.0]], [[-1.0]], [[2.0]]])
    sums = Sums.of((every.T @ every)[None], np.array([50]), mixings)
    theta, variance = sums.fitted(np.zeros((4, 4)), np.zeros(4))
    for factor, values, square in zip((1, -1, 2), theta, variance[:, 0], strict=True):
        expected, rest, _, _ = np.linalg.lstsq(W, factor * tau, rcond=None)
        np.testing.assert_allclose(values, expected, rtol=1e-9)
        assert square == pytest.approx(rest[0] / 50)


def test_groups_add_up_to_the_recording(rows):
    _, samples, found = rows
    products, counts = found.by_group(groups_of_samples(samples))
    assert len(products) == GROUPS
    np.testing.assert_allclose(products.sum(axis=0), found.products, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(counts.sum(axis=0), found.counts)


@pytest.mark.parametrize(('code', 'change'), [
    ('axis_reversed', np.diag([-1.0, 1.0])), ('joint_exchanged', exchange(2, (0, 1)))])
def test_rows_of_other_positions_are_those_of_a_recording_of_them(code, change):
    """Contacts bend as the positions move that are assumed."""
    arm = load_arm('two_axis')
    log = followed(arm, random_motion(arm, 3, tries=5), 100.0)
    makers = (reversed_positions, exchanged_positions)
    (suspect,) = [each for maker in makers
                  for each in maker(as_recorded(arm, samples_of(arm, log)), [0, 1])
                  if each.fault.code == code and each.joints[0] == 0]
    other = as_recorded(arm, samples_of(arm, replace(log, q=log.q @ change, qd=None)))
    np.testing.assert_allclose(*(with_presliding(each, 0).rows.regressor()
                                 for each in (suspect, other)), rtol=1e-9, atol=1e-9)


def test_friction_of_a_contact_that_bends_is_a_column_of_its_joint_alone(rows):
    """It is Coulomb friction, but for some time after each reversal."""
    _, samples, whole = rows
    W, b = replace(whole, bending=(1,)).regressor(), len(whole.columns)
    assert W.shape[2] == b + 1 and not W[:, 0, b].any()
    np.testing.assert_array_equal(W[:, :, :b], whole.regressor())
    bend, sliding = W[:, 1, b], np.sign(samples.qd[:, 1])
    differs = np.abs(bend - sliding) > 0.1
    assert 0 < differs.mean() < 0.5
    assert (np.abs(samples.qd[differs, 1]) < np.median(np.abs(samples.qd[:, 1]))).mean() > 0.8


def test_a_load_goes_before_friction_of_contacts_that_bend(rows):
    arm, samples, whole = rows
    last = arm.layout.inertial(arm.tool_link).start
    late = (np.arange(len(samples.t)) >= 10).astype(float)
    loaded = replace(whole, changed=np.array([last]), presence=late)
    both = replace(loaded, bending=(0,))
    np.testing.assert_array_equal(both.regressor()[:, :, :-1], loaded.regressor())
    np.testing.assert_array_equal(
        both.regressor()[:, :, -1:], replace(whole, bending=(0,)).regressor()[:, :, -1:])
    assert both.added.tolist() == [last, arm.layout.friction_columns('Fc')[0]]


def test_a_load_from_a_moment_on_has_columns_of_its_own(rows):
    arm, samples, whole = rows
    moment, last = len(samples.t) // 2, arm.layout.inertial(arm.tool_link).start
    late = np.arange(len(samples.t)) >= moment
    found = replace(whole, changed=np.array([last]), presence=late.astype(float))
    Y = regressor(arm, samples.q, samples.qd, samples.qdd)[:, :, last]
    at = len(found.columns)
    for joint in range(arm.n):
        used = samples.moving[:, joint] & late
        assert found.products[joint, at, at] == pytest.approx((Y[used, joint]**2).sum())
