"""Recordings of an arm whose friction depends on its history."""

from dataclasses import replace

import numpy as np
from synthetic_recordings import Waves

from dynid_ros.arm.drive import Drive
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
