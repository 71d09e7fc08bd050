"""Products of rows are those of the rows themselves, for any change of the signals."""

from dataclasses import replace

import numpy as np
import pytest
from results import samples_of
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import PLAIN
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.blocks.groups import GROUPS, groups_of_samples
from dynid_ros.estimation.suspects.suspect_rows import mixed, SuspectRows
from dynid_ros.motion.excitation.random_motion import random_motion


@pytest.fixture(scope='module')
def rows():
    arm = load_arm('two_axis').with_friction(PLAIN)
    log = followed(arm, random_motion(arm, 3, tries=5), 100.0)
    samples = samples_of(arm, log)
    return arm, samples, SuspectRows(arm, samples, base_parameters(arm).columns)


def test_mixed_products_are_those_of_mixed_torque(rows):
    arm, samples, found = rows
    mixing = np.random.default_rng(1).normal(size=(arm.n, arm.n))
    Y = regressor(arm, samples.q, samples.qd, samples.qdd)[:, :, base_parameters(arm).columns]
    inertial = [k for k, name in enumerate(base_parameters(arm).names) if name[0] not in 'F']
    products = found.mixed(mixing)
    for joint in range(arm.n):
        used = samples.moving[:, joint]
        W, tau = Y[used, joint][:, inertial], (samples.tau @ mixing)[used, joint]
        own = products[joint][np.ix_([*inertial, -1], [*inertial, -1])]
        every = np.column_stack([W, tau])
        np.testing.assert_allclose(own, every.T @ every, rtol=1e-9, atol=1e-9)
        assert found.counts[joint] == used.sum()


def test_groups_add_up_to_the_recording(rows):
    _, samples, found = rows
    products, counts = found.by_group(groups_of_samples(samples))
    assert len(products) == GROUPS
    np.testing.assert_allclose(products.sum(axis=0), found.products, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(counts.sum(axis=0), found.counts)


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


def test_mixing_by_the_identity_changes_nothing():
    products = np.random.default_rng(0).normal(size=(2, 5, 5))
    products = products + products.transpose(0, 2, 1)
    found = mixed(products, np.eye(2))
    for joint in range(2):
        own = [*range(3), 3 + joint]
        np.testing.assert_array_equal(found[joint], products[joint][np.ix_(own, own)])
