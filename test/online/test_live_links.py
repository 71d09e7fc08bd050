"""Links of a live session: those of its result, found without touching its stream."""

import time

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.excitation.random_motion import random_motion
from dynid_ros.export.robot_description import robot_description
from dynid_ros.online.live_links import LinkSearch
from dynid_ros.online.online_identifier import OnlineIdentifier
from dynid_ros.simulation.record import simulate

PATIENCE = 180.0


@pytest.fixture(scope='module')
def log():
    arm = load_arm('two_axis')
    return simulate(arm, random_motion(arm, 3), seed=3).log


def session():
    return OnlineIdentifier(load_arm('two_axis'), cutoff_hz=5.0, delay=0.0)


def push(online, log, part):
    online.push(np.rint(log.t[part] * 1e9).astype(np.int64), log.q[part], log.u[part])


def until(search, wanted):
    """Ask for links until some are as wanted."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = search.update()
        if found is not None and wanted(found):
            return found
        time.sleep(0.01)
    raise AssertionError('no such links')


@pytest.fixture
def searching():
    searches = []

    def begin(online):
        searches.append(LinkSearch(online, robot_description('two_axis')))
        return searches[-1]

    yield begin
    for search in searches:
        search.stop()


def test_links_are_those_of_the_result_and_the_stream_goes_on_as_without(log, searching, tmp_path):
    online, alone = session(), session()
    search = searching(online)
    for first in range(0, len(log.t), 500):
        part = slice(first, first + 500)
        push(online, log, part)
        push(alone, log, part)
        search.update()
    result = alone.result()
    assert result.verdict.trustworthy
    described = robot_description('two_axis')(result.possible_arm)
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


def test_a_poor_session_has_links_and_no_robot_description(log, searching):
    online = session()
    search = searching(online)
    assert search.update() is None
    still = log.q[:1].repeat(300, axis=0)
    online.push(np.arange(300, dtype=np.int64) * 10**7, still, log.u[:1].repeat(300, axis=0))
    links = until(search, lambda links: links.parameters is not None)
    assert links.description is None
    assert not links.parameters.from_data.any()


def test_new_samples_are_judged_even_if_the_last_ones_came_during_a_search(log, searching):
    online = session()
    search = searching(online)
    push(online, log, slice(0, 300))
    search.update()
    push(online, log, slice(300, None))
    assert until(search, lambda links: links.description is not None)
    assert search.update() is None
