# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The recorder node in a process of its own, with rosbag2 and real messages."""

from contextlib import suppress
import hashlib
import os
from pathlib import Path
import re
import resource
import signal
import subprocess
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from identifier_rig import recording as motion_of_two_axes
import numpy as np
import pytest
from ros.nodes.conftest import PATIENCE
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.data.files.plain_values import arm_from_plain
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.ros.nodes.common.qos import LATCHED

ARM = 'two_axis'


def motion(samples=2500):
    """Return the joint states that are published."""
    return motion_of_two_axes(12.0, 500.0).part(0, samples)


def recording(start, talker, folder, **parameters):
    """Start the node and a recording, and wait until the bag listens."""
    process = start('recorder', arm=ARM, output_folder=folder, report_rate=5.0, **parameters)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    publisher = talker.states()
    answer = talker.call(Trigger, '/recorder/start')
    assert answer.success, answer.message
    talker.until(lambda: said(heard, 'recording', DiagnosticStatus.OK), 'rosbag2')
    talker.until(lambda: 'recording /joint_states' in process.printed, 'the line about it')
    # The node and its bag.
    assert publisher.get_subscription_count() == 2
    return process, publisher, heard


def readiness(talker):
    """Return a function for the last that the recorder has said about itself."""
    told = talker.listen(DiagnosticStatus, '/recorder/ready', LATCHED)
    return lambda: (told[-1].level, told[-1].message) if told else (None, '')


def wait_lost(talker, process, heard, ready, words):
    """Wait until a loss is said to the motion, in the report, and in one line of the log."""
    talker.until(lambda: ready()[0] == DiagnosticStatus.ERROR, 'the loss')
    assert re.search(words, ready()[1])
    talker.until(lambda: any(re.search(words, s.message) and s.level == DiagnosticStatus.ERROR
                             for m in heard for s in m.status), f'{words} in /diagnostics')
    # The log of a process is read from a file.
    talker.until(lambda: 'is incomplete: ' in process.printed, 'the line')
    assert len(re.findall(f'is incomplete: .*({words})', process.printed)) == 1


def loses(process, words):
    """End a recorder whose bag lacks something; return what it has printed."""
    status, printed = process.stop()
    assert status == 1
    assert re.search(f'is incomplete, [0-9]+ bytes are there: ({words})', printed), printed
    return printed


@pytest.mark.parametrize('node', ['recorder', 'identifier'])
def test_folder_that_cannot_be_written_is_refused_at_the_start(start, node):
    status, printed = start(node, arm=ARM, output_folder='/proc/none/recordings').end()
    assert status == 2
    assert '/proc/none/recordings cannot be written: ' in printed
    assert printed.count('\n') == 1


def test_recorder_is_ready_from_its_subscription_to_its_end(start, talker, tmp_path):
    ready = readiness(talker)
    process, _, _ = recording(start, talker, tmp_path)
    talker.until(lambda: ready() == (DiagnosticStatus.OK, 'recording'), 'readiness')
    assert talker.call(Trigger, '/recorder/stop').success
    talker.until(lambda: ready() == (
        DiagnosticStatus.WARN, 'not recording; call /recorder/start'), 'the end of the bag')
    assert process.stop()[0] == 0
    talker.until(lambda: ready() == (DiagnosticStatus.ERROR, 'it has ended'), 'the end')


def test_messages_that_the_bag_does_not_get_are_missed_at_once(start, talker, tmp_path):
    log, ready = motion(500), readiness(talker)
    process, publisher, heard = recording(start, talker, tmp_path)
    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    # The driver comes back, and this time it offers less; the bag stays with what it asked for.
    talker.node.destroy_publisher(publisher)
    again = talker.states(reliable=False)
    wait_lost(talker, process, heard, ready, 'published as best effort now')
    answer = talker.call(Trigger, '/recorder/start')
    assert answer.success, answer.message
    talker.until(lambda: ready()[0] == DiagnosticStatus.OK, 'another bag')
    talker.until(lambda: again.get_subscription_count() == 2, 'both subscriptions')
    assert process.stop()[0] == 1
    # What came before can be read.
    first, _ = sorted(tmp_path.iterdir())
    read = read_recording(first / 'bag', load_arm(ARM))
    np.testing.assert_array_equal(read.u, log.u)
    assert not read.defects


def said(heard, words, level):
    return any(s.message.endswith(words) and s.level == level for m in heard for s in m.status)


