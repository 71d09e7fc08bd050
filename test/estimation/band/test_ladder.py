# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The cut-off follows from the prediction of blocks that were not fitted."""

from dataclasses import replace

from estimates import estimated
import numpy as np
import pytest
from synthetic_recordings import coloured, recording, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import HIGHEST_CUTOFF
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.choice import choose_conditioning, wider_band
from dynid_ros.estimation.band.ladder import _may_be_chosen, chosen, USUAL_HZ
from dynid_ros.estimation.band.trial_blocks import TrialMotions
from dynid_ros.estimation.identification.conditioned_data import condition
from dynid_ros.estimation.identification.train_test_split import divide
from dynid_ros.estimation.model.conditioning_words import noisy_positions

RATE = 100.0


@pytest.fixture(scope='module')
def arm():
    made = load_arm('two_axis')
    return replace(made, drive=Drive.joint_torque(made.n), conditioning=replace(
        made.conditioning, delay=0.0))


def truth(arm):
    return base_parameters(arm).grouping @ nominal_parameters(arm)


def log_of(arm, position_noise=0.0, seconds=60.0, lowest_hz=0.1, rate=RATE, seed=0):
    """Make a log with white noise of its positions, and coloured noise of 1 % of its torque."""
    waves = Waves.random(arm, seed=2, lowest_hz=lowest_hz)
    random, samples = np.random.default_rng(seed), int(seconds * rate)
    clean = recording(arm, waves, truth(arm), np.zeros((samples, arm.n)), rate=rate)
    noise = coloured(random, samples, 0.01 * clean.u.std(axis=0), 0.9)
    q = clean.q + random.normal(0, 1, clean.q.shape) * position_noise
    return replace(clean, q=q, u=clean.u + noise)


def squares(**ratios):
    """Squared errors of ten blocks by cut-off, which scatter by 5 %, from ratios of errors."""
    random = np.random.default_rng(0)
    return {float(name[1:]): (ratio * random.uniform(0.95, 1.05, 10))**2
            for name, ratio in ratios.items()}


@pytest.mark.parametrize(('ratios', 'expected'), [
    # As flat as good rows are, a little worse than the lowest, and a little better above.
    ({'_2': 1.0, '_3': 1.0, '_5': 1.0, '_10': 1.0, '_20': 1.0}, 5.0),
    ({'_2': 1.0, '_3': 1.05, '_5': 1.15, '_10': 1.2, '_20': 1.2}, 5.0),
    ({'_2': 1.0, '_3': 1.0, '_5': 1.0, '_10': 0.9, '_20': 0.9}, 5.0),
    # Rows that turn bad, above the usual cut-off or below it.
    ({'_2': 1.0, '_3': 1.0, '_5': 1.0, '_10': 2.5}, 5.0),
    ({'_2': 1.0, '_3': 1.1, '_5': 1.6}, 3.0),
    ({'_2': 1.0, '_3': 1.5, '_5': 4.0}, 2.0),
    # A motion that needs more, and one that asks for it step by step.
    ({'_2': 1.0, '_3': 1.0, '_5': 1.0, '_10': 0.6, '_20': 0.6, '_40': 3.0}, 10.0),
    ({'_2': 1.0, '_3': 1.0, '_5': 1.0, '_10': 0.7, '_20': 0.4}, 20.0),
])
def test_the_usual_cut_off_stays_unless_the_data_ask_for_another_one(ratios, expected):
    assert chosen(squares(**ratios), USUAL_HZ) == expected


def test_what_only_some_blocks_say_is_chance():
    left = {2.0: np.ones(10), 5.0: np.ones(10)}
    left[5.0][:2] = 30.0
    assert chosen(left, USUAL_HZ) == 5.0
    left[5.0][:] = 3.0
    assert chosen(left, USUAL_HZ) == 2.0


