# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What is wrong with a stream is in the log, once when it begins and once when it ends."""

import re

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from identifier_rig import ARM, part, ready, recording
import numpy as np
import pytest
from ros.nodes.conftest import PATIENCE
from std_msgs.msg import String
from std_srvs.srv import Trigger

from dynid_ros.arm import load_arm
from dynid_ros.ros.nodes.common import state_subscription
from dynid_ros.ros.nodes.common.arm_subscription import ArmSubscription
from dynid_ros.ros.nodes.common.qos import LATCHED


def stream(heard):
    """Return the newest level and text of the stream."""
    return next(((s.level, s.message) for m in reversed(heard) for s in m.status
                 if s.name.endswith(': stream')), None)


@pytest.mark.parametrize(('names', 'efforts', 'words'), [
    (lambda own: list('ab')[:len(own)], 2, f'lack joints of {ARM}: they hold a, b; set joints'),
    (lambda own: [f'x/{name}' for name in own], None, 'set aliases: [[x/'),
    (lambda own: own, 0, 'hold no effort; set up the driver to publish it'),
])
def test_begin_and_end_of_a_problem_are_logged_once(start, talker, names, efforts, words):
    log = recording(rate_hz=500.0)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    process, publisher = ready(start, talker)
    _, t, q, u = part(log, slice(0, 400))
    talker.play(publisher, names(log.joint_names), t, q, u[:, :efforts])
    talker.until(lambda: words in process.printed, 'the problem')
    talker.play(publisher, *part(log, slice(400, 2000)))
    talker.until(lambda: '/joint_states is good again' in process.printed
                 or stream(heard)[0] == DiagnosticStatus.STALE, 'the end')
    lines = [line for line in process.printed.splitlines() if words in line]
    assert len(lines) == 1 and 'WARN' in lines[0]


def test_a_topic_of_another_type_and_a_silent_one_are_named(start, talker):
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    process = start('identifier', arm=ARM, report_rate=10.0)
    talker.until(lambda: '/joint_states: no message for' in process.printed, 'silence')
    assert 'nobody publishes it' in process.printed
    publisher = talker.node.create_publisher(String, 'joint_states', 10)
    talker.until(lambda: 'is published as std_msgs/msg/String by /talker, not as '
                 'sensor_msgs/msg/JointState' in process.printed, 'the type')
    talker.until(lambda: stream(heard)[0] == DiagnosticStatus.ERROR, 'an error')
    assert publisher is not None


def test_a_problem_that_recorder_and_identifier_have_is_logged_by_one(start, talker, tmp_path):
    words = '/joint_states: no message for'
    recorder = start('recorder', arm=ARM, output_folder=tmp_path, report_rate=10.0)
    talker.until(lambda: words in recorder.printed, 'the recorder')
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    identifier = start('identifier', arm=ARM, report_rate=10.0)
    talker.until(lambda: any(
        s.name == 'identifier: stream' and s.level == DiagnosticStatus.STALE and words in s.message
        for m in heard for s in m.status), 'the same of the identifier')
    # Nothing is said of a stream of which nothing has come.
    assert not any(s.message.endswith('is good') for m in heard for s in m.status)
    assert recorder.printed.count(words) == 1 and words not in identifier.printed


def test_joints_that_come_and_go_in_a_problem_are_logged_once(talker, capfd, monkeypatch):
    monkeypatch.setattr(state_subscription, 'STREAM_STOPPED_SECONDS', PATIENCE)
    heard = ArmSubscription(talker.node, load_arm(ARM), {'report_rate': 1.0}, list)
    for joints in ('a', 'ab', 'b', 'a', '', 'a'):
        heard.status({}, (), {
            f'dead {joint}': (DiagnosticStatus.WARN, f'{joint} is dead') for joint in joints})
    printed = capfd.readouterr().err
    assert re.findall('joint_states:? (.*)', printed) == [
        'a is dead', 'a is dead; b is dead', 'is good again', 'a is dead']


def test_a_warning_ends_with_a_reset_and_a_good_stream(start, talker):
    log = recording(rate_hz=500.0)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    _, publisher = ready(start, talker)
    names, t, q, u = part(log, slice(0, 1500))
    broken = q.copy()
    broken[500:510, 1] = np.nan
    talker.play(publisher, names, t, broken, u)
    talker.until(lambda: stream(heard)[0] == DiagnosticStatus.WARN, 'the warning')
    # Who comes late gets the newest ones.
    for topic in ('estimates', 'validation'):
        late = talker.listen(DynamicJointState, f'/identifier/{topic}', LATCHED)
        talker.until(lambda late=late: bool(late), topic, 10.0)
    assert talker.call(Trigger, '/identifier/reset').success
    # Reports from before the reset may still be on their way, but come in order.
    talker.until(lambda: stream(heard)[0] != DiagnosticStatus.WARN, 'a report after the reset')
    heard.clear()
    talker.play(publisher, *part(log, slice(1500, 1900)))
    talker.until(lambda: any(
        s.message == '/joint_states is good' for m in heard for s in m.status), 'a good stream')
    assert not [s for m in heard for s in m.status if s.level == DiagnosticStatus.WARN
                and s.name.endswith('stream')]
