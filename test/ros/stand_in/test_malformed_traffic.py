# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes that share a domain with a participant that sends what no ROS 2 node sends."""

import os
from pathlib import Path
import re
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from ros.nodes.forked import be_alone, forks
from ros.nodes.identifier_rig import counted, part, recording, replayed, save_after
from ros.stand_in.embedded_rig import layer_only
from ros.stand_in.hostile import send
from std_srvs.srv import SetBool, Trigger

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.estimation.result_files.result_file import read_result

pytestmark = [
    layer_only,
    pytest.mark.skipif(
        sys.platform != 'linux', reason='memory of another process is read from /proc')]
KINDS = ('wrong_type', 'garbage', 'services', 'nodes', 'no_nodes', 'names', 'long')
#: Bytes by which a node may grow. The largest message that is taken has 8 MB; as names of seven
#: letters these are 600 000 texts of 56 bytes, and such a list may be there as the message, as the
#: names of the last message, and once more while it is taken apart: 120 MB. On a starved processor
#: the raw bytes of ten may wait. All else is far smaller, and does not grow with their number.
GROWTH = 220e6
#: What a line of the log begins with: the layer's, or that of Cyclone DDS.
LINE = re.compile(r'(dynid: rclpy is not installed; |'
                  r'\[(INFO|WARN|ERROR)\] \[\d{6,}\.\d+\] \[\w+\]: |\d+\.\d+ \[\d+\] )')


def peak(process):
    """Most memory that a process had so far, bytes."""
    status = Path(f'/proc/{process.pid}/status').read_text()
    return int(re.search(r'VmHWM:\s+(\d+) kB', status)[1]) * 1024


class Hostile:
    """A participant in a process of its own, and how much it has sent, in a file."""

    def __init__(self, kind, log):
        self.log = log
        log.touch()
        self.process = forks().Process(target=be_hostile, args=(kind, log, dict(os.environ)))
        self.process.start()

    def sent(self):
        """Count the messages, a line for each; it goes on until it is killed, or has said all."""
        printed = self.log.read_text()
        assert not self.process.exitcode, printed[-2000:]
        return len(re.findall(r'^\d+$', printed, re.MULTILINE))

    def kill(self):
        self.process.kill()
        self.process.join()


def be_hostile(kind, log, environment):
    be_alone(log, environment)
    send(kind)


@pytest.fixture
def attack(talker, tmp_path):
    """Start hostile participants, and wait until each has sent something."""
    begun = []

    def begin(*kinds):
        hostile = {kind: Hostile(kind, tmp_path / f'{kind}.log') for kind in kinds}
        begun.extend(hostile.values())
        talker.until(lambda: all(each.sent() for each in hostile.values()), 'hostile traffic')
        return hostile

    yield begin
    for each in begun:
        each.kill()


def test_identifier_survives_refuses_and_goes_on_learning(start, attack, talker, tmp_path):
    log, folder = recording(), tmp_path / 'out'
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    publisher = talker.states()
    identifier = start('identifier', arm='two_axis', report_rate=10.0, cutoff_hz=5.0,
                       delay=0.0, output_folder=folder)
    talker.until(lambda: heard and publisher.get_subscription_count() > 0, 'the identifier')
    before = peak(identifier)
    hostile = attack(*KINDS)
    half = len(log.t) // 2
    talker.play(publisher, *part(log, slice(0, half)))
    talker.until(lambda: hostile['names'].sent() > 300, 'many names')
    talker.play(publisher, *part(log, slice(half, None)))
    assert talker.call(SetBool, '/identifier/freeze', data=False).success
    assert talker.call(
        GetParameters, '/identifier/get_parameters', names=['arm']
    ).values[0].string_value == 'two_axis'

    def refused(topic):
        # Every packet that is no message is refused with its number.
        return {re.search(r'#(\d+): ', line)[1] for line in identifier.printed.splitlines()
                if f': deserialization {topic}/' in line}

    for topic in ('rt/joint_states', 'rq/identifier/saveRequest', 'ros_discovery_info'):
        talker.until(lambda topic=topic: len(refused(topic)) > 3, f'refusals on {topic}')
    for each in hostile.values():
        each.sent()
        each.kill()
    talker.until(lambda: any('no message' in status.message for status in heard[-1].status),
                 'the end of all that waits')
    # Who was busy with a long message may not have seen yet what waits behind it.
    save_after(talker, len(log.t))
    saved, expected = read_result(folder), replayed(log)
    assert saved.samples == len(log.t)
    assert (np.abs(saved.theta - expected.theta) < expected.std).all()
    # Well-formed messages of other joints are taken in, and no samples come of them.
    assert counted(heard, 'messages')[-1] > len(log.t) + 100
    grown = peak(identifier) - before
    status, printed = identifier.stop()
    assert status == 0
    said = printed.splitlines()
    assert all(map(LINE.match, said)), [line for line in said if not LINE.match(line)][:5]
    assert not any('on fire' in line for line in said)
    assert grown < GROWTH


def test_recorder_survives_and_records_what_is_good(start, attack, talker, tmp_path):
    log = recording(rate_hz=500.0).part(0, 2000)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    attack('wrong_type', 'nodes')
    publisher = talker.states()
    recorder = start('recorder', arm='two_axis', report_rate=5.0, output_folder=tmp_path / 'o')
    attack('garbage', 'no_nodes')
    assert talker.call(Trigger, '/recorder/start').success
    # The node and its bag.
    talker.until(lambda: publisher.get_subscription_count() == 2, 'both subscriptions', 20.0)
    talker.play(publisher, *part(log, slice(None)))
    talker.until(lambda: counted(heard, 'messages')[-1] >= len(log.t), 'all messages')
    time.sleep(0.5)
    answer = talker.call(Trigger, '/recorder/stop')
    assert answer.success, answer.message
    status, printed = recorder.stop()
    assert status == 0
    assert all(map(LINE.match, printed.splitlines()))
    read = read_recording(next((tmp_path / 'o').iterdir()) / 'bag', load_arm('two_axis'))
    np.testing.assert_array_equal(read.q, log.q)
