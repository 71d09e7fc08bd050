# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The friction that a model expects at rest."""

from dataclasses import replace

import numpy as np
from synthetic_recordings import recording, Waves

from dynid_ros.applications.payload.known_friction import breakaway
from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify


def test_a_joint_at_rest_is_held_by_the_friction_of_the_slowest_motion():
    terms = ('viscous', 'sign_10', 'coulomb_smooth', 'sign_100', 'offset')
    arm = replace(load_arm('two_axis').with_friction(terms), drive=Drive.joint_torque(2))
    base = base_parameters(arm)
    known = dict(zip(base.names, base.grouping @ nominal_parameters(arm), strict=True)) | {
        'Fv1': 0.1, 'Fo1': 0.1, 'Fv2': 0.1, 'Fo2': 0.1,
        'Fta1': 3.0, 'Fcs1': -4.0, 'Ftb1': 1.5, 'Fta2': 0.0, 'Fcs2': 2.0, 'Ftb2': -0.5}
    theta = np.array(list(known.values()))
    log = recording(arm, Waves.random(arm, seed=3), theta, np.zeros((3000, 2)), rate=100.0)
    model = identify(arm, [log], friction=terms)
    qd = np.linspace(0, 0.1, 10001)
    curves = [sum(known[f'{symbol}{joint}'] * np.tanh(qd / speed) for symbol, speed in
                  (('Fta', 0.01), ('Fcs', 0.03), ('Ftb', 0.1))) for joint in (1, 2)]
    np.testing.assert_allclose(breakaway(model), np.abs(curves).max(axis=1), rtol=0.05)
