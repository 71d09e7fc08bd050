# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The clocks that replaced the stamps of recordings come with the result."""

from dataclasses import replace

from estimates import without_suspects
import numpy as np
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import divide

RATE, SOURCE_RATE = 200.0, 246.0


@pytest.fixture(autouse=True, scope='module')
def figures_alone():
    with without_suspects():
        yield


def two_axis():
    arm = load_arm('two_axis')
    return replace(arm, drive=Drive.joint_torque(arm.n))


def polled(source, seed=0):
    """Record the newest state of a driver of 246 Hz at 200 Hz."""
    arm = two_axis()
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    noise = 0.002 * np.random.default_rng(seed).normal(size=(int(20 * SOURCE_RATE), arm.n))
    log = recording(arm, Waves.random(arm, seed), theta, noise, rate=SOURCE_RATE, source=source)
    stamps = np.arange(0.1, 19.9, 1 / RATE)
    newest = np.searchsorted(log.t, stamps, side='right') - 1
    return replace(log, t=stamps, q=log.q[newest], u=log.u[newest])


def test_an_identified_model_has_the_clock_of_its_recording():
    log = polled('log.csv')
    (clock,) = identify(two_axis(), [log], friction=PLAIN_TERMS).clocks
    assert (clock.source, clock.kind) == ('log.csv', 'newest')
    assert abs(clock.rate_hz / SOURCE_RATE - 1) < 1e-3
    # The stamps are late by less than a period of the driver, and evenly spread over it.
    assert min(clock.late) >= 0 and max(clock.late) < 1.02 / SOURCE_RATE
    assert np.ptp(clock.late) > 0.9 / SOURCE_RATE


def test_stored_times_are_few_and_short():
    (clock,) = divide(two_axis(), [polled('log.csv')], [], None).clocks
    assert 0 < len(clock.t) == len(clock.late) <= 200
    assert all(value == round(value, 6) for value in (*clock.t, *clock.late))


def test_each_file_has_one_clock_and_three_of_them_have_times():
    fitted = [polled('a'), polled('b', 1), polled('a', 4)]
    held_out = [polled('c', 2), polled('d', 3)]
    clocks = divide(two_axis(), fitted, held_out, None).clocks
    assert [clock.source for clock in clocks] == ['a', 'b', 'c', 'd']
    assert [bool(clock.t) for clock in clocks] == [True, True, True, False]
    assert clocks[3].late == () and clocks[3].rate_hz > 0


def test_a_recording_that_keeps_its_stamps_has_no_clock():
    arm = two_axis()
    log = polled('a')
    even = replace(log, t=np.arange(len(log.t)) / RATE, q=Waves.random(arm).at(log.t)[0])
    assert divide(arm, [even], [], None).clocks == ()
