# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A two-axis arm in Nm whose truth is known, and exact recordings of it with noise on top."""

from dataclasses import replace

import numpy as np
from synthetic_recordings import coloured, Waves

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.model import Conditioning
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters

RATE, SECONDS = 200.0, 24.0
#: Standard deviation of the noise of the torque, Nm, white and of a second.
NOISE = np.array([0.02, 0.01])


def truth():
    """Return the arm, in Nm with plain friction, rotors, and thick links."""
    arm = load_arm('two_axis')
    links = [inertial_from_com(mass, place, 2e-3 * np.eye(3)) for mass, place in (
        (0.6, [0.0, 0.06, -0.02]), (0.2, [0.02, -0.01, 0.1]))]
    return replace(
        arm, inertial=np.array(links), drive=Drive.joint_torque(2), friction=PLAIN_TERMS,
        rotor_inertia=True, rotor_nominal=np.array([0.02, 0.01]), coupling=(),
        friction_nominal={'viscous': np.array([0.05, 0.03]), 'coulomb': np.array([0.1, 0.05]),
                          'offset': np.array([0.02, -0.01])},
        conditioning=Conditioning(cutoff_hz=5.0, delay=0.0))


def heavier(arm, factor=1.5):
    """Return the arm with heavier links."""
    return replace(arm, inertial=factor * arm.inertial)


def recorded(arm, motion, noise=0.0, seed=0, seconds=SECONDS, memory=0.0):
    """Record the arm on some motion, with noise that is this multiple of `NOISE`."""
    t = np.arange(round(seconds * RATE)) / RATE
    q, qd, qdd = Waves.random(arm, motion, lowest_hz=0.2).at(t)
    tau = regressor(arm, q, qd, qdd) @ nominal_parameters(arm)
    tau += noise * coloured(np.random.default_rng(seed), len(t), NOISE, memory)
    return Recording(t, q, tau, arm.joint_names, 'effort', f'motion {motion}')
