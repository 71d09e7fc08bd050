# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recordings of an arm whose friction depends on its history."""

from dataclasses import replace

from estimates import estimated
import numpy as np
import pytest
from synthetic_recordings import Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import TERMS
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import Conditioning
from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters

SECONDS = 40.0


def arm_with(true):
    """Two axes with coefficients of friction terms by name."""
    arm = load_arm('two_axis')
    return replace(
        arm, drive=Drive.joint_torque(2), friction=tuple(true),
        limits=replace(arm.limits, effort=np.full(2, np.inf)),
        friction_nominal={name: np.array(value) for name, value in true.items()},
        conditioning=Conditioning(cutoff_hz=5.0, delay=0.0))


def motion(arm, rate, seconds=SECONDS, seed=1):
    t = np.arange(round(seconds * rate)) / rate
    return t, *Waves.random(arm, seed).at(t)


def true_torque(arm, t, q, qd, qdd):
    return regressor(arm, q, qd, qdd, history=history_of(t, q)) @ nominal_parameters(arm)


def log_of(arm, rate, noise=0.0, **chosen):
    t, q, qd, qdd = motion(arm, rate, **chosen)
    tau = true_torque(arm, t, q, qd, qdd)
    noise = noise * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    return Recording(t, q, tau + noise, arm.joint_names, source='log.npz')


def check_found(term, true, rate):
    """Plant a friction term beside others; see that it is chosen, and estimated within its std."""
    arm = arm_with(true)
    log = log_of(arm, rate, noise=0.02)
    result, exact, without = (estimated(arm, [log], friction=friction) for friction in (
        None, tuple(true), tuple(set(true) - {term})))
    assert term in result.friction_strength
    errors = [each.validation.relative_error_percent for each in (result, exact, without)]
    assert errors[0] < 1.05 * errors[1] < errors[2]
    for joint, value in enumerate(true[term]):
        name = f'{TERMS[term].symbol}{joint + 1}'
        # Terms that compete widen the error bars; the planted ones alone have narrow ones.
        for each, widest in ((result, 0.5), (exact, 0.1)):
            std = dict(zip(each.parameters, each.std, strict=True))[name]
            # Five standard deviations.
            assert each.parameters[name] == pytest.approx(value, abs=5 * std)
            assert std < widest * abs(value)
