"""The trajectory publisher with the simulated arm: it follows, and every fault ends safely."""

import re
import signal

from motion_rig import ARM, NODE, Rig, slow_file, slow_motion
from nodes.conftest import PATIENCE
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from dynid_ros.execution.tracking_control import RigidArm


@pytest.fixture
def excitation(tmp_path):
    return slow_file(tmp_path, periods=5)


def test_motion_is_followed_to_its_end_and_held(start, talker, tmp_path):
    rig = Rig(start, talker, slow_file(tmp_path))
    rig.move()
    motion = slow_motion()
    rig.wait_end()
    # Coulomb friction by stiffness is some 1 mrad; stalls of a busy machine add to it.
    np.testing.assert_allclose(rig.states[-1].position, motion.start, atol=5e-3)
    rig.wait_rest()
    before = len(rig.commands)
    talker.until(lambda: len(rig.commands) > before + 50, 'commands that hold the arm')
    status, printed = rig.publisher.stop()
    assert status == 0
    assert 'torques are commanded by this node' in printed
    assert [phase for phase in re.findall(r'publisher\]: (\w+)', printed)
            if phase in ('moving', 'running', 'holding')] == ['moving', 'running', 'holding']
    assert np.sqrt((rig.away()**2).mean()) < 5e-3


def test_faults_of_the_states_are_named_and_the_arm_held_until_reset(start, talker, excitation):
    rig = Rig(start, talker, excitation, state_timeout=0.1)
    faults = {
        'nan 0.1': "joint 'fer_joint1' reports a position or velocity that is no number",
        'silent 0.3': r'no usable joint state has come for \d+ ms'}
    for fault, said in faults.items():
        rig.move()
        rig.inject(fault)
        rig.wait_refusal(f'aborted because {said}.*~/stop')
        rig.wait_rest()
        assert talker.call(Trigger, f'{NODE}/stop').message == 'reset after the abort'
    assert rig.begin().success
    status, printed = rig.publisher.stop()
    assert status == 0
    for said in faults.values():
        assert len(re.findall(f'aborted: {said}', printed)) == 1


def test_what_a_stream_may_do_does_not_disturb_the_motion(start, talker, excitation):
    rig = Rig(start, talker, excitation)
    rig.move()
    for fault in ('reorder 0.5', 'gripper 0.5', 'silent 0.03', 'clock 0.5'):
        rig.inject(fault)
        rig.spin(0.8)
    assert talker.call(Trigger, f'{NODE}/stop').message == 'stopping'
    status, printed = rig.publisher.stop()
    assert status == 0
    assert 'aborted' not in printed


def test_second_publisher_of_states_stops_the_motion_and_prevents_a_start(
        start, talker, excitation):
    rig = Rig(start, talker, excitation)
    rig.move()
    second = talker.states()
    zeros = [0.0] * ARM.n
    for _ in range(40):
        second.publish(JointState(name=ARM.joint_names, position=zeros, velocity=zeros))
        rig.spin(0.02)
    rig.spin(0.5)
    # Nothing follows the zeros: the arm moves no faster than before.
    assert np.abs([state.velocity for state in rig.states]).max() < 0.6
    assert rig.at_rest()
    talker.call(Trigger, f'{NODE}/stop')
    rig.wait_refusal('several publishers: /simulated_arm, /talker')
    talker.node.destroy_publisher(second)


def test_lost_arm_is_noticed_by_its_tracking_error(start, talker, excitation):
    rig = Rig(start, talker, excitation, effort_joints=[
        'fer_joint2', 'fer_joint1', *ARM.joint_names[2:]])
    assert rig.begin().success
    rig.spin(2.0)
    assert re.search(r"aborted: joint 'fer_joint\d' (is .* from where it should be|moves at)",
                     rig.publisher.stop()[1])


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signal_brings_the_arm_to_rest_and_leaves_a_safe_command(
        start, talker, excitation, number):
    rig = Rig(start, talker, excitation)
    rig.move()
    status, _ = rig.publisher.stop(number)
    assert status == 0
    rigid = RigidArm(ARM)

    def held():
        # The arm creeps by 0.02 rad at most until it is seen here.
        away = rig.commands[-1].data - rigid.gravity(rig.states[-1].position)
        return rig.at_rest() and np.abs(away).max() < 0.5

    talker.until(held, 'the last command to hold the arm', 3.0)


def test_stop_slows_down_and_another_start_is_possible(start, talker, excitation):
    rig = Rig(start, talker, excitation)
    rig.move()
    assert talker.call(Trigger, f'{NODE}/stop').message == 'stopping'
    rig.spin(1.5)
    assert rig.at_rest()
    assert rig.begin().success


def test_dry_run_shows_the_reference_and_commands_nothing(start, talker, excitation):
    rig = Rig(start, talker, excitation, dry_run=True)
    assert 'dry run' in rig.begin().message
    rig.spin(1.5)
    assert len(rig.wanted) > 50
    assert rig.commands == []
    assert rig.at_rest()


def test_motion_for_another_arm_ends_in_one_line(start, tmp_path):
    process = start('trajectory_publisher', arm='ur10', excitation=slow_file(tmp_path))
    process._process.wait(timeout=PATIENCE)
    status, printed = process.stop()
    assert status == 2
    assert 'choose the arm that it was made for' in printed
    assert printed.count('\n') == 1
