# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Uses of a model: each with the figure that decides, and a reason where it does not serve."""

from dataclasses import replace

import numpy as np
import pytest
from results import identification
from synthetic_recordings import recording, Waves

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.metrics import FITTED_AGAIN
from dynid_ros.estimation.model.verdict import Finding, Verdict

PREDICTION, CONTACT, SIMULATION, MASSES = range(4)


@pytest.fixture(scope='module')
def good():
    arm = load_arm('two_axis')
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    noise = 0.01 * np.random.default_rng(0).normal(size=(2, 2000, arm.n))
    fitted, other = (recording(arm, Waves.random(arm, seed=k), theta, noise[k]) for k in range(2))
    return identify(arm, [fitted], validation=[other])


def test_a_good_model_serves_by_its_held_out_errors(good):
    found = good.uses
    assert all(found[k].serves for k in (PREDICTION, CONTACT, SIMULATION))
    errors = [joint.rmse for joint in good.validation.joints]
    assert f'{min(errors):.2g} to {max(errors):.2g} Nm' in found[PREDICTION].figure
    assert f'{3 * min(errors):.2g} to {3 * max(errors):.2g} Nm' in found[CONTACT].figure
    assert f'{good.consistent.relative_error_percent:.1f} %' in found[SIMULATION].figure


def test_the_figure_is_of_another_motion_only_where_one_was_held_out(good):
    assert good.uses[PREDICTION].figure.endswith(' % on another motion')
    same = replace(good, held_out='the last 33 % of the same recording')
    assert same.uses[PREDICTION].figure.endswith(' % on the last 33 % of the same recording')


def test_a_model_without_held_out_motion_serves_no_prediction(good):
    found = replace(good, validation=None, consistent=None).uses
    assert not any(found[k].serves for k in (PREDICTION, CONTACT, SIMULATION))
    assert 'in-sample' in found[PREDICTION].figure


def test_a_motion_that_repeats_validates_no_use(good):
    found = replace(good, repeats=True, held_out=FITTED_AGAIN).uses
    assert not any(found[k].serves for k in (PREDICTION, CONTACT, SIMULATION))
    assert 'the fitted motion again' in found[PREDICTION].figure


def test_joints_at_rest_have_no_figure(good):
    first, second = good.validation.joints
    still = replace(good.validation, joints=(replace(first, rmse=np.nan), second))
    assert '(1 of 2 moved)' in replace(good, validation=still).uses[PREDICTION].figure


def test_an_error_speaks_against_every_use_and_a_warning_against_none(good):
    for severity in ('error', 'warning'):
        finding = Finding('any', 'a fault', severity=severity)
        found = replace(good, verdict=Verdict(severity == 'warning', (finding,), 1.0)).uses
        assert found[PREDICTION].serves == found[CONTACT].serves == (severity == 'warning')


def test_refuted_gains_take_the_masses_and_nothing_else(good):
    refuted = Finding('gains_refuted', 'the data refute them', severity='warning')
    found = replace(good, verdict=Verdict(True, (refuted,), 1.0)).uses
    assert found[PREDICTION].serves
    assert not found[MASSES].serves and 'refute' in found[MASSES].figure


def test_unconstrained_parameters_do_not_serve_a_simulator(good):
    assert not replace(good, possible=False).uses[SIMULATION].serves


def test_a_result_of_the_first_version_has_uses():
    assert len(identification().uses) == 4
