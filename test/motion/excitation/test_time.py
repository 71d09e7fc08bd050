# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A search ends in time and with a motion, however slow its parts are, by a clock of the test."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.surroundings import Box, Capsule, load_surroundings, Surroundings
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation import deadline, design_cost, search
from dynid_ros.motion.excitation.design import design, validation_motion
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.feasibility import torque_limit
from dynid_ros.motion.feasibility.pair_distances import PairDistances
from dynid_ros.motion.feasibility.scene import build_scene

#: Time that a search may exceed, as share: a step and the verification of its motion.
OVER = 0.2


class Clock:
    """Time passes with the work that is done, whatever the processor takes for it."""

    def __init__(self):
        self.seconds = 0.0

    def slow(self, monkeypatch, owner, name, each, count):
        """Let each of `count(*args)` parts of a function take `each` seconds."""
        function = getattr(owner, name)

        def slowed(*args, **options):
            self.seconds += each * count(*args)
            return function(*args, **options)

        monkeypatch.setattr(owner, name, slowed)


@pytest.fixture
def clock(monkeypatch):
    passing = Clock()
    monkeypatch.setattr(deadline, 'now', lambda: passing.seconds)
    return passing


@pytest.fixture(scope='module')
def ur10():
    arm = load_arm('ur10')
    return arm, build_scene(arm, load_surroundings('ur10', arm))


@pytest.mark.slow
@pytest.mark.parametrize(('owner', 'name', 'each', 'count'), [
    (PairDistances, 'lower_bounds', 5e-4, lambda _self, q: len(q)),
    (design_cost, 'inertial_rows', 5e-5, lambda *args: len(args[4])),
    (torque_limit.TorqueLimit, 'torque', 6e-4, lambda _self, q, *_: len(q)),
    (search, 'regressor', 2e-3, lambda _arm, q, *_: len(q)),
], ids=['distances', 'gradient', 'torque', 'score'])
def test_no_slow_phase_outlasts_the_time(ur10, clock, monkeypatch, owner, name, each, count):
    arm, scene = ur10
    # Whatever else is slow, each position costs something, so that the time goes by.
    clock.slow(monkeypatch, PairDistances, 'lower_bounds', 3e-4, lambda _self, q: len(q))
    clock.slow(monkeypatch, owner, name, each, count)
    designed = design(arm, Task(starts=100, seconds=6.0), scene)
    assert designed.seconds <= (1 + OVER) * 6.0
    assert designed.margins.kept
    assert not designed.complete


def test_the_first_motion_counts_when_no_step_is_possible(ur10, clock, monkeypatch):
    arm, scene = ur10
    clock.slow(monkeypatch, design_cost, 'inertial_rows', 1.0, lambda *_: 1)
    designed = design(arm, Task(seconds=2.0), scene)
    assert designed.margins.kept
    assert np.ptp(designed.motion.evaluate(np.linspace(0, 10, 99))[0], axis=0).min() > 0
    assert designed.seconds <= 4.0


def test_validation_motions_end_in_time_too(ur10, clock, monkeypatch):
    arm, scene = ur10
    clock.slow(monkeypatch, PairDistances, 'lower_bounds', 1e-3, lambda _self, q: len(q))
    assert validation_motion(arm, Task(seconds=3.0), scene).margins.kept
    assert clock.seconds <= (1 + OVER) * 3.0 + 3.0


def test_a_search_without_a_result_names_what_is_in_the_way(clock, monkeypatch):
    arm = load_arm('two_axis')
    everywhere = Box('block', np.zeros(3), np.full(3, 2.0), np.eye(3))
    tip = Capsule('tip', 1, np.zeros(3), np.array([0.15, 0.0, 0.0]), 0.01)
    scene = build_scene(arm, Surroundings((tip,), (), (everywhere,)))
    clock.slow(monkeypatch, PairDistances, 'lower_bounds', 0.1, lambda *_: 1)
    with pytest.raises(InputError, match=r'in 2 s: at the best of \d+ positions .*tip - block'):
        design(arm, Task(seconds=2.0), scene)
    assert clock.seconds < 3.0


def test_too_little_effort_is_named_when_time_is_over(clock, monkeypatch):
    arm = load_arm('two_axis')
    weak = replace(arm, limits=replace(arm.limits, effort=np.array([1.0, 1e-3])))
    clock.slow(monkeypatch, torque_limit.TorqueLimit, 'torque', 0.1, lambda *_: 1)
    with pytest.raises(InputError, match='the effort limit of pendulum_joint is exceeded'):
        design(weak, Task(seconds=1.0))