def test_bag_holds_every_message_and_the_sidecar_says_what_it_is(start, talker, tmp_path):
    log = motion(1500)
    further = talker.node.create_publisher(Float64MultiArray, 'currents', 10)
    process, publisher, heard = recording(
        start, talker, tmp_path, topics="['currents']")
    talker.until(lambda: further.get_subscription_count() > 0, 'the further topic')
    further.publish(Float64MultiArray(data=[1.0, 2.0]))
    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    talker.until(lambda: said(heard, 'is good', DiagnosticStatus.OK), 'good data')
    again = talker.call(Trigger, '/recorder/start')
    assert not again.success and 'stop it first' in again.message
    answer = talker.call(Trigger, '/recorder/stop')
    assert answer.success, answer.message
    folder = next(tmp_path.iterdir())
    read = read_recording(folder / 'bag', load_arm(ARM))
    np.testing.assert_array_equal(read.q, log.q)
    np.testing.assert_array_equal(read.u, log.u)
    assert not read.defects
    metadata = yaml.safe_load((folder / 'bag' / 'metadata.yaml').read_text())
    content = metadata['rosbag2_bagfile_information']
    counts = {t['topic_metadata']['name']: t['message_count']
              for t in content['topics_with_message_count']}
    assert counts == {'/joint_states': len(log.t), '/currents': 1}
    sidecar = yaml.safe_load((folder / 'recording.yaml').read_text())
    assert content['custom_data']['arm_sha256'] == sidecar['arm_sha256']
    assert arm_from_plain(sidecar['arm']).joint_names == log.joint_names
    for name, digest in sidecar['files'].items():
        assert hashlib.sha256((folder / 'bag' / name).read_bytes()).hexdigest() == digest
    assert process.stop()[0] == 0


#: Of the states that are played, s.
START = 1e9


def phase(name, since, dry_run='False'):
    values = {'phase': name, 'since': str(START + since), 'dry_run': dry_run}
    return DiagnosticArray(status=[DiagnosticStatus(values=[
        KeyValue(key=key, value=value) for key, value in values.items()])])


def test_validation_motions_are_marked_by_the_stamps_of_their_states(start, talker, tmp_path):
    log = motion(1500)
    process, publisher, _ = recording(start, talker, tmp_path)
    status = talker.node.create_publisher(
        DiagnosticArray, '/trajectory_publisher/status', LATCHED)
    talker.until(lambda: status.get_subscription_count() == 1, 'the recorder')
    folder = next(tmp_path.iterdir())

    def marked():
        spans = yaml.safe_load((folder / 'recording.yaml').read_text())['validation']
        return (np.array(spans) - START).tolist()

    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    # Only what moves the arm counts, and repeated reports count once.
    for name, since, dry in (('validating', 0.5, 'True'), ('holding', 0.75, 'True'),
                             ('running', 0.875, 'False'), ('validating', 1.25, 'False'),
                             ('validating', 1.25, 'False')):
        status.publish(phase(name, since, dry))
        talker.spin(0.05)
    talker.until(lambda: marked() == [[1.25, float('inf')]], 'an open mark')
    # Of two reports that wait, only the newer is kept.
    status.publish(phase('holding', 2.5))
    talker.until(lambda: marked() == [[1.25, 2.5]], 'the mark')
    status.publish(phase('idle', 3.0))
    assert talker.call(Trigger, '/recorder/stop').success
    read = read_recording(folder / 'bag', load_arm(ARM))
    np.testing.assert_allclose(read.validation, [[1.25, 2.5]], atol=1e-6)
    assert process.stop()[0] == 0


