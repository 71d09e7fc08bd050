# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Embedded nodes and a real ROS 2 on one domain of this machine, in both directions."""

import json
from pathlib import Path
import signal
import subprocess
import time

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import pytest
from ros.nodes.conftest import PATIENCE
from ros.nodes.identifier_rig import recording, replayed, save_after
from ros.stand_in.embedded_rig import layer_only
from ros_shell import CYCLONE, environment, FAST, installation, ros, shell
from std_srvs.srv import Trigger

from dynid_ros.arm import load_arm
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.ros.nodes.simulated.simulation_loop import MOST_LAG_SECONDS

pytestmark = layer_only
PEER = Path(__file__).with_name('ros_peer.py')


@pytest.fixture(scope='module', autouse=True)
def ros_is_there():
    installation()


@pytest.fixture
def peer():
    """Start commands of ROS 2 that are gone after the test."""
    running = []

    def begin(*words, rmw=CYCLONE):
        running.append(subprocess.Popen(
            shell(*map(str, words), rmw=rmw), env=environment(), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        return running[-1]

    yield begin
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()
    ros('ros2', 'daemon', 'stop', check=False)


def end(process):
    """Wait for the end of a command and return what it printed."""
    printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, printed
    return check(printed)


def check(printed):
    """ROS 2 has nothing to say against the types of the embedded nodes."""
    assert 'hash' not in printed.lower(), printed
    assert 'WARN' not in printed, printed
    return printed


def excitation(folder):
    """Write a motion from which this arm can be learned."""
    arm, path = load_arm('two_axis'), folder / 'excitation.yaml'
    write_motion(path, random_motion(arm, 3, period=4.0, periods=3), arm)
    return path


def command(*words, rmw=CYCLONE):
    return check(ros('ros2', *words, rmw=rmw))


def test_ros_sees_commands_and_records_the_embedded_nodes(
        start, talker, peer, tmp_path):
    heard = talker.listen(DynamicJointState, '/identifier/estimates')
    simulated = {'arm': 'two_axis', 'use_sim_time': True}
    start('simulated_arm', rate=500.0, lockstep=['trajectory_publisher', 'identifier'],
          **simulated)
    start('identifier', report_rate=5.0, cutoff_hz=5.0, delay=0.0, output_folder=tmp_path / 'out',
          **simulated)
    start('recorder', output_folder=tmp_path / 'own', **simulated)
    bag = peer('ros2', 'bag', 'record', '-a', '-o', tmp_path / 'bag', '-s', 'mcap')
    watched = talker.states()
    # The identifier, the recorder, and rosbag2: then the time begins, with this node.
    talker.until(lambda: watched.get_subscription_count() == 3, 'the bag')
    # The echo must listen before the motion, which lasts for seconds where processors are fast.
    echo = peer('ros2', 'topic', 'echo', '--once', '/identifier/estimates',
                'control_msgs/msg/DynamicJointState')
    beside = talker.node.create_publisher(DynamicJointState, '/identifier/estimates', 1)
    talker.until(lambda: beside.get_subscription_count() == 3, 'the echo, beside bag and test')
    for publisher in (beside, watched):
        talker.node.destroy_publisher(publisher)
    mover = start('trajectory_publisher', excitation=excitation(tmp_path), once=True, **simulated)
    talker.until(lambda: heard, 'estimates')
    listed = command('node', 'list', '--no-daemon', '--spin-time', '2').split()
    assert {'/identifier', '/recorder', '/simulated_arm'} <= set(listed)
    topics = command('topic', 'list', '-t', '--no-daemon', '--spin-time', '2').splitlines()
    assert {'/joint_states [sensor_msgs/msg/JointState]',
            '/identifier/estimates [control_msgs/msg/DynamicJointState]',
            '/identifier/robot_description [std_msgs/msg/String]'} <= set(topics)
    assert '- from_data' in end(echo)
    froze = command('service', 'call', '/identifier/freeze', 'std_srvs/srv/SetBool',
                    '{data: true}')
    assert "success=True, message='the estimates are frozen'" in froze
    stopped = command('service', 'call', '/recorder/stop', 'std_srvs/srv/Trigger')
    assert 'nothing is being recorded' in stopped
    params = command('param', 'list', '/simulated_arm', '--no-daemon', '--spin-time', '2').split()
    assert {'arm', 'rate', 'fault', 'use_sim_time'} <= set(params)
    got = command('param', 'get', '/simulated_arm', 'arm', '--no-daemon', '--spin-time', '2')
    assert got.strip() == 'String value is: two_axis'
    assert 'Set parameter successful' in command(
        'param', 'set', '/simulated_arm', 'fault', 'none', '--no-daemon', '--spin-time',
        '2')
    refused = ros('ros2', 'param', 'set', '/simulated_arm', 'arm', 'panda', '--no-daemon',
                  '--spin-time', '2', check=False, rmw=CYCLONE)
    assert 'read-only' in refused
    assert talker.outlast(mover)[0] == 0
    bag.send_signal(signal.SIGINT)
    # rosbag2 says of every recording that hidden topics are left out.
    check(bag.communicate(timeout=PATIENCE)[0].replace('[WARN]', '', 1))
    # Half a minute need not determine everything, and the verdict may say so.
    assert main(['identify', str(tmp_path / 'bag'), '--arm', 'two_axis', '-o',
                 str(tmp_path / 'result')]) in (0, 1)
    assert read_result(tmp_path / 'result').samples > 2000


def test_nodes_on_fast_dds_see_the_embedded_ones_and_hear_them(start, talker):
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    start('simulated_arm', arm='two_axis', rate=500.0)
    start('identifier', arm='two_axis')
    talker.until(lambda: heard, 'the identifier')
    listed = command('node', 'list', '--no-daemon', '--spin-time', '4', rmw=FAST).split()
    assert {'/identifier', '/simulated_arm'} <= set(listed)
    topics = command('topic', 'list', '-t', '--no-daemon', '--spin-time', '4', rmw=FAST)
    assert '/joint_states [sensor_msgs/msg/JointState]' in topics.splitlines()
    echoed = command('topic', 'echo', '--once', '/diagnostics',
                     'diagnostic_msgs/msg/DiagnosticArray', rmw=FAST)
    assert 'hardware_id: two_axis' in echoed


def test_controller_on_fast_dds_is_refused_with_what_to_do(start, talker, peer, tmp_path):
    arm = load_arm('two_axis')
    peer('python3', PEER, 'serve', json.dumps(arm.joint_names),
         json.dumps(planning_limits(arm).middle.tolist()), rmw=FAST)
    publisher = start('trajectory_publisher', arm='two_axis', excitation=excitation(tmp_path))
    talker.until(lambda: 'follow_joint_trajectory is not there' in talker.call(
        Trigger, '/trajectory_publisher/start').message, 'states and the refusal')
    hint = ('is served by a node that is not on Cyclone DDS; start that node with '
            'RMW_IMPLEMENTATION=rmw_cyclonedds_cpp')
    talker.until(lambda: hint in publisher.printed, 'what to do')
    assert publisher.stop()[0] == 0


@pytest.mark.parametrize('rmw', [CYCLONE, FAST])
def test_identifier_learns_the_same_from_rclpy_as_from_a_replay(
        start, talker, peer, tmp_path, rmw):
    log, folder = recording().part(0, 3000), tmp_path / 'out'
    np.savez(tmp_path / 'log.npz', names=log.joint_names, t=log.t, q=log.q, u=log.u)
    start('identifier', arm='two_axis', report_rate=10.0, cutoff_hz=5.0, delay=0.0,
          output_folder=folder)
    printed = end(peer('python3', PEER, 'publish', tmp_path / 'log.npz', rmw=rmw))
    assert printed.split() == ['published', str(len(log.t))]
    save_after(talker, len(log.t))
    saved, expected = read_result(folder), replayed(log)
    scale = np.abs(expected.theta).max()
    np.testing.assert_allclose(saved.theta, expected.theta, rtol=1e-6, atol=1e-8 * scale)


def test_rclpy_hears_every_state_and_moves_the_embedded_arm_by_a_goal(start, peer):
    arm = start('simulated_arm', arm='two_axis', rate=500.0)
    told = json.loads(end(peer('python3', PEER, 'goal')).splitlines()[-1])
    assert told['accepted']
    # STATUS_SUCCEEDED of action_msgs, SUCCESSFUL of control_msgs.
    assert (told['status'], told['error_code']) == (4, 0)
    # Two milliseconds from each message to the next, without one that is lost; a busy machine may
    # take time away from the arm, which says so.
    assert told['messages'] > 500
    assert all(gap > MOST_LAG_SECONDS for gap in told['gaps'])
    assert len(told['gaps']) <= arm.printed.count('the simulation lost')
    # The goal is 0.2 rad from where the arm stood; what is measured has noise of 1 mrad at most.
    np.testing.assert_allclose(np.abs(told['moved']), 0.2, atol=0.02)


def test_embedded_publisher_moves_an_arm_behind_an_rclpy_action_server(
        start, talker, peer, tmp_path):
    arm = load_arm('two_axis')
    middle = json.dumps(planning_limits(arm).middle.tolist())
    server = peer('python3', PEER, 'serve', json.dumps(arm.joint_names), middle)
    publisher = start('trajectory_publisher', arm='two_axis', excitation=excitation(tmp_path))
    answers = []

    def starts():
        answers.append(talker.call(Trigger, '/trajectory_publisher/start'))
        time.sleep(0.1)
        return answers[-1].success

    talker.until(starts, 'a start')
    told = json.loads(end(server).splitlines()[-1])
    assert sorted(told['joints']) == sorted(arm.joint_names)
    assert told['points'] > 10
    publisher.stop()