def test_a_good_recording_gets_the_usual_cut_off_and_the_ladder_that_gives_it(arm):
    settings = choose_conditioning(arm, [log_of(arm)])
    assert settings.cutoff_hz == USUAL_HZ
    assert [rung.cutoff_hz for rung in settings.ladder][:4] == [2.0, 3.0, 5.0, 10.0]
    errors = {rung.cutoff_hz: rung.error_percent for rung in settings.ladder}
    # Of noise of 1 % that is as coloured, some passes the lowest band.
    assert 0.1 < errors[2.0] < 2.0
    assert errors[5.0] < 1.2 * errors[2.0]


def test_a_long_recording_shows_that_no_parameters_explain_enough_more(arm):
    settings = choose_conditioning(arm, [log_of(arm, seconds=240.0)])
    assert settings.cutoff_hz == USUAL_HZ
    assert [rung.cutoff_hz for rung in settings.ladder] == [2.0, 3.0, 5.0, 10.0]


def test_no_cut_off_has_less_error_than_the_least(arm):
    motions = TrialMotions(arm, [log_of(arm, seconds=20.0)], RATE)
    lowest = motions.below(2.0, 10)
    solution = lowest.solution
    least = lowest.least_squares(solution.sigma)
    for cutoff in (2.0, 5.0, 20.0):
        fits = motions.below(cutoff, 10).fits(solution)
        assert (lowest.errors(fits, solution).sum(axis=1) >= least).all()
    # A fit to the rows of a block alone has that error.
    for block, own in zip(lowest.blocks, least, strict=True):
        rows = block.weighted(solution.sigma)
        theta = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0]
        squares = (block.residual_squares(theta) / solution.sigma**2).sum()
        assert squares == pytest.approx(own, rel=1e-5)


def test_what_explains_far_more_is_tried_and_chosen():
    errors = squares(_2=1.0, _3=1.0, _5=1.0, _10=1.0)
    assert not _may_be_chosen(errors, USUAL_HZ, 0.8 * errors[5.0])
    assert _may_be_chosen(errors, USUAL_HZ, 0.5 * errors[5.0])
    # A cut-off below the usual one stays.
    assert not _may_be_chosen(squares(_2=1.0, _5=4.0), USUAL_HZ, np.zeros(10))


def test_noise_of_positions_lowers_the_cut_off_and_saves_the_parameters(arm):
    log, theta = log_of(arm, position_noise=0.01), truth(arm)
    settings = choose_conditioning(arm, [log])
    assert settings.cutoff_hz < USUAL_HZ

    def error(cutoff):
        own = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=cutoff))
        found = estimated(own, [log], friction=arm.friction, holdout=0.0).theta
        return np.linalg.norm(found - theta) / np.linalg.norm(theta)

    assert error(None) < 0.5 * error(USUAL_HZ)


@pytest.mark.slow
@pytest.mark.parametrize('noisy', [2, 5])
def test_a_noisy_joint_decides_for_itself(noisy):
    """Its encoder is three hundred times as noisy as the others."""
    arm = load_arm('ur10')
    arm = replace(arm, drive=Drive.joint_torque(arm.n), conditioning=replace(
        arm.conditioning, delay=0.0))
    log = log_of(arm, rate=250.0)
    noise = np.random.default_rng(1).normal(0, 0.01, log.q.shape) * (np.arange(arm.n) == noisy)
    good, bad = (choose_conditioning(arm, [replace(log, q=q)]) for q in (log.q, log.q + noise))
    assert (good.cutoff_hz, good.position_hz) == (USUAL_HZ, ())
    assert bad.cutoff_hz == USUAL_HZ
    assert np.argmin(bad.position_hz) == noisy
    assert sorted(bad.position_hz)[0] < USUAL_HZ < sorted(bad.position_hz)[1]
    # The message names it.
    assert arm.joint_names[noisy] in noisy_positions(arm, bad)
    assert noisy_positions(arm, good) == ''


