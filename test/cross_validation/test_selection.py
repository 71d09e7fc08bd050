"""Blocks that are predicted by a choice of friction terms in which they took no part."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import coloured, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import CURVE, FrictionShape, TERMS, WARM
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import Conditioning
from dynid_ros.cross_validation.friction_choice import (
    all_terms,
    chosen_of,
    Folds,
    near_the_best,
    PLAIN_FORMS,
)
from dynid_ros.cross_validation.selection import left_by_selection, spread_by_choice
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.excitation.random_motion import random_motion
from dynid_ros.identification.identify import identify
from dynid_ros.recordings.history import history_of
from dynid_ros.recordings.recording import Recording
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.preparation import checked_recording, choose_conditioning, motions
from dynid_ros.regression.weighted_least_squares import reweighted, stack
from dynid_ros.storage.recording_reader import read_recording

RATE = 100.0


@pytest.fixture(scope='module')
def folds():
    return folds_of()


def folds_of(**shape):
    """Blocks of a motion whose noise leaves open which Stribeck friction it has."""
    arm = replace(load_arm('two_axis'), drive=Drive.joint_torque(2),
                  conditioning=Conditioning(cutoff_hz=5.0, delay=0.0),
                  friction_shape=FrictionShape(**shape))
    t = np.arange(round(40 * RATE)) / RATE
    q, qd, qdd = Waves.random(arm, 3).at(t)
    tau = regressor(arm, q, qd, qdd) @ nominal_parameters(arm)
    tau += 0.1 * tau.std(axis=0) * (
        np.sign(qd) * np.exp(-(qd / 0.3)**2) + np.random.default_rng(0).normal(size=tau.shape))
    log, _ = checked_recording(Recording(t, q, tau, arm.joint_names, source='log.npz'), arm)
    treatment = choose_conditioning(arm, [log])
    return Folds(arm, KeptRows(arm, motions(arm, log, treatment), treatment))


def left(folds, terms, k, *without):
    """Predict a block by a fit to the rows of all but some, by QR instead of products."""
    blocks, _ = folds.blocks(terms)
    others = [block for j, block in enumerate(blocks) if j not in (k, *without)]
    prior = arm_prior(folds.arm).rows(folds.columns(terms))
    return blocks[k].residual_squares(reweighted(stack(others), prior)[0])


def test_each_block_is_predicted_by_the_choice_of_the_others(folds):
    candidates = {*near_the_best(folds.trials), *PLAIN_FORMS}
    expected, chosen = np.zeros(2), []
    for k in range(10):
        errors = {
            terms: np.array([left(folds, terms, j, k).sum() / folds.torque[j].sum()
                             for j in range(10) if j != k]) for terms in candidates}
        chosen.append(chosen_of(errors, apart=folds.apart))
        expected += left(folds, chosen[-1], k)
    # Else nothing would be tested.
    assert len(candidates) > 2 and len(set(chosen)) > 1
    np.testing.assert_allclose(left_by_selection(folds), expected, rtol=1e-5)


@pytest.mark.slow
def test_terms_that_were_chosen_are_less_sure_than_the_same_ones_given(shared_data):
    arm = load_arm('ur10')
    log = read_recording(shared_data / 'ur10/ur10_exciting_trajectory.db3', arm)
    chosen = identify(arm, [log])
    given = identify(arm, [log], friction=chosen.arm.friction)
    ratio = chosen.unseen_sigma / given.unseen_sigma
    # Where the blocks agree on the terms, only those that single joints lack make a difference.
    assert (ratio > 0.97).all()
    # Measured 1.3, 1.1 and 1.2 for the shoulder and the elbow.
    assert (ratio[:3] > 1.05).all()


def test_parameters_spread_as_fits_beside_each_choice_near_the_best(folds):
    rows, near = stack(folds.blocks(all_terms())[0]), near_the_best(folds.trials)
    chosen = folds.arm.with_friction(chosen_of(folds.trials, apart=folds.apart))
    names = base_parameters(folds.arm).names

    def fitted(terms):
        columns = folds.columns(terms)
        theta = reweighted(rows.part(columns), arm_prior(folds.arm).rows(columns))[0]
        return dict(zip((names[k] for k in columns), theta, strict=True))

    own, others = fitted(chosen.friction), [fitted(terms) for terms in near]
    symbols = {term.symbol for term in TERMS.values()}
    expected = [0.0 if name.rstrip('0123456789') in symbols else
                np.sqrt(np.mean([(each[name] - own[name])**2 for each in others]))
                for name in base_parameters(chosen).names]
    # Else nothing would be tested.
    assert len(near) > 2
    np.testing.assert_allclose(
        spread_by_choice(chosen, folds), expected, rtol=1e-4, atol=1e-9 * np.max(expected))


def test_terms_of_the_same_shape_are_one_source_of_spread():
    # The smooth sign of one hundredth is there twice, and the base has one of the two.
    folds = folds_of(smooth_speed=0.01)
    lacking = (('sign_100',), ())
    for terms in (('viscous', *CURVE, 'offset'), ('offset', *CURVE[::-1], 'viscous')):
        arm = folds.arm.with_friction(terms, lacking)
        spread = spread_by_choice(arm, folds)
        assert spread.shape == (base_parameters(arm).count,)
        assert np.isfinite(spread).all() and spread.any()


def planted_warmth():
    """Plant friction that warms up in the first seconds of a minute of a UR10."""
    arm = replace(load_arm('ur10'), friction=('viscous', 'coulomb_smooth', 'offset', WARM),
                  conditioning=Conditioning(cutoff_hz=5.0, delay=0.0))
    t = np.arange(60 * 125) / 125.0
    q, qd, qdd = random_motion(arm, 1, tries=20, periods=20).evaluate(t + 1.0)
    standard = nominal_parameters(arm)
    rigid = regressor(arm.rigid(), q, qd, qdd) @ standard[arm.layout.all_inertial()]
    for term, size in zip(arm.friction, (1.0, 0.7, 0.3, -0.6), strict=True):
        standard[[arm.layout.friction_column(joint, TERMS[term].symbol)
                  for joint in range(arm.n)]] = size * rigid.std(axis=0) / 6
    tau = regressor(arm, q, qd, qdd, history=history_of(t, q)) @ standard
    noise = coloured(np.random.default_rng(1), len(t), 0.02 * tau.std(axis=0), 0.9)
    base = base_parameters(arm)
    return (arm, Recording(t, q, tau + noise, arm.joint_names, source='log.npz'),
            dict(zip(base.names, base.grouping @ standard, strict=True)))


@pytest.mark.slow
def test_inertial_parameters_hold_their_intervals_where_the_choice_lacks_a_term():
    arm, log, truth = planted_warmth()
    model = identify(arm, [log])
    # Else nothing would be tested: the warmth is steady after a few seconds.
    assert WARM not in model.arm.friction
    inertial = model.choice_std > 0
    error = np.abs(model.theta - [truth.get(name, 0.0) for name in model.parameters])[inertial]
    alone = np.sqrt(np.diag(model.covariance))[inertial]
    # Measured 80 and 98 % of 40 parameters.
    assert (error < 1.96 * alone).mean() < 0.85
    assert (error < 1.96 * model.std[inertial]).mean() > 0.9
    # 40 of 40 would be no surprise, so their width is bounded: measured 1.16 times as wide.
    assert 1.0 < np.median(model.std[inertial] / alone) < 1.5
