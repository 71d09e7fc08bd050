# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The settings that all bags of a fleet share."""

from dataclasses import replace

from fleets import Bag, RATE, small_arm
import pytest

from dynid_ros.applications.fleet.settings import common_conditioning
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.preparation import checked_recording


@pytest.fixture
def arm(tmp_path):
    found = small_arm(tmp_path)[0]
    return replace(found, conditioning=replace(found.conditioning, cutoff_hz=None))


def slowly(arm, seed, factor):
    """Record a bag whose motion is slower than those of the other tests."""
    recording = Bag(seed).record(arm)
    return checked_recording(replace(recording, t=factor * recording.t), arm)[0]


def choose_settings(arm, bags):
    return common_conditioning([choose_conditioning(arm, [bag]) for bag in bags])


def test_rows_of_slow_bags_reach_as_far_as_those_of_identify(arm):
    bags = [slowly(arm, seed, 2.0) for seed in range(3)]
    assert {choose_conditioning(arm, [bag]).cutoff_hz for bag in bags} == {5.0}
    found = choose_settings(arm, bags)
    assert found.cutoff_hz == 5.0 and found.rate_hz == pytest.approx(RATE / 2)


def test_low_rates_bound_the_cutoff(arm):
    found = choose_settings(arm, [slowly(arm, seed, 8.0) for seed in range(3)])
    assert found.cutoff_hz == pytest.approx(0.4 * RATE / 8)


def test_one_fast_bag_does_not_decide(arm):
    bags = [slowly(arm, seed, 2.0) for seed in range(4)]
    assert choose_settings(arm, [*bags, slowly(arm, 4, 0.2)]).cutoff_hz == 5.0


def test_a_given_cutoff_stays(arm):
    given = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=1.5))
    assert choose_settings(given, [slowly(arm, 0, 2.0)]).cutoff_hz == 1.5
