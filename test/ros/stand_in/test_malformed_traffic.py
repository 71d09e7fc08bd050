# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes that share a domain with a participant that sends what no ROS 2 node sends."""

import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from ros.nodes.conftest import PATIENCE
from ros.nodes.identifier_rig import counted, part, recording, replayed, save_after
from ros.stand_in.embedded_rig import layer_only
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


class Running:
    """A process with its output in a file, where it cannot block."""

    def __init__(self, file, *words):
        self.file = file
        with file.open('wb') as out:
            self.process = subprocess.Popen(
                [sys.executable, *map(str, words)], stdout=out, stderr=subprocess.STDOUT,
                cwd=Path(__file__).resolve().parents[3], start_new_session=True,
                env={**os.environ, 'PYTHONPATH': str(Path(__file__).resolve().parents[3])})

    def lines(self):
        return self.file.read_text().splitlines()

    def peak(self):
        """Most memory that it had so far, bytes."""
        status = Path(f'/proc/{self.process.pid}/status').read_text()
        return int(re.search(r'VmHWM:\s+(\d+) kB', status)[1]) * 1024

    def stop(self, number=signal.SIGINT):
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        return self.process.wait(PATIENCE)


@pytest.fixture
def run(tmp_path):
    running = []

    def begin(*words):
        running.append(Running(tmp_path / f'{len(running)}.log', *words))
        return running[-1]

    yield begin
    for process in running:
        process.stop(signal.SIGKILL)


def node(run, name, **parameters):
    words = ['-m', f'dynid_ros.ros.nodes.{name}', '--ros-args']
    for key, value in parameters.items():
        words += ['-p', f'{key}:={value}']
    return run(*words)


def attack(run, talker, kinds=KINDS):
    """Start hostile participants, and wait until each has sent something."""
    hostile = {kind: run(Path(__file__).with_name('hostile.py'), kind) for kind in kinds}

    def all_send():
        for kind, process in hostile.items():
            assert process.process.poll() is None, (kind, process.file.read_text()[-2000:])
        return all(process.lines()[-1:] not in ([], ['0']) for process in hostile.values())

    talker.until(all_send, 'hostile traffic')
    return hostile


def test_identifier_survives_refuses_and_goes_on_learning(run, talker, tmp_path):
    log, folder = recording(), tmp_path / 'out'
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    publisher = talker.states()
    identifier = node(run, 'identifier', arm='two_axis', report_rate=10.0, cutoff_hz=5.0,
                      delay=0.0, output_folder=folder)
    talker.until(lambda: heard and publisher.get_subscription_count() > 0, 'the identifier')
    before = identifier.peak()
    hostile = attack(run, talker)
    half = len(log.t) // 2
    talker.play(publisher, *part(log, slice(0, half)))
    talker.until(lambda: int(hostile['names'].lines()[-1]) > 300, 'many names')
    talker.play(publisher, *part(log, slice(half, None)))
    assert talker.call(SetBool, '/identifier/freeze', data=False).success
    assert talker.call(
        GetParameters, '/identifier/get_parameters', names=['arm']
    ).values[0].string_value == 'two_axis'

    def refused(topic):
        # Every packet that is no message is refused with its number.
        return {re.search(r'#(\d+): ', line)[1] for line in identifier.lines()
                if f': deserialization {topic}/' in line}

    for topic in ('rt/joint_states', 'rq/identifier/saveRequest', 'ros_discovery_info'):
        talker.until(lambda topic=topic: len(refused(topic)) > 3, f'refusals on {topic}')
    for kind, process in hostile.items():
        # It sent to the end, or had said all.
        assert not process.process.poll(), (kind, process.file.read_text()[-2000:])
        process.stop(signal.SIGKILL)
    talker.until(lambda: any('no message' in status.message for status in heard[-1].status),
                 'the end of all that waits')
    # Who was busy with a long message may not have seen yet what waits behind it.
    save_after(talker, len(log.t))
    saved, expected = read_result(folder), replayed(log)
    assert saved.samples == len(log.t)
    assert (np.abs(saved.theta - expected.theta) < expected.std).all()
    # Well-formed messages of other joints are taken in, and no samples come of them.
    assert counted(heard, 'messages')[-1] > len(log.t) + 100
    grown = identifier.peak() - before
    assert identifier.stop() == 0
    said = identifier.lines()
    assert all(map(LINE.match, said)), [line for line in said if not LINE.match(line)][:5]
    assert not any('on fire' in line for line in said)
    assert grown < GROWTH


def test_recorder_survives_and_records_what_is_good(run, talker, tmp_path):
    log = recording(rate_hz=500.0).part(0, 2000)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    attack(run, talker, ('wrong_type', 'nodes'))
    publisher = talker.states()
    recorder = node(run, 'recorder', arm='two_axis', report_rate=5.0, output_folder=tmp_path / 'o')
    attack(run, talker, ('garbage', 'no_nodes'))
    assert talker.call(Trigger, '/recorder/start').success
    # The node and its bag.
    talker.until(lambda: publisher.get_subscription_count() == 2, 'both subscriptions', 20.0)
    talker.play(publisher, *part(log, slice(None)))
    talker.until(lambda: counted(heard, 'messages')[-1] >= len(log.t), 'all messages')
    time.sleep(0.5)
    answer = talker.call(Trigger, '/recorder/stop')
    assert answer.success, answer.message
    assert recorder.stop() == 0
    assert all(map(LINE.match, recorder.lines()))
    read = read_recording(next((tmp_path / 'o').iterdir()) / 'bag', load_arm('two_axis'))
    np.testing.assert_array_equal(read.q, log.q)
