# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Verdict and links of a live session: those of its result, found beside its stream."""

from dataclasses import replace
from pathlib import Path
import time

import numpy as np
import pytest
from synthetic_recordings import followed

from dynid_ros.applications.export.urdf import robot_description
from dynid_ros.arm import load_arm
from dynid_ros.estimation.online.live_verdict import Judge
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.motion.excitation.random_motion import random_motion

PATIENCE = 180.0


@pytest.fixture(scope='module')
def log():
    arm = load_arm('two_axis')
    return followed(arm, random_motion(arm, 3, tries=30), 250.0, seed=3)


def session():
    return OnlineIdentifier(load_arm('two_axis'), cutoff_hz=5.0, delay=0.0)


def push(online, log, part):
    online.push(log.t[part], log.q[part], log.u[part])


def until(search, wanted):
    """Ask what was found until it is as wanted."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = search.update()
        if found is not None and wanted(found):
            return found
        time.sleep(0.01)
    raise AssertionError('nothing of that kind')


@pytest.fixture
def searching():
    searches = []

    def begin(online, describe=None):
        searches.append(Judge(online, describe or robot_description('two_axis')))
        return searches[-1]

    yield begin
    for search in searches:
        search.stop()


@pytest.mark.slow
def test_links_are_those_of_the_result_and_the_stream_goes_on_as_without(log, searching, tmp_path):
    online, alone = session(), session()
    search = searching(online)
    for first in range(0, len(log.t), 250):
        part = slice(first, first + 250)
        push(online, log, part)
        push(alone, log, part)
        search.update()
    result = alone.result()
    assert result.verdict.trustworthy
    described = robot_description('two_axis')(result)
    # Earlier samples may have been judged before.
    found = until(search, lambda links: links.description == described)
    np.testing.assert_array_equal(online.estimate().theta, alone.estimate().theta)
    assert online.result().data_hash == result.data_hash
    path = tmp_path / 'arm.urdf'
    path.write_text(found.description)
    np.testing.assert_allclose(
        load_arm(path).inertial, result.possible_arm.inertial, rtol=1e-6, atol=1e-9)
    expected = result.standard_parameters()
    # The result knows the samples of the last block, too.
    off = np.abs(found.parameters.values - expected.values)
    assert (off < 0.5 * expected.std).all()
    assert found.parameters.names == expected.names


def test_the_time_axis_of_a_stream_is_not_suspected(log):
    online = session()
    push(online, log, slice(None))
    detectable = {each.kind for each in online.result().verdict.detectable}
    assert 'effort_scale' in detectable and 'time_axis' not in detectable


def test_a_poor_session_has_links_and_no_robot_description(log, searching):
    online = session()
    search = searching(online)
    assert search.update() is None
    still = log.q[:1].repeat(300, axis=0)
    online.push(0.01 * np.arange(300), still, log.u[:1].repeat(300, axis=0))
    links = until(search, lambda links: links.parameters is not None)
    assert links.description is None
    assert not links.parameters.from_data.any()


def test_new_samples_are_judged_even_if_the_last_ones_came_during_a_search(log, searching):
    online = session()
    search = searching(online)
    push(online, log, slice(0, 150))
    search.update()
    push(online, log, slice(150, None))
    assert until(search, lambda links: links.description is not None)
    assert search.update() is None


@pytest.mark.slow
def test_an_unexpected_error_is_reported_once_and_the_next_session_is_judged(log, searching):
    calls = []

    def describe(model):
        calls.append(model)
        if len(calls) == 1:
            raise ZeroDivisionError('no such number')
        return 'described'

    online, alone = session(), session()
    judge = searching(online, describe)
    push(online, log, slice(0, 2500))
    fault = until(judge, lambda found: found.fault).fault
    written = Path(fault.rpartition(' ')[2])
    assert fault == f'ZeroDivisionError: no such number; please report it with {written}'
    assert 'Traceback' in written.read_text()
    written.unlink()
    push(online, log, slice(2500, None))
    assert judge.update() is None
    push(alone, log, slice(0, 2500))
    push(alone, log, slice(2500, None))
    np.testing.assert_array_equal(online.estimate().theta, alone.estimate().theta)
    online.reset()
    push(online, log, slice(None))
    until(judge, lambda found: found.description == 'described')
    assert len(calls) == 2


def test_a_finding_on_a_few_seconds_waits_for_the_next_verdict_or_the_end_of_the_stream(
        log, searching):
    online = session()
    judge = searching(online)
    wrong = replace(log, u=log.u * [-1.0, 1.0])
    push(online, wrong, slice(0, 1700))
    found = until(judge, lambda found: found.verdict).verdict
    assert not found.trustworthy and not found.findings
    expected = online.result().verdict
    assert expected.findings[0].code == 'effort_sign'
    assert until(judge, lambda found: found.verdict).verdict.reasons == expected.reasons
    push(online, wrong, slice(1700, 2550))
    found = until(judge, lambda found: found.verdict).verdict
    assert found.findings and found.reasons == online.result().verdict.reasons


def test_a_reset_forgets_a_verdict_that_is_not_fetched_yet(log, searching):
    online = session()
    judge = searching(online)
    push(online, log, slice(None))
    assert judge.update() is None
    online.reset()
    push(online, log, slice(0, 150))
    # The first answer is of the new session, which knows too little.
    found = until(judge, bool)
    assert found.description is None
    assert found.verdict is None or not found.verdict.trustworthy
