"""What a format cannot hold, and the error that this makes, against closed forms."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest
from results import identification

from dynid_ros.export.omitted_terms import error_without, omitted_terms
from dynid_ros.model.torque_prediction import Prediction


def model_of(friction, symbol, signal):
    """Make a model whose held-out torque is one of its own terms alone."""
    arm = replace(random_arm(np.random.default_rng(0), 2, prismatic=False), friction=friction)
    model = identification(arm)
    # Rows at five times the frequency of the motion, as decimation leaves them.
    t = np.arange(0, 20, 0.2)
    w = np.array([5.0, 3.0])
    q, qd, qdd = np.sin(w * t[:, None]), w * np.cos(w * t[:, None]), -w**2 * np.sin(w * t[:, None])
    tau = of_symbol(model, symbol) * {'qd': qd, 'sign': np.sign(qd), 'qdd': qdd}[signal]
    return replace(model, predictions=(
        Prediction('in-sample', False, t, q, qd, 9.0 * tau, tau),
        Prediction('held-out', True, t, q, qd, tau, tau)))


def of_symbol(model, symbol):
    found = model.standard_parameters()
    return np.array([found.values[found.names.index(f'{symbol}{joint + 1}')]
                     for joint in range(2)])


@pytest.mark.parametrize(('friction', 'term', 'symbol', 'signal', 'tolerance'), [
    (('viscous', 'offset'), 'viscous', 'Fv', 'qd', 1e-9),
    (('viscous', 'coulomb'), 'coulomb', 'Fc', 'sign', 1e-9),
    # The acceleration follows from few velocities.
    (('viscous',), 'rotor inertia', 'Ia', 'qdd', 0.05),
])
def test_a_torque_of_one_term_alone_is_missed_whole(friction, term, symbol, signal, tolerance):
    model = model_of(friction, symbol, signal)
    assert error_without(model, [term]).relative_error_percent == pytest.approx(
        100.0, rel=tolerance)
    left = error_without(replace(model, predictions=tuple(
        replace(part, tau_hat=2 * part.tau_hat) for part in model.predictions)), [term])
    assert left.relative_error_percent == pytest.approx(0.0, abs=100 * tolerance)
    assert left.held_out


def test_formats_hold_what_they_have_elements_for():
    arm = replace(random_arm(np.random.default_rng(0), 2), friction=('viscous', 'offset'))
    assert omitted_terms(arm, 'urdf') == ('offset', 'rotor inertia')
    assert omitted_terms(arm, 'mjcf') == ('offset',)
    assert omitted_terms(arm, 'python') == omitted_terms(arm, 'yaml') == ()


def test_without_stored_torque_there_is_no_figure():
    model = replace(identification(), predictions=())
    assert error_without(model, ['rotor inertia']) is None
