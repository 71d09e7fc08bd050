# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction that grows with the load, whose rows depend on the parameters that they estimate."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.link_bounds import LinkBounds
from dynid_ros.arm.model import Conditioning
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify

pytestmark = pytest.mark.usefixtures('figures_alone')
PLAIN = ('viscous', 'coulomb', 'offset')


def lever():
    """Describe a horizontal lever with its centre of mass too near to the axis."""
    arm = load_arm('two_axis')
    bounds = LinkBounds(np.full(2, np.inf) * [-1, 1], np.tile([-np.inf, np.inf], (2, 1)),
                        np.tile([-np.inf, np.inf], (2, 3, 1)))
    bounds.mass[1], bounds.center[1, 0] = (0.08, 0.09), (0.0, 0.03)
    return replace(
        arm, drive=Drive.joint_torque(2), friction=PLAIN, link_bounds=bounds,
        friction_nominal={'viscous': np.full(2, 0.001), 'coulomb': np.array([0.005, 0.001])},
        conditioning=Conditioning(cutoff_hz=3.0, delay=0.0))


def swings(arm):
    """Swings about the horizontal: an offset holds most of what the centre of mass does not."""
    t, rng = np.arange(0, 40, 0.01), np.random.default_rng(1)
    w = 0.2 * np.pi * np.arange(1, 5)
    phase = w * t[:, None, None] + rng.uniform(0, 6, (2, 4))
    size, middle = np.array([0.3, 0.1])[:, None], np.array([0.0, np.pi / 2])
    q, qd, qdd = ((size * each).sum(axis=2) for each in (
        np.sin(phase), w * np.cos(phase), -w**2 * np.sin(phase)))
    q, rest = q + middle, np.zeros_like(q)
    links = np.zeros(arm.layout.size)
    links[arm.layout.all_inertial()] = nominal_parameters(arm)[arm.layout.all_inertial()]
    weight = regressor(arm, q, rest, rest) @ links
    tau = regressor(arm, q, qd, qdd) @ nominal_parameters(arm)
    tau += np.abs(weight) * np.tanh(qd / 0.001)
    tau += 0.01 * tau.std(axis=0) * rng.normal(size=tau.shape)
    return Recording(t, q, tau, arm.joint_names, source='swings.npz')


def test_possible_parameters_predict_with_the_load_that_they_were_fitted_with():
    """A term more cannot make the fit worse, unless its rows are those of other parameters."""
    arm = lever()
    log = swings(arm)
    with_load, without = (identify(arm, [log], friction=terms, holdout=1 / 3)
                          for terms in ((*PLAIN, 'load'), PLAIN))
    assert with_load.possible and without.possible
    for each in ('fit', 'validation'):
        errors = [getattr(model, each).relative_error_percent for model in (with_load, without)]
        assert errors[0] < errors[1]