def children(pid):
    listed = subprocess.run(
        ['ps', '-o', 'pid=', '--ppid', str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


def runs(pid):
    """Whether a process has not ended; nobody may have asked yet how an orphan ended."""
    with suppress(OSError):
        return ') Z ' not in Path(f'/proc/{pid}/stat').read_text()
    return False


def wait_gone(pid):
    end = time.monotonic() + PATIENCE
    while runs(pid):
        assert time.monotonic() < end, f'process {pid} stays'
        time.sleep(0.05)


def wait_written(talker, folder):
    """Wait until a bag has not grown for half a second."""
    sizes = []

    def rests():
        sizes.append(sum(file.stat().st_size for file in folder.rglob('*.mcap')))
        talker.spin(0.1)
        return len(sizes) > 5 and len(set(sizes[-5:])) == 1

    talker.until(rests, 'a bag that has what came')


def test_killed_bag_keeps_all_but_the_last_fraction_of_a_second(start, talker, tmp_path):
    log, ready = motion(), readiness(talker)
    process, publisher, heard = recording(start, talker, tmp_path)
    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    wait_written(talker, tmp_path)
    heard.clear()
    (bag,) = children(process.pid)
    os.kill(bag, signal.SIGKILL)
    read = read_recording(next(tmp_path.iterdir()) / 'bag', load_arm(ARM))
    # What is not written is less than a chunk; 32 KiB are some two hundred messages.
    assert len(log.t) - 300 <= len(read.t) <= len(log.t)
    np.testing.assert_array_equal(read.u, log.u[:len(read.t)])
    wait_lost(talker, process, heard, ready, 'rosbag2 ended by signal 9')
    assert f'ros2 bag reindex -s mcap {tmp_path}' in loses(process, 'rosbag2 ended by signal 9')


def test_killed_node_leaves_no_recorder_behind_and_a_whole_bag(start, talker, tmp_path):
    log = motion(1000)
    process, publisher, _ = recording(start, talker, tmp_path)
    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    wait_written(talker, tmp_path)
    (bag,) = children(process.pid)
    process.stop(signal.SIGKILL)
    wait_gone(bag)
    read = read_recording(next(tmp_path.iterdir()) / 'bag', load_arm(ARM))
    np.testing.assert_array_equal(read.u, log.u)
    assert not read.defects


@pytest.mark.parametrize(('fault', 'word'), [
    ('nan', 'NaN'), ('dead', 'throughout'), ('gap', '1 gap '), ('names', 'lack joints'),
])
def test_faults_are_named_while_they_happen(start, talker, tmp_path, fault, word):
    log = motion(1500)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    start('recorder', arm=ARM, output_folder=tmp_path, report_rate=5.0)
    publisher = talker.states()
    t, q, u, names = log.t.copy(), log.q.copy(), log.u.copy(), list(log.joint_names)
    if fault == 'nan':
        u[500:520, 1] = np.nan
    elif fault == 'dead':
        u[:, 0] = 0.0
    elif fault == 'gap':
        t[1000:] += 0.5
    else:
        names[1] = 'other'
    talker.play(publisher, names, t, q, u)
    talker.until(lambda: any(word in s.message and s.level > DiagnosticStatus.OK
                             for m in heard for s in m.status), f'{word} in /diagnostics')
    assert not any(tmp_path.iterdir())


def test_changes_of_the_stream_are_named_one_after_the_other(start, talker, tmp_path):
    log = motion(1000)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    start('recorder', arm=ARM, output_folder=tmp_path, report_rate=5.0)
    publisher = talker.states()
    names, t, q, u = log.joint_names, log.t, log.q, log.u

    def named(word, *arguments):
        """Play something, ten seconds after all before, and wait until it is named."""
        heard.clear()
        named.time += 10 * 10**9
        talker.play(publisher, *arguments, start=named.time)
        talker.until(lambda: any(word in s.message and s.level > DiagnosticStatus.OK
                                 for m in heard for s in m.status), f'{word} in /diagnostics')

    named.time = 10**18
    named('1 gap ', names, t + 0.05 * (t > 1.0), q, u)
    broken = q.copy()
    broken[500:510, 1] = np.nan
    named('NaN', names, t, broken, u)
    named('1 changes of the order', names[::-1], t, q[:, ::-1], u[:, ::-1])
    gripper = np.zeros((len(t), 1))
    named('2 changes of the order', ('finger', *names), t, np.hstack([gripper, q]),
          np.hstack([gripper, u]))
    named('back', names, t - 2.0 * (t > 1.0), q, u)
    talker.states()
    talker.until(lambda: any('2 publishers' in s.message and s.level == DiagnosticStatus.ERROR
                             for m in heard for s in m.status), 'the second publisher')


@pytest.fixture(params=['tmpfs', 'limit'])
def full_disk(request, tmp_path, monkeypatch):
    """Folder that takes 300 KiB, or one where files may not be larger, and what says so."""
    # Fast DDS has files of its own, in shared memory.
    monkeypatch.setenv('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
    if request.param == 'limit':
        yield tmp_path, 'messages was written', lambda pid: resource.prlimit(
            pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
        return
    mount = subprocess.run(
        ['mount', '-t', 'tmpfs', '-o', 'size=300k', 'tmpfs', tmp_path],
        capture_output=True, check=False)
    if mount.returncode:
        pytest.skip('may not mount a small tmpfs here')
    yield tmp_path, 'the disk is full', lambda _: None
    subprocess.run(['umount', '--lazy', tmp_path], check=True)


def test_full_disk_is_named_and_what_was_written_can_be_used(start, talker, full_disk):
    folder, words, fill = full_disk
    log, ready = motion(6000), readiness(talker)
    process = start('recorder', arm=ARM, output_folder=folder, report_rate=5.0)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    publisher = talker.states()
    talker.until(lambda: bool(heard), 'the recorder')
    fill(process.pid)
    assert talker.call(Trigger, '/recorder/start').success
    talker.until(lambda: publisher.get_subscription_count() == 2, 'both subscriptions')
    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    # rosbag2 goes on without a word; another recorder may end.
    wait_lost(talker, process, heard, ready, f'{words}|ended with status')
    (bag,) = folder.glob('*/bag')
    if 'full' in words:
        # Not even the sidecar can be replaced.
        with suppress(OSError):
            (folder / 'filler').write_bytes(bytes(300_000))
    answer = talker.call(Trigger, '/recorder/stop')
    assert not answer.success
    assert re.search(f'is incomplete.*({words}|ended with status|could not be written)',
                     answer.message), answer.message
    again = talker.call(Trigger, '/recorder/stop')
    assert 'call ~/start first' in again.message
    read = read_recording(bag, load_arm(ARM))
    assert 1000 < len(read.t) < len(log.t)
    np.testing.assert_array_equal(read.u, log.u[:len(read.t)])
    # Where room was left, the end is written, too.
    cut = {'bag_truncated', 'metadata_missing'} & {defect.code for defect in read.defects}
    assert bool(cut) == ('full' not in words)
    assert all(file.stat().st_size for file in bag.iterdir())
    assert process.stop()[0] == 1
