# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A recording that marks its validation motion is validated on that one, by itself."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import followed
import yaml

from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.bag_writer import write_joint_states
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import divide
from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_pair import MotionPair
from dynid_ros.pages.report.page import write_report
from dynid_ros.simulation.record import HOLD, simulate, simulation_notes

WAY = 1.5
NAME = 'two_axis'


@pytest.fixture(scope='module')
def run():
    """Simulate two periods of one motion, then another one."""
    arm = load_arm(NAME)
    first = random_motion(arm, 1, tries=3, periods=2, period=6.0)
    second = random_motion(arm, 2, tries=3, periods=1, period=4.5)
    return arm, simulate(arm, MotionPair(first, second, WAY), rate_hz=250)


@pytest.fixture
def bag(run, tmp_path):
    arm, simulation = run
    log = simulation.log
    write_joint_states(tmp_path / 'bag', log.joint_names, log.t, log.q, log.qd, log.u,
                       sidecar=simulation_notes(arm, {}, simulation, 0))
    return tmp_path / 'bag'


def change(bag, **values):
    path = bag / 'recording.yaml'
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | values))


@pytest.mark.slow
@pytest.mark.parametrize('received', [False, True])
def test_the_mark_survives_the_bag(run, bag, received):
    arm, simulation = run
    read = read_recording(bag, arm, received=received)
    (span,), ((begin, end),) = read.validation, simulation.log.validation
    assert span == pytest.approx((begin, end), abs=1e-6)
    assert (begin, end) == (HOLD + 12.0, pytest.approx(HOLD + 12.0 + WAY + 4.5))


def test_the_second_motion_is_held_out(run, bag):
    arm, _ = run
    result = identify(arm, [read_recording(bag, arm)])
    assert result.validation.source == 'validation motion of bag (12.5 to 18.5 s)'
    assert result.fit.source == 'all but the validation motion of bag'
    assert result.seconds == pytest.approx(HOLD + 12.0, abs=0.1)
    assert not result.repeats and result.unrepeated is not None
    assert headline(result).startswith('Trustworthy: predicts torque on another motion to ')
    assert all(part.held_out == (part.t[0] > HOLD + 12.0) for part in result.predictions)


def test_a_stated_share_and_another_recording_come_first(run):
    arm, simulation = run
    log = simulation.log
    (_, part), = divide(arm, [log], [], 0.5).unseen
    assert part.t[0] < HOLD + 12.0
    other = replace(log, q=log.q + 1e-3, source='other')
    data = divide(arm, [log], [other], None)
    assert [name for name, _ in data.unseen] == ['other (repeats the fitted motion)']
    assert data.held_out == 'the fitted motion again'
    assert sum(len(part.t) for part in data.train) == len(log.t)


def test_two_runs_in_a_recording_give_two_held_out_parts(run):
    arm, simulation = run
    log, (begin, end) = simulation.log, simulation.log.validation[0]
    later = log.t[-1] + 3.0
    twice = replace(
        log, t=np.append(log.t, log.t + later), q=np.append(log.q, log.q + 1e-6, axis=0),
        u=np.append(log.u, log.u + 1e-3, axis=0), qd=None,
        validation=((begin, end), (begin + later, end + later)))
    data = divide(arm, [twice], [], None)
    assert [len(data.train), len(data.unseen)] == [2, 2]
    assert not data.repeats
    assert all(part.t[-1] - part.t[0] == pytest.approx(end - begin, abs=0.01)
               for _, part in data.unseen)


@pytest.mark.parametrize('span', [(-50.0, -40.0), (0.0, np.inf), (17.9, 18.0), (90.0, np.inf)])
def test_a_mark_that_leaves_nothing_to_fit_or_to_validate_is_passed_over(run, span):
    arm, simulation = run
    data = divide(arm, [replace(simulation.log, validation=(span,))], [], None)
    assert [name[:9] for name, _ in data.unseen] == ['last 33 %']
    assert data.held_out == 'the last 33 % of the same recording'


def test_only_marked_and_given_recordings_are_another_motion(run):
    arm, simulation = run
    marked = simulation.log
    plain = followed(arm, random_motion(arm, 3, tries=30, periods=1, period=9.0), 250.0)
    other = followed(arm, random_motion(arm, 4, tries=30, periods=1, period=6.0), 250.0)
    for fitted, given, share, words in (
            ([marked], [], None, 'another motion'),
            ([plain], [other], None, 'another motion'),
            ([plain], [], None, 'the last 33 % of the same recording'),
            ([plain], [], 0.5, 'the last 50 % of the same recording'),
            ([plain, other], [], None, 'the last 33 % of the same recordings'),
            ([marked, plain], [], None,
             'another motion and the last 33 % of the same recordings'),
            ([plain], [], 0.0, '')):
        assert divide(arm, fitted, given, share).held_out == words


def test_the_ends_of_several_parts_are_named_as_such(run):
    arm, _ = run
    log = followed(arm, random_motion(arm, 3, tries=3, periods=1, period=24.0), 100.0)
    q, cut = log.q.copy(), 2 * len(log.q) // 3
    # The joints move in turn.
    q[cut:, 0], q[:cut, 1] = q[cut, 0], q[cut, 1]
    data = divide(arm, [replace(log, q=q)], [], None)
    assert data.held_out == (
        f'the last 33 % of each of {len(data.unseen)} parts of the same recording')
    assert len(data.unseen) > 1


def test_a_verdict_on_the_end_of_the_same_recording_says_so(run, tmp_path):
    arm, _ = run
    log = followed(arm, random_motion(arm, 3, tries=3, periods=1, period=12.0), 250.0)
    result = identify(arm, [log])
    words = 'the last 33 % of the same recording'
    assert headline(result).startswith(f'Trustworthy: predicts torque on {words} to ')
    write_report(result, tmp_path / 'report.html')
    page = (tmp_path / 'report.html').read_text()
    assert f'Relative error, held-out ({words})' in page
    assert 'another motion' not in page


def test_a_recorder_that_was_killed_meanwhile_leaves_an_open_mark(run, bag):
    arm, _ = run
    begin = read_recording(bag, arm).validation[0][0]
    change(bag, validation=[[1.0 + begin, float('inf')]])
    (name, part), = divide(arm, [read_recording(bag, arm)], [], None).unseen
    assert name.startswith('validation motion of bag')
    assert part.t[0] == pytest.approx(begin, abs=0.01)


@pytest.mark.parametrize('wrong', [[1.0, 2.0], [[1.0]], [['a', 'b']], 3, [[1.0, 2.0, 3.0]]])
def test_a_damaged_mark_is_named(run, bag, wrong):
    arm, _ = run
    change(bag, validation=wrong)
    with pytest.raises(RecordingError, match=r'recording.yaml: "validation" must list pairs'):
        read_recording(bag, arm)
