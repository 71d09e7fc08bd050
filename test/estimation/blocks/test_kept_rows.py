# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Kept rows are those of the whole regressor, filtered and decimated, for any arm and terms."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from results import compress

from dynid_ros.arm.friction import TERMS
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import CouplingColumn
from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.recordings.warmth import warmth_of
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.data.signals.filters import decimation_step
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.qr_factors import stack

ARMS = ('two_axis', 'panda', 'tx40', 'ur10')
PLAIN = ('viscous', 'coulomb', 'offset')


def sliding(arm):
    """Let the second joint slide, along an axis that is not one of its frame."""
    prismatic = np.arange(arm.n) == 1
    axis = arm.axis.copy()
    axis[1] = [0.6, 0.0, 0.8]
    return arm.with_tree(prismatic=prismatic, axis=axis)


def random_motion(n, samples, rate, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(samples) / rate
    q, qd, qdd, tau = rng.normal(size=(4, samples, n))
    moving = rng.uniform(size=(samples, n)) > 0.2
    return ConditionedMotion(t, q, qd, qdd, tau, moving, warmth_of(t, q))


def gravity_of(arm, q, theta):
    """Torque at rest from the whole regressor of the rigid arm."""
    standard = np.zeros(arm.layout.size)
    standard[base_parameters(arm).columns] = theta
    still = np.zeros_like(q)
    return regressor(arm.rigid, q, still, still) @ standard[arm.layout.all_inertial()]


def plain_rows(arm, motion, conditioning, theta):
    """Filter and decimate the whole regressor at once."""
    decimator = conditioning.decimator()
    load = gravity_of(arm, motion.q, theta)
    Y = regressor(arm, motion.q, motion.qd, motion.qdd, load=load,
                  history=history_of(motion.t, motion.q))
    W = decimator.whole(Y[:, :, base_parameters(arm).columns])
    kept = decimator.reach + decimator.step * np.arange(len(W))
    moving = motion.moving[kept]
    return motion.t[kept], W * moving[:, :, None], decimator.whole(motion.tau) * moving, moving


def joined(blocks):
    columns = zip(*((b.t, b.W, b.tau, b.moving) for b in blocks), strict=True)
    return tuple(map(np.concatenate, columns))


def agree(blocks, expected):
    # Sums of 10 to 2000 products differ by their order.
    for found, wanted in zip(joined(blocks), expected, strict=True):
        scale = np.abs(wanted).max(initial=1.0)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * scale)


