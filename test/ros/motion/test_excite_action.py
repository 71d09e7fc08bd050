"""The action of the trajectory publisher: feedback, preemption, and what ends a goal."""

import signal

from motion_rig import NODE, Rig, slow_file
import numpy as np
import pytest
from rclpy.action import ActionClient

from dynid_ros.ros.nodes.motion.motion_report import Excite

pytestmark = pytest.mark.skipif(
    Excite is None, reason='dynid_ros_interfaces is not built in a sourced workspace')
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


class Excited(Rig):
    """A rig with a client of the action."""

    def __init__(self, start, talker, path, **parameters):
        super().__init__(start, talker, path, **parameters)
        self.client = ActionClient(talker.node, Excite, f'{NODE}/excite')
        self.told = []
        self.until(self.client.server_is_ready, 'the action')

    def send(self):
        """Send a goal, and return the future of its result."""
        future = self.client.send_goal_async(
            Excite.Goal(), feedback_callback=lambda heard: self.told.append(heard.feedback))
        self.talker.until(future.done, 'acceptance')
        assert future.result().accepted
        return future.result(), future.result().get_result_async()

    def ended(self, future):
        self.until(future.done, 'the result', 30.0)
        return future.result().status, future.result().result.message

    def begun(self):
        """Begin once the publisher knows the period of the states, and wait for motion."""
        self.after(0.3)
        handle, future = self.send()
        self.until(lambda: self.speed() > 0.05, 'motion')
        return handle, future

    def phases(self):
        return list(dict.fromkeys(each.phase for each in self.told))


@pytest.fixture
def rig(start, talker, tmp_path):
    return Excited(start, talker, slow_file(tmp_path, periods=2))


def test_feedback_tells_phase_share_and_clearance_until_the_motion_has_ended(rig):
    _, future = rig.begun()
    assert rig.ended(future) == (SUCCEEDED, 'the motion has ended')
    # The last feedback may come after the result.
    assert rig.phases()[:2] == ['moving to the start', 'running']
    share = [each.share for each in rig.told if each.phase == 'running']
    assert (np.diff(share) >= 0).all() and 0 < share[0] < share[-1] <= 1
    # The panda has capsules; the middle of its limits is clear of them.
    clearance = [each.least_clearance for each in rig.told if each.phase == 'running']
    assert (np.diff(clearance) <= 0).all() and clearance[-1] > 0
    # Nobody identifies.
    assert np.isnan(rig.told[-1].condition_number)


def test_the_result_of_a_dry_run_says_so(start, talker, tmp_path):
    rig = Excited(start, talker, slow_file(tmp_path, periods=2), dry_run=True)
    rig.after(0.3)
    _, future = rig.send()
    assert rig.ended(future) == (
        SUCCEEDED, 'the motion has ended (dry run: nothing was commanded)')
    assert rig.speed() < 0.01


def test_a_goal_that_is_given_up_slows_down_and_a_second_one_disturbs_nothing(rig):
    handle, future = rig.begun()
    _, second = rig.send()
    status, message = rig.ended(second)
    assert status == ABORTED and 'call ~/stop first' in message
    assert not future.done()
    handle.cancel_goal_async()
    assert rig.ended(future) == (CANCELED, 'slowed down, and holding')
    assert 'stopping' in rig.phases()
    rig.wait_rest(1.5)


def test_the_service_and_a_fault_end_a_goal_with_their_reason(rig):
    _, future = rig.begun()
    assert rig.stop() == 'stopping'
    assert rig.ended(future) == (ABORTED, '~/stop was called')
    rig.wait_rest(1.5)
    _, future = rig.begun()
    rig.inject('nan 0.1')
    status, message = rig.ended(future)
    assert status == ABORTED and 'reports a NaN' in message


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGHUP])
def test_the_sender_of_a_goal_learns_that_the_node_ends(rig, number):
    _, future = rig.begun()
    rig.publisher.send(number)
    assert rig.ended(future) == (ABORTED, 'the node was told to end')
    assert rig.end()[0] == 0
    assert rig.at_rest()