def test_the_lowest_band_follows_a_fast_motion(arm):
    """Nearly all of its positions lie above 2 Hz, so that nothing there tells models apart."""
    settings = choose_conditioning(arm, [log_of(arm, lowest_hz=2.6, seconds=20.0, rate=500.0)])
    assert settings.ladder[0].cutoff_hz >= 5.0
    assert settings.cutoff_hz >= 5.0


def late(log, joint, seconds=0.06):
    """Delay one drive signal."""
    u = log.u.copy()
    u[:, joint] = np.interp(log.t - seconds, log.t, u[:, joint])
    return replace(log, u=u)


def test_a_fault_that_lowers_the_cut_off_is_sought_in_the_band_of_the_motion(arm):
    fast, slow = (log_of(arm, lowest_hz=lowest, seconds=20.0) for lowest in (0.5, 0.1))
    assert choose_conditioning(arm, [fast]).cutoff_hz == USUAL_HZ
    settings = choose_conditioning(arm, [late(fast, 0)])
    assert settings.cutoff_hz < USUAL_HZ
    assert wider_band(settings, [fast], []).cutoff_hz == USUAL_HZ
    # The rate of the samples to predict bounds it.
    assert wider_band(settings.at(2.0), [fast], [log_of(arm, rate=8.0)]).cutoff_hz == (
        pytest.approx(HIGHEST_CUTOFF * 8.0))
    # Neither at the usual cut-off nor at a given one, nor in a motion whose band is narrow.
    assert wider_band(settings.at(USUAL_HZ), [fast], []) is None
    assert wider_band(replace(settings, cutoff_from_data=False), [fast], []) is None
    assert wider_band(settings, [slow], []) is None
    data = condition(divide(arm, [late(fast, 0)], (), None, None))
    assert data.train.settings.cutoff_hz == settings.cutoff_hz
    assert set(data.trial.period) == {1 / settings.cutoff_hz}
    assert set(data.wider.period) == {1 / USUAL_HZ}
    # Of the held-out set, too.
    assert data.wider.t.max() > data.train.motions[0].t[-1]


def test_a_given_cut_off_needs_no_ladder(arm):
    given = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=4.0))
    settings = choose_conditioning(given, [log_of(arm)])
    assert (settings.cutoff_hz, settings.cutoff_from_data, settings.ladder) == (4.0, False, ())
    fast = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=60.0))
    with pytest.raises(RecordingError, match='synthetic: the cut-off of 60 Hz'):
        choose_conditioning(fast, [log_of(arm)])


def test_the_rate_of_any_recording_bounds_the_cut_off(arm):
    log, slow = log_of(arm), log_of(arm, rate=8.0)
    assert choose_conditioning(arm, [slow]).cutoff_hz <= HIGHEST_CUTOFF * 8.0
    assert choose_conditioning(arm, [log], [slow]).cutoff_hz <= HIGHEST_CUTOFF * 8.0


def test_recordings_too_short_for_blocks_get_the_usual_cut_off(arm):
    settings = choose_conditioning(arm, [log_of(arm, seconds=1.5)])
    assert (settings.cutoff_hz, settings.ladder) == (USUAL_HZ, ())


def test_a_joint_that_never_moves_decides_nothing(arm):
    log = log_of(arm)
    still = Recording(log.t, np.zeros_like(log.q), log.u, log.joint_names)
    assert choose_conditioning(arm, [still]).cutoff_hz == USUAL_HZ


@pytest.mark.slow
def test_of_a_long_recording_stretches_over_all_of_it_are_looked_at(arm):
    """Noise that begins after two minutes counts, too."""
    log = log_of(arm, seconds=600.0)
    random = np.random.default_rng(1)
    late = (log.t > 200.0)[:, None]
    noisy = replace(log, q=log.q + 0.01 * late * random.normal(0, 1, log.q.shape))
    assert choose_conditioning(arm, [log]).cutoff_hz == USUAL_HZ
    assert choose_conditioning(arm, [noisy]).cutoff_hz < USUAL_HZ