@settings(max_examples=25)
@given(
    name=st.sampled_from(ARMS), slides=st.booleans(), rotor=st.booleans(),
    terms=st.lists(st.sampled_from(sorted(TERMS)), unique=True),
    rate=st.sampled_from([50.0, 200.0, 1000.0]), share=st.floats(0.004, 0.39),
    rows=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_rows_are_the_whole_regressor_filtered_and_decimated(
        name, slides, rotor, terms, rate, share, rows, seed):
    arm = replace(load_arm(name), rotor_inertia=rotor)
    arm = (sliding(arm) if slides else arm).with_friction(tuple(terms))
    cutoff = share * rate
    conditioning = ConditioningSettings(
        cutoff, False, 'butterworth', rate, decimation_step(rate, cutoff))
    decimator = conditioning.decimator()
    samples = 2 * decimator.reach + 1 + (rows - 1) * decimator.step + seed % decimator.step
    motion = random_motion(arm.n, samples, rate, seed)
    theta = np.random.default_rng(seed).normal(size=base_parameters(arm).count)
    expected = plain_rows(arm, motion, conditioning, theta)
    assert len(expected[0]) == rows
    kept = KeptRows(arm, [motion], conditioning)
    agree(kept.blocks(arm, theta), expected)
    factors = kept.compressed(arm, theta)
    np.testing.assert_array_equal(factors.rows, expected[3].sum(axis=0))
    probe = np.random.default_rng(seed + 1).normal(size=len(theta))
    left = ((expected[2] - expected[1] @ probe) ** 2).sum(axis=0)
    np.testing.assert_allclose(factors.residual_squares(probe), left, rtol=1e-9)


def test_a_declared_coupling_acts_on_every_joint():
    arm = load_arm('tx40')
    mixed = np.random.default_rng(0).normal(size=(3, 6, 6))
    arm = replace(arm, coupling=tuple(
        CouplingColumn(quantity, quantity, matrix)
        for quantity, matrix in zip(('qdd', 'qd', 'sign_qd'), mixed, strict=True)))
    conditioning = ConditioningSettings(10.0, False, 'butterworth', 200.0, 6)
    motion = random_motion(6, 900, 200.0, 3)
    expected = plain_rows(arm, motion, conditioning, np.zeros(base_parameters(arm).count))
    agree(KeptRows(arm, [motion], conditioning).blocks(arm), expected)


@pytest.fixture(scope='module')
def hour_like():
    """Make stretches of several pieces, and one that is too short for any row."""
    arm = load_arm('two_axis')
    conditioning = ConditioningSettings(4.0, False, 'butterworth', 1000.0, 83)
    stretches = [random_motion(2, samples, 1000.0, seed)
                 for seed, samples in enumerate((150_000, 400, 70_000))]
    return arm, stretches, conditioning


def test_stretches_of_several_pieces_are_in_the_order_of_time(hour_like):
    arm, stretches, conditioning = hour_like
    parts = [plain_rows(arm, motion, conditioning, np.zeros(base_parameters(arm).count))
             for motion in (stretches[0], stretches[2])]
    rows = KeptRows(arm, stretches, conditioning)
    agree(rows.blocks(arm), tuple(map(np.concatenate, zip(*parts, strict=True))))
    assert {block.segment for block in rows.blocks(arm)} == {0, 2}


def test_another_load_replaces_the_columns_of_the_last_one(hour_like):
    arm, stretches, conditioning = hour_like
    arm = arm.with_friction((*PLAIN, 'load'))
    rows = KeptRows(arm, stretches[2:], conditioning)
    for seed in (0, 1, 0):
        theta = np.random.default_rng(seed).normal(size=base_parameters(arm).count)
        agree(rows.blocks(arm, theta), plain_rows(arm, stretches[2], conditioning, theta))


def test_masked_rows_have_no_weight_and_leave_the_others_as_they_are(hour_like):
    arm, stretches, conditioning = hour_like
    rows = KeptRows(arm, stretches, conditioning)
    before = rows.compressed(arm)
    still = [replace(motion, moving=motion.moving & (motion.t < 30.0)[:, None])
             for motion in stretches]
    masked = rows.masked(still)
    expected = KeptRows(arm, still, conditioning, groups=masked.numbers).compressed(arm)
    np.testing.assert_array_equal(masked.compressed(arm).factors, expected.factors)
    assert masked.numbers is rows.numbers
    assert (masked.compressed(arm).rows < before.rows).all()
    np.testing.assert_array_equal(rows.compressed(arm).factors, before.factors)


def test_groups_hold_each_row_once(hour_like):
    arm, stretches, conditioning = hour_like
    rows = KeptRows(arm, stretches, conditioning)
    parts = rows.groups(arm)
    together = stack(parts).part(rows.columns(arm))
    whole = compress(base_parameters(arm).count, rows.blocks(arm))
    np.testing.assert_array_equal(together.rows, whole.rows)
    probe = np.linspace(-1, 1, base_parameters(arm).count)
    for found in (together, rows.compressed(arm)):
        np.testing.assert_allclose(
            found.residual_squares(probe), whole.residual_squares(probe), rtol=1e-10)
    for number, part in enumerate(rows.parts(arm)):
        own = [(block.moving * (rows.numbers[block.segment][np.searchsorted(
            stretches[block.segment].t, block.t)] == number)[:, None], block)
            for block in rows.blocks(arm)]
        left = sum(((block.tau - block.W @ probe)**2 * chosen).sum(axis=0)
                   for chosen, block in own)
        np.testing.assert_allclose(part.residual_squares(probe), left, rtol=1e-9)
        np.testing.assert_array_equal(part.rows, sum(chosen.sum(axis=0) for chosen, _ in own))
