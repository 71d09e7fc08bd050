# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The live page with a real publisher and a simulated arm: what it shows, and its buttons."""

from importlib.util import find_spec
import re
import time

from browsers import chromium, visit
from diagnostic_msgs.msg import DiagnosticArray
from motion_rig import ARM, NODE, Rig, slow_file, slow_motion
import numpy as np
import pytest
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from dynid_ros.ros.nodes.common.qos import LATCHED

pytestmark = [
    pytest.mark.skipif(find_spec('viser') is None, reason='viser is not installed')]
#: Time from the click to the phase of the publisher, s, and how many answers of a service it may
#: take where the machine is slower than that.
STOPPED, ANSWERS = 0.3, 20
#: Longest time to the next picture of a browser where nothing else runs, s, and pictures that a
#: click waits for: those of the browser before it, and what the page answers.
PICTURE, PICTURES = 0.15, 3


@pytest.fixture
def rig(start, talker, tmp_path):
    return Rig(start, talker, slow_file(tmp_path, periods=5))


def page_of(rig, watch):
    """Wait for the page, and return its address."""
    rig.talker.until(lambda: 'http://' in watch.printed or watch.ended, 'the page')
    return re.search(r'http://[\d.:]+', watch.printed)[0]


def button(tab, name):
    return tab.get_by_role('button', name=name)


def test_publisher_tells_its_motion_and_its_phases(rig, talker):
    motions = talker.listen(JointTrajectory, f'{NODE}/motion', LATCHED)
    heard = talker.listen(DiagnosticArray, f'{NODE}/status', LATCHED)
    rig.until(lambda: motions and heard, 'the motion and the phase')
    told, motion = motions[0], slow_motion(periods=5)
    assert tuple(told.joint_names) == ARM.joint_names
    last = told.points[-1].time_from_start
    assert last.sec + last.nanosec * 1e-9 == pytest.approx(motion.duration, abs=1e-6)
    for point in told.points[::40]:
        t = point.time_from_start.sec + point.time_from_start.nanosec * 1e-9
        q, qd, _ = motion.evaluate(t)
        np.testing.assert_allclose(point.positions, q, atol=1e-6)
        np.testing.assert_allclose(point.velocities, qd, atol=1e-6)
    rig.move()
    rig.stop()
    rig.wait_rest(1.5)

    def phases():
        return list(dict.fromkeys(
            pair.value for each in heard for pair in each.status[0].values
            if pair.key == 'phase'))

    rig.until(lambda: 'holding' in phases(), 'all phases')
    assert phases() == ['idle', 'moving to the start', 'stopping', 'holding']


def test_arm_is_started_and_stopped_from_the_page(rig, start, talker):
    heard = talker.listen(DiagnosticArray, f'{NODE}/status', LATCHED)
    watch = start('watch', arm='panda', port=0)

    def phase():
        return heard[-1].status[0].message if heard else ''

    with chromium() as browser:
        tab = visit(browser, page_of(rig, watch))
        rig.until(lambda: button(tab, 'Start…').count() and button(tab, 'Start…').is_enabled(),
                  'a start that is possible', 1000.0)
        # The publisher has to know the period of the states.
        rig.after(0.2)
        button(tab, 'Start…').click()
        rig.until(lambda: button(tab, 'Move the arm').count(), 'the question', 1000.0)
        assert phase() == 'idle'
        assert ARM.joint_names[6] in tab.get_by_role('table').inner_text()
        button(tab, 'Move the arm').click()
        rig.until(lambda: phase() == 'moving to the start', 'the motion', 1000.0)
        rig.until_it_moves()
        rig.until(lambda: tab.get_by_text('moving to the start', exact=True).count(),
                  'the phase on the page', 60.0)
        bound = max(STOPPED, ANSWERS * answer_time(talker)) + late(tab)
        handle = button(tab, 'STOP').element_handle()
        began = time.monotonic()
        handle.evaluate('button => button.click()')
        talker.until(lambda: phase() == 'stopping', 'the stop')
        took = time.monotonic() - began
        print(f'{took:.3f} s from the click to the stop, {bound:.3f} s allowed')
        assert took < bound
        assert tab.complaints == []
    rig.wait_rest(1.5)
    status, printed = watch.stop()
    assert status == 0
    assert 'Traceback' not in printed


def answer_time(talker):
    """Median time in which this machine answers a request of a service, s."""
    times = []
    for _ in range(5):
        began = time.monotonic()
        talker.call(Trigger, f'{NODE}/start')
        times.append(time.monotonic() - began)
    return float(np.median(times))


def late(tab):
    """Time that a click may take longer on this machine than where nothing else runs, s."""
    times = []
    for _ in range(8):
        began = time.monotonic()
        tab.evaluate('() => new Promise(requestAnimationFrame)')
        times.append(time.monotonic() - began)
    return PICTURES * max(0.0, max(times) - PICTURE)


def test_wrong_parameters_end_in_one_line(start):
    for given, said in (
            ({}, 'such as arm:=panda'),
            ({'arm': 'panda', 'host': '203.0.113.1'}, 'no address of this machine')):
        status, printed = start('watch', **given).end()
        assert status == 2
        assert said in printed
        assert printed.count('\n') == 1
