# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recordings that are judged above the cut-off of their motion."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm import load_arm
from dynid_ros.data.signals.conditioning import HIGHEST_CUTOFF
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.ladder import USUAL_HZ
from dynid_ros.estimation.identification.identify import identify


def slow(lowest_hz, harmonics, samples):
    arm = load_arm('two_axis')
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    noise = 1e-3 * np.random.default_rng(0).normal(size=(samples, arm.n))
    waves = Waves.random(arm, seed=1, lowest_hz=lowest_hz, harmonics=harmonics)
    return arm, recording(arm, waves, theta, noise)


def test_a_slow_recording_is_fitted_above_its_motion_and_held_out_samples_decide_nothing():
    arm, log = slow(0.05, 3, 6000)
    spoilt = log.u.copy()
    spoilt[len(log.t) * 3 // 4:] *= -1
    good, bad = (identify(arm, [replace(log, u=u)]) for u in (log.u, spoilt))
    assert good.verdict.trustworthy and not bad.verdict.trustworthy
    for model in (good, bad):
        assert model.treatment.cutoff_hz == USUAL_HZ
    np.testing.assert_array_equal(good.theta, bad.theta)


def test_a_recording_that_is_short_for_a_low_cut_off_is_judged_above_it():
    arm, log = slow(0.02, 1, 2500)
    given = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=0.3))
    with pytest.raises(RecordingError, match='too short'):
        identify(given, [log], holdout=0.2)
    assert identify(arm, [log], holdout=0.2).treatment.cutoff_hz == USUAL_HZ


def test_held_out_recordings_of_a_low_rate_bound_the_cut_off():
    arm, log = slow(0.05, 3, 6000)
    coarse = log.part(4000, 6000)
    coarse = replace(coarse, t=coarse.t[::10], q=coarse.q[::10], u=coarse.u[::10], qd=None)
    model = identify(arm, [log.part(0, 4000)], validation=[coarse])
    assert model.treatment.cutoff_hz == pytest.approx(HIGHEST_CUTOFF * 10)
