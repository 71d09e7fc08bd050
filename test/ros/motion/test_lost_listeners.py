# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The trajectory publisher and the nodes that it needs: it waits for them, and stops without."""

import signal
import time

from diagnostic_msgs.msg import DiagnosticStatus
from motion_rig import FINE_RATE, RATE, Rig, slow_file
import pytest
from ros.nodes.conftest import PATIENCE

from dynid_ros.ros.nodes.common.lockstep import SIMULATED_PATIENCE
from dynid_ros.ros.nodes.common.qos import LATCHED
from dynid_ros.ros.nodes.common.readiness import REPETITION_SECONDS

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class Listener:
    """The test as a listener of this name, which says how it is as often as one does."""

    def __init__(self, talker, name):
        self.status = DiagnosticStatus()
        self._talker = talker
        self._publisher = talker.node.create_publisher(
            DiagnosticStatus, f'{name}/ready', LATCHED)
        self._last = 0.0

    def say(self, level, message=''):
        self.status = DiagnosticStatus(level=level, message=message)
        self._publisher.publish(self.status)

    def repeat(self):
        """Say it once more, if it is time for that."""
        if time.monotonic() > self._last + REPETITION_SECONDS:
            self._last = time.monotonic()
            self._publisher.publish(self.status)
        return ()


@pytest.fixture
def rig(start, talker, tmp_path):
    return Rig(start, talker, slow_file(tmp_path, periods=30), listeners=['other'])


def test_motion_waits_for_a_listener_and_slows_down_without_one(rig, talker):
    rig.wait_refusal('other has not reported yet that it is ready; is it running')
    other = Listener(talker, 'other')
    other.say(WARN, 'it has no bag')
    rig.wait_refusal('other is not ready: it has no bag')
    assert ']: ready' not in rig.publisher.printed
    other.say(OK)
    rig.move()
    other.say(ERROR, 'the disk is full')
    rig.until(lambda: 'the motion stops: other is not ready: the disk is full'
              in rig.publisher.printed, 'the loss', 15.0)
    rig.until(lambda: ']: holding' in rig.publisher.printed, 'the end')
    assert ']: stopping' in rig.publisher.printed
    rig.wait_rest(1.5)
    rig.wait_refusal('the disk is full')
    status, printed = rig.end(signal.SIGINT)
    assert status == 1
    assert 'aborted' not in printed


def test_motion_slows_down_where_a_listener_says_nothing(rig, talker):
    other = Listener(talker, 'other')
    other.say(OK)
    rig.move()

    def slowly():
        # The time of the arm is no faster than the one of the computer, by which silence counts.
        time.sleep(1 / RATE)
        return ()

    for _ in range(3):
        other.repeat()
        rig.until(lambda end=rig.time + 2.0: rig.time > end, 'two seconds', act=slowly)
    assert 'the motion stops' not in rig.publisher.printed
    rig.until(lambda: 'the motion stops: other has been silent for 5 s'
              in rig.publisher.printed, 'the loss', 30.0, act=slowly)
    rig.until(lambda: ']: holding' in rig.publisher.printed, 'the end', act=slowly)
    assert rig.end(signal.SIGINT)[0] == 1


def test_node_stays_until_the_arm_rests_however_slow_the_simulation(start, talker, tmp_path):
    rig = Rig(start, talker, slow_file(tmp_path, periods=30), listeners=['other'], rate=FINE_RATE)
    other = Listener(talker, 'other')
    other.say(OK)
    rig.move()
    rig.publisher.send(signal.SIGINT)
    since, states = time.monotonic(), len(rig.states)
    # Braking takes more than a hundred states: longer than the node waits in silence.
    rig.until(lambda: ']: stopping' in rig.publisher.printed, 'the signal')
    rig.until(lambda: ']: holding' in rig.publisher.printed or rig.publisher.ended, 'rest',
              act=lambda: time.sleep(SIMULATED_PATIENCE / 100) or ())
    assert time.monotonic() - since > SIMULATED_PATIENCE
    assert len(rig.states) - states < PATIENCE
    assert ']: holding' in rig.publisher.printed
    assert rig.end()[0] == 0
