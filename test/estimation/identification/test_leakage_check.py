# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Samples that were fitted are no held-out data, whatever their recording is called."""

from dataclasses import replace

from estimates import without_suspects
import numpy as np
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm.load import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.leakage_check import KnownSamples
from dynid_ros.estimation.identification.validation import validate
from dynid_ros.estimation.online.replay import replay

pytestmark = pytest.mark.slow
FRICTION = ('viscous', 'coulomb')


@pytest.fixture(autouse=True, scope='module')
def figures_alone():
    with without_suspects():
        yield


@pytest.fixture(scope='module')
def arm():
    arm = load_arm('two_axis')
    # One volt is one newton metre.
    return replace(arm, drive=type(arm.drive).joint_torque(arm.n), friction=FRICTION)


def log_of(arm, seed, motion=1, seconds=20.0):
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    noise = 1e-3 * np.random.default_rng(seed).normal(size=(round(100 * seconds), arm.n))
    return recording(arm, Waves.random(arm, seed=motion), theta, noise, source=f'{seed}.npz')


def copied(log, name='copy.csv', **changes):
    return replace(log, source=name, t=log.t.copy(), q=log.q.copy(), u=log.u.copy(), **changes)


def test_a_copy_does_not_validate(arm):
    log = log_of(arm, 0)
    with pytest.raises(RecordingError, match=r'0\.npz and copy\.csv have 100 % of the samples'):
        identify(arm, [log], validation=[copied(log)], friction=FRICTION)


@pytest.mark.parametrize(('start', 'stop'), [(300, 2000), (0, 1500), (500, 900)])
def test_a_part_of_a_recording_does_not_validate(arm, start, stop):
    log = log_of(arm, 0)
    part = log.part(start, stop)
    part = copied(part, 'part.npz')
    # A copy that begins later counts its time from there.
    part = replace(part, t=part.t - part.t[0])
    for fitted, other in ((log, part), (part, log)):
        with pytest.raises(RecordingError, match=r'npz have 100 % of the samples of the shorter'):
            identify(arm, [fitted], validation=[other], friction=FRICTION)


def test_a_copy_does_not_count_double(arm):
    log = log_of(arm, 0)
    with pytest.raises(RecordingError, match=r'copy\.csv and 0\.npz have 100 % of the samples'):
        identify(arm, [log, log_of(arm, 1), copied(log)], friction=FRICTION)


def test_the_same_motion_measured_twice_validates(arm):
    first, second = log_of(arm, 0), log_of(arm, 1)
    model = identify(arm, [first], validation=[second], friction=FRICTION)
    assert model.validation.held_out
    seen, parts = validate(model, log_of(arm, 2))
    assert seen.held_out and all(part.held_out for part in parts)


def test_drive_signals_of_another_recording_are_called_a_command(arm):
    first, second = log_of(arm, 0), log_of(arm, 1, motion=2)
    commanded = replace(second, u=first.u.copy())
    for others, count in (([second], 0), ([commanded], 1), ([commanded, log_of(arm, 2, 3)], 1)):
        defects = identify(arm, [first, *others], friction=FRICTION).defects
        found = [each for each in defects if each.code == 'effort_repeated']
        assert len(found) == count
        assert all('1.npz: the drive signals equal those of 0.npz bit by bit in 100 %' in
                   each.message for each in found)


def test_coarse_currents_of_two_joints_are_no_command(arm):
    # At 250 Hz, both stay at one of few levels for several samples.
    logs = [log_of(arm, 0, motion) for motion in (1, 2)]
    coarse = [replace(log, u=np.round(log.u / log.u.std(axis=0)).repeat(4, axis=0)[:len(log.t)])
              for log in logs]
    assert KnownSamples(coarse[:1]).add(coarse[1]) == []


def test_rest_without_noise_in_two_recordings_is_nothing_in_common(arm):
    def resting(log):
        q, u = log.q.copy(), log.u.copy()
        q[:800], u[:800] = q[800], [0.25, 0.5]
        return replace(log, q=q, u=u)

    first, second = resting(log_of(arm, 0)), resting(log_of(arm, 1))
    assert (first.q[:800] == second.q[:800]).all()
    model = identify(arm, [first], validation=[second], friction=FRICTION)
    assert model.validation.held_out


@pytest.mark.parametrize('how', ['plain', 'offsets', 'second', 'power', 'replay'])
def test_a_model_knows_what_it_was_fitted_to(arm, how):
    log = log_of(arm, 0)
    if how == 'replay':
        model, _ = replay(arm, log)
    else:
        logs = [log_of(arm, 1, motion=2), log] if how == 'second' else [log]
        model = identify(arm, logs, friction=FRICTION, joint_offsets=how == 'offsets',
                         method='power' if how == 'power' else 'differentiated')
    metrics, parts = validate(model, copied(log))
    assert not metrics.held_out and not any(part.held_out for part in parts)
    other, _ = validate(model, log_of(arm, 5))
    assert other.held_out
    # Without stored predictions, the hash tells for a single recording.
    assert validate(replace(model, predictions=()), log)[0].held_out == (how == 'second')
