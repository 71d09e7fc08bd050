"""The decision of the table: what is reported, what is not, and with which size."""

from dataclasses import replace

import numpy as np
import pytest
from results import samples_of

from dynid_ros.arm import load_arm
from dynid_ros.estimation.suspects import table as table_module
from dynid_ros.estimation.suspects.likelihood import Likelihood, Prediction
from dynid_ros.estimation.suspects.signal_suspects import reversed_signals, scaled_signals
from dynid_ros.estimation.suspects.suspect import as_recorded, described
from dynid_ros.estimation.suspects.table import Line, table_of
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate


@pytest.fixture(scope='module')
def ur10():
    arm = load_arm('ur10')
    return arm, simulate(arm, random_motion(arm, 0, tries=5, periods=2), rate_hz=125).log


def base_of(arm, log):
    return as_recorded(arm, samples_of(arm, log))


def table(arm, log):
    return table_of(base_of(arm, log))


def scaled(log, joint, factor, part=slice(None)):
    u = log.u.copy()
    u[part, joint] *= factor
    return replace(log, u=u)


def test_a_good_recording_has_no_winner(ur10):
    found = table(*ur10)
    assert found.winners == ()
    assert found.prediction.error_percent < 5


def test_a_scale_is_refined_between_those_that_are_tried(ur10):
    arm, log = ur10
    best = table(arm, scaled(log, 1, 2.6)).winners[0]
    assert (best.suspect.fault.code, best.suspect.joints) == ('effort_scale', (1,))
    assert best.suspect.mixing[1, 1] == pytest.approx(1 / 2.6, rel=0.05)


def test_a_fault_that_hardly_matters_is_not_reported(ur10):
    arm, log = ur10
    found = table(arm, scaled(log, 3, 1.3))
    # It is beyond chance, but lowers no error of a joint by a third.
    assert found.lines[0].evidence > 10
    assert found.winners == ()


def test_the_group_that_speaks_most_for_a_suspect_does_not_count():
    class Predicted:
        def blocks(self, *_):
            return Prediction(np.array([120.0, 1.0, 2.0, -4.0]), np.ones((4, 1)), np.ones((4, 1)))

    own = Prediction(np.array([0.0, 0.0, 0.0, 1.0]), np.ones((4, 1)), np.ones((4, 1)))
    line = table_module._predicted(Predicted(), Line(None, 118.0), None, own)
    assert line.evidence == 1.0 + 2.0 - 5.0


def test_two_faults_are_named_together(ur10):
    arm, log = ur10
    u = log.u[:, [0, 1, 2, 5, 4, 3]] * [1, -1, 1, 1, 1, 1]
    (best, *others) = table(arm, replace(log, u=u)).winners
    assert not others
    found = {(fault.code, fault.joints) for fault in best.suspect.faults}
    assert found == {('effort_sign', (1,)), ('effort_exchanged', (3, 5))}
    text = described(arm, best.suspect.faults)
    assert 'wrong sign' in text and 'exchanged' in text


def test_all_signs_are_told_from_none_by_the_possible_parameters(ur10):
    arm, log = ur10
    base = base_of(arm, replace(log, u=-log.u))
    likelihood = Likelihood(base)
    (every,) = [each for each in reversed_signals(base, likelihood.joints.tolist())
                if len(each.joints) == arm.n]
    free = [likelihood.free(each) for each in (base, every)]
    possible = [likelihood.possible(each)[0] for each in (base, every)]
    # Any parameters explain one sign as well as the other; bodies do not.
    assert free[0] == pytest.approx(free[1], abs=1.0)
    assert possible[1] > possible[0] + 100


@pytest.mark.parametrize('joint', [1, 4, 5])
def test_the_free_likelihood_bounds_that_of_bodies(ur10, joint):
    arm, log = ur10
    base = base_of(arm, scaled(log, joint, 3.0))
    likelihood = Likelihood(base)
    # Weights that have not settled leave some of it.
    for each in (base, *scaled_signals(base, [joint, 0])):
        assert likelihood.possible(each)[0] <= likelihood.free(each) + 3.0


def test_units_of_all_signals_do_not_change_the_density_of_the_recorded_ones(ur10):
    base = base_of(*ur10)
    likelihood = Likelihood(base)
    in_milli = base.with_signals(2.0 * np.eye(base.arm.n), None)
    assert likelihood.free(in_milli) == pytest.approx(likelihood.free(base), abs=2.0)


def test_too_few_samples_have_no_table():
    arm = load_arm('ur10')
    log = simulate(arm, random_motion(arm, 0, tries=5), rate_hz=125).log.part(0, 200)
    assert table(arm, log) is None
