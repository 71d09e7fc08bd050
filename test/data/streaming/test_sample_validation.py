# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What the door of the pipeline lets in."""

import numpy as np
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.data.recordings.quality import check_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.streaming.sample_validation import Counters, RULES, SampleValidation


def make():
    counters = Counters()
    return SampleValidation(np.full(2, np.inf), counters), counters


def samples(count, start=0.0):
    t = start + np.arange(count) * 0.01
    return np.column_stack([t, np.sin(t), np.cos(t), 5 * np.sin(t), 5 * np.cos(t)])


def accepted(intake, *blocks):
    """Stretches of all blocks, those that go on put together."""
    result = [np.zeros((0, 5))]
    for block in blocks:
        first, *others = intake.accept(block)
        result[-1] = np.concatenate([result[-1], first])
        result += others
    return [part for part in result if len(part)]


def test_clean_samples_come_through_once_and_in_order():
    intake, counters = make()
    x = samples(100)
    (out,) = accepted(intake, *np.split(x, 5))
    # The first two have no left neighbours to be judged by, the last two still wait.
    np.testing.assert_array_equal(out, x[2:-2])
    assert not any(counters.as_dict().values())


def test_a_step_of_the_torque_is_no_spike():
    intake, counters = make()
    x = samples(100)
    x[50:, 3] += 40.0
    assert len(accepted(intake, x)[0]) == 96
    assert counters.as_dict()['spikes'] == 0


@pytest.mark.parametrize('length', [1, 2])
def test_spikes_of_one_or_two_samples_are_left_out(length):
    intake, counters = make()
    x = samples(100)
    x[60:60 + length, 1] += 2.0
    (out,) = accepted(intake, x[:50], x[50:])
    assert counters.as_dict()['spikes'] == length
    assert np.abs(np.diff(out[:, 1])).max() < 0.1


def test_a_stamp_far_ahead_costs_a_block_and_no_more():
    intake, counters = make()
    x = samples(200)
    x[30, 0] = 1e6
    out = accepted(intake, *np.split(x, 10))
    assert counters.as_dict()['clock_reset'] == 1
    assert sum(map(len, out)) > 170
    np.testing.assert_array_equal(out[-1][-1], x[-3])


def test_every_rule_that_was_applied_is_a_defect_with_its_count():
    intake, counters = make()
    x = samples(50)
    x[10, 2] = np.nan
    x[20, 0] = x[19, 0]
    accepted(intake, x)
    assert {d.code: d.count for d in counters.defects()} == {
        'stream_not_finite': 1, 'stream_repeated': 1}
    assert all(RULES[d.code.removeprefix('stream_')] in d.message for d in counters.defects())


@pytest.mark.parametrize(('value', 'code', 'rule'), [
    (9e3, 'position_absurd', None), (2e4, 'position_absurd', 'not_finite'),
    (0.09, 'position_jump', None), (0.6, 'position_jump', 'jumps')])
def test_streams_and_recordings_refuse_the_same_positions(value, code, rule):
    arm = load_arm('two_axis')
    x = samples(400)
    # What lasts is no spike; absurd values are judged one by one, and jumps by their step.
    x[200:, 1] += value if value < 1 else 0.0
    x[200, 1] = value if value > 1 else x[200, 1]
    counters = Counters()
    accepted(SampleValidation(arm.limits.velocity, counters), x)
    log = Recording(x[:, 0], x[:, 1:3], x[:, 3:], arm.joint_names, 'effort', 'made up')
    assert (code in {defect.code for defect in check_recording(log, arm)}) == (rule is not None)
    counts = counters.as_dict()
    assert [name for name in ('not_finite', 'jumps') if counts[name]] == ([rule] if rule else [])
