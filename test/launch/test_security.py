# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The policies of config/sros2: the chain works under them, and nobody else hears or commands."""

from importlib.util import find_spec
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from launches import free_port, need_workspace
import numpy as np
import pytest
from results import identification

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.interface.demo.processes import own_domain
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.ros.nodes.launching import chain, ENCLAVES, OVERRIDE

pytestmark = pytest.mark.skipif(find_spec('sros2') is None, reason='sros2 is not installed')
ARM, RATE, PATIENCE = 'two_axis', 250.0, 180.0
CHAIN = ('simulated_arm', 'recorder', 'identifier', 'trajectory_publisher')
WATCHING = ('monitor', 'feedforward', 'watch')
# Listens, commands and asks until it is told to end; prints what it heard, and who answered.
STRANGER = """
import json, sys, threading
import rclpy
from rclpy.node import Node
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
rclpy.init()
node, heard = Node('stranger'), []
for kind, topic in ((JointState, 'joint_states'), (DiagnosticArray, '/diagnostics')):
    node.create_subscription(kind, topic, heard.append, 100)
torques = node.create_publisher(Float64MultiArray, 'effort_commands', 10)
client, answered = node.create_client(Trigger, '/trajectory_publisher/stop'), False
print('here', flush=True)
end = threading.Thread(target=sys.stdin.read)
end.start()
while end.is_alive():
    rclpy.spin_once(node, timeout_sec=0.02)
    torques.publish(Float64MultiArray(data=[1.0, 1.0]))
    answered |= client.service_is_ready()
print(json.dumps({'heard': len(heard), 'answered': answered,
                  'read': torques.get_subscription_count()}))
"""


@pytest.fixture(scope='module')
def keystore(tmp_path_factory):
    """Make keys and permissions as docs/security.md does, for a domain of their own."""
    need_workspace()
    from ament_index_python.packages import get_package_share_directory
    from installed import compile_installed

    policy = Path(get_package_share_directory('dynid_ros')) / 'config/sros2/policy.xml'
    compile_installed(ARM)
    folder = tmp_path_factory.mktemp('keys') / 'keystore'

    def ros2(*words):
        subprocess.run(['ros2', 'security', *map(str, words)], check=True, capture_output=True)

    with own_domain():
        ros2('create_keystore', folder)
        for name in (*CHAIN, *WATCHING, 'operator'):
            ros2('create_enclave', folder, f'{ENCLAVES}/{name}')
            ros2('create_permission', folder, f'{ENCLAVES}/{name}', policy)
        yield folder


def secured(keystore, name):
    return {**os.environ, 'ROS_SECURITY_KEYSTORE': str(keystore), 'ROS_SECURITY_ENABLE': 'true',
            'ROS_SECURITY_STRATEGY': 'Enforce', OVERRIDE: f'{ENCLAVES}/{name}'}


@pytest.fixture
def start(tmp_path):
    """Start nodes with the keys of an enclave; return their processes and logs."""
    running = []

    def begin(keystore, name, enclave, **parameters):
        words = [word for key, value in parameters.items() for word in (
            '-p', f'{key}:={value if isinstance(value, str) else json.dumps(value)}')]
        log = tmp_path / f'{name}_{len(running)}.log'
        with log.open('wb') as out:
            running.append(subprocess.Popen(
                [sys.executable, '-m', f'dynid_ros.ros.nodes.{name}', '--ros-args', *words],
                env=secured(keystore, enclave), stdout=out, stderr=subprocess.STDOUT,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)))
        return running[-1], log

    yield begin
    for process in running:
        process.kill()
        process.wait()


def test_chain_works_and_a_stranger_hears_and_commands_nothing(keystore, start, tmp_path):
    excitation = tmp_path / 'excitation.yaml'
    motion = random_motion(load_arm(ARM), 3, period=4.0, periods=1)
    write_motion(excitation, motion, load_arm(ARM))
    stranger = subprocess.Popen([sys.executable, '-c', STRANGER], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
    assert stranger.stdout.readline() == 'here\n'
    settings = chain(ARM, excitation, tmp_path / 'bags', tmp_path / 'result', RATE, 0, False)
    nodes = {name: start(keystore, name, name, **values) for name, values in settings.items()}
    for name in ('trajectory_publisher', 'recorder', 'identifier', 'simulated_arm'):
        process, log = nodes[name]
        if name != 'trajectory_publisher':
            process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0, log.read_text()
        assert 'Found security directory' in log.read_text()
        assert 'aborted' not in log.read_text()
        # The arm would refuse torques while a trajectory moves it.
        assert 'torques are commanded' not in log.read_text()
    found = json.loads(stranger.communicate('', timeout=PATIENCE)[0])
    assert found == {'heard': 0, 'answered': False, 'read': 0}
    recorded = read_recording(next((tmp_path / 'bags').glob('*/bag')), load_arm(ARM))
    assert recorded.seconds > motion.duration
    # The recorder is the first of the two that end.
    assert read_result(tmp_path / 'result').samples >= len(recorded.t)


def until_it_says(word, process, log):
    """Wait for a word of a node, and end it."""
    end = time.monotonic() + PATIENCE
    while word not in log.read_text():
        assert process.poll() is None and time.monotonic() < end, log.read_text()
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, log.read_text()


@pytest.mark.parametrize('name', ['monitor', 'feedforward'])
def test_nodes_that_use_a_model_may_do_all_they_want(keystore, start, tmp_path, name):
    arm = load_arm(ARM)
    base = base_parameters(arm)
    write_result(identification(
        arm, theta=base.grouping @ nominal_parameters(arm), covariance=1e-8 * np.eye(base.count),
        sigma=np.full(arm.n, 0.002)), tmp_path / 'model')
    until_it_says('ready', *start(keystore, name, name, model=str(tmp_path / 'model')))


@pytest.mark.skipif(find_spec('viser') is None, reason='viser is not installed')
def test_the_live_page_may_hear_and_ask_all_it_wants(keystore, start):
    until_it_says('http://', *start(keystore, 'watch', 'watch', arm=ARM, port=free_port()))


def test_the_operator_asks_and_hears_by_the_commands_of_ros2(keystore, start, tmp_path):
    start(keystore, 'recorder', 'recorder', arm=ARM, output_folder=str(tmp_path))
    for words, answer in (
            ('service call /recorder/stop std_srvs/srv/Trigger', 'Trigger_Response'),
            ('topic echo --no-daemon --once /recorder/ready diagnostic_msgs/msg/DiagnosticStatus',
             'level')):
        told = subprocess.run(
            ['ros2', *words.split()], env=secured(keystore, 'operator'), capture_output=True,
            text=True, timeout=PATIENCE, check=False)
        assert answer in told.stdout, told.stderr


@pytest.mark.parametrize(('enclave', 'said'), [
    ('identifier', 'failed to create'), ('nobody', 'does not exist')])
def test_node_that_wants_more_than_its_policy_is_refused_in_one_line(
        keystore, start, tmp_path, enclave, said):
    process, log = start(keystore, 'recorder', enclave, arm=ARM, output_folder=str(tmp_path))
    assert process.wait(PATIENCE) == 2
    last = log.read_text().splitlines()[-1]
    assert last.startswith('dynid: ROS 2 refuses this node')
    assert said in last
    assert 'Traceback' not in log.read_text()
