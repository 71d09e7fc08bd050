# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The monitor node in a process of its own, with real messages."""

from dataclasses import replace

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from results import identification
from ros.nodes.test_changed_parameters import change
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

from dynid_ros.applications.contact.monitor import Monitor
from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.parameters import inertial_to_com
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_body import gravity_torque
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.ros.nodes.common.estimate_messages import numbers_of
from dynid_ros.ros.nodes.common.qos import LATCHED

# As if its drives measured torque.
ARM, RATE = replace(load_arm('two_axis'), drive=Drive.joint_torque(2)), 250.0


@pytest.fixture
def folder(tmp_path):
    """Write a true model with small residuals."""
    rng, base = np.random.default_rng(0), base_parameters(ARM)
    still = np.zeros((600, 2))
    residual = Prediction('held out', True, 0.1 * np.arange(600.0), still, still + 1.0,
                          0.002 * rng.normal(size=still.shape), still)
    write_result(identification(
        ARM, theta=base.grouping @ nominal_parameters(ARM), covariance=1e-8 * np.eye(base.count),
        sigma=np.full(2, 0.002), predictions=(residual,),
        treatment=ConditioningSettings(3.0, True, 'butterworth', RATE, 25)), tmp_path)
    return tmp_path


def course(seconds, push=None):
    """Motion of the arm; a torque on the pendulum from some time on."""
    t = np.arange(0, seconds, 1 / RATE)
    q, qd, qdd = random_motion(ARM, 3, tries=5).evaluate(t)
    tau = regressor(ARM, q, qd, qdd) @ nominal_parameters(ARM)
    tau += 0.002 * np.random.default_rng(1).normal(size=q.shape)
    if push is not None:
        tau[t > push, 1] += 0.4
    return t, q, tau


def stamp(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def test_contact_wrench_and_gravity_effort_are_those_of_the_core(start, talker, folder):
    heard = {name: talker.listen(kind, f'/monitor/{name}', 1000) for name, kind in (
        ('external_torque', JointState), ('gravity_effort', JointState),
        ('contact', DynamicJointState), ('tool_wrench', WrenchStamped))}
    diagnosed = talker.listen(DiagnosticArray, '/diagnostics', 100)
    process = start('monitor', model=folder, report_rate=10.0, publish_rate=50.0,
                    frame_id='pendulum_tip')
    states = talker.states()
    t, q, tau = course(8.0, push=6.0)
    talker.play(states, ('finger', *ARM.joint_names[::-1]), t,
                *(np.column_stack([np.full(len(t), 9.0), x[:, ::-1]]) for x in (q, tau)))

    def said(name):
        return [s for m in diagnosed for s in m.status if s.name == f'monitor: {name}']

    talker.until(lambda: any(s.message.startswith('contact:') for s in said('contact')), 'contact')
    talker.until(lambda: all(messages and stamp(messages[-1]) - 1e9 > 7.8
                             for messages in heard.values()), 'the last messages')
    contacts = [(stamp(m) - 1e9, *numbers_of(m)) for m in heard['contact']]
    t0, names, felt = next(each for each in contacts if each[2]['contact'].any())
    assert names == ARM.joint_names and felt['contact'][1] == 1
    assert felt['external_torque'][1] > felt['threshold'][1]
    assert 6.0 < t0 < 6.05
    # The same samples through the core.
    monitor = Monitor(read_result(folder))
    core = [new for sample in zip(t, q, tau, strict=True) for new in monitor.push(*sample)]
    times = np.concatenate([new.t for new in core])
    torque = np.concatenate([new.torque for new in core])
    for message in heard['external_torque'][5::50]:
        k = int(np.argmin(np.abs(times - (stamp(message) - 1e9))))
        np.testing.assert_allclose(message.effort, torque[k], atol=1e-6)
    place = int(np.argmin(np.abs(t - (stamp(heard['gravity_effort'][-1]) - 1e9))))
    np.testing.assert_allclose(
        heard['gravity_effort'][-1].effort, gravity_torque(ARM, q[place]), atol=2e-3)
    assert heard['tool_wrench'][-1].header.frame_id == 'pendulum_tip'
    # No faster than asked for.
    assert len(heard['external_torque']) < 8.0 * 50 + 20
    assert all(s.level == DiagnosticStatus.OK for s in said('stream')[-1:])
    # The motion is shorter than that.
    assert 'not judged yet: that takes 20 s' in said('model')[-1].message
    assert process.stop()[0] == 0


def test_markers_and_wrench_are_in_the_frames_of_the_robots_description(start, talker, folder):
    wrench = talker.listen(WrenchStamped, '/monitor/tool_wrench', 1000)
    marked = talker.listen(MarkerArray, '/monitor/markers', LATCHED)
    start('monitor', model=folder, report_rate=10.0)
    described = talker.node.create_publisher(String, 'robot_description', LATCHED)
    # As robot_state_publisher names the frames of TF.
    described.publish(String(data='<robot>' + ''.join(
        f'<joint name="{name}"><parent link="base"/><child link="{name}_link"/></joint>'
        for name in ARM.joint_names) + '</robot>'))
    talker.until(lambda: marked, 'markers')
    balls = [each for each in marked[-1].markers if each.ns == 'centre of mass']
    assert [each.header.frame_id for each in balls] == [f'{n}_link' for n in ARM.joint_names]
    values = read_result(folder).standard_parameters().values
    for ball, columns in zip(
            balls, ARM.layout.all_inertial().reshape(ARM.links, -1), strict=True):
        mass, center, _ = inertial_to_com(values[columns])
        place = ball.pose.position
        np.testing.assert_allclose([place.x, place.y, place.z], center, rtol=1e-6)
        assert ball.scale.x == pytest.approx(0.06 * mass ** (1 / 3), rel=1e-5)
    states = talker.states()
    t, q, tau = course(8.0, push=6.0)
    talker.play(states, ARM.joint_names, t, q, tau)

    def touched(message):
        return [each.header.frame_id for each in message.markers
                if each.ns == 'contact' and each.action == Marker.ADD]

    talker.until(lambda: any(touched(each) for each in marked), 'the mark of a contact')
    assert touched(marked[0]) == []
    felt = next(filter(None, map(touched, marked)))
    assert f'{ARM.joint_names[1]}_link' in felt
    talker.until(lambda: wrench, 'the wrench')
    assert wrench[-1].header.frame_id == f'{ARM.joint_names[-1]}_link'


def test_a_tare_is_refused_at_first_and_then_takes_the_torque_off(start, talker, folder):
    torque = talker.listen(JointState, '/monitor/external_torque', 1000)
    start('monitor', model=folder, report_rate=10.0)
    states = talker.states()
    talker.meet(states)
    answer = talker.call(Trigger, '/monitor/tare')
    assert not answer.success and 'half a second later' in answer.message
    t, q, tau = course(6.0)
    half = t < 3.0
    talker.play(states, ARM.joint_names, t[half], q[half], tau[half] + 0.2)
    talker.until(lambda: torque and stamp(torque[-1]) - 1e9 > 2.8, 'external torque')
    assert talker.call(Trigger, '/monitor/tare').success
    talker.play(states, ARM.joint_names, t[~half], q[~half], tau[~half] + 0.2)
    talker.until(lambda: stamp(torque[-1]) - 1e9 > 5.8, 'external torque after the tare')
    before, after = ([m.effort for m in torque if low < stamp(m) - 1e9 < high]
                     for low, high in ((1.0, 2.8), (3.2, 5.8)))
    assert np.mean(before) == pytest.approx(0.2, abs=0.03)
    assert np.mean(after) == pytest.approx(0.0, abs=0.03)


def test_a_node_without_a_model_says_what_is_missing(start, tmp_path):
    status, printed = start('monitor').end()
    assert status == 2
    assert printed.endswith(
        "[monitor]: set the parameter 'model' of monitor (Folder of dynid identify, or its "
        'result.yaml), such as model:=result\n')
    status, printed = start('monitor', model=tmp_path).end()
    assert status == 2 and 'result.yaml cannot be read' in printed


def test_thresholds_follow_a_rate_of_alarms_that_changes(start, talker, folder):
    told = talker.listen(DynamicJointState, '/monitor/contact', 1000)
    start('monitor', model=folder, report_rate=10.0, publish_rate=50.0)
    states, (t, q, tau) = talker.states(), course(12.0)
    half = t < 8.0
    talker.play(states, ARM.joint_names, t[half], q[half], tau[half])
    talker.until(lambda: told and stamp(told[-1]) - 1e9 > 7.8, 'thresholds')
    assert change(talker, '/monitor', 'alarms_per_hour', 1000.0) == ''
    talker.play(states, ARM.joint_names, t[~half], q[~half], tau[~half])
    talker.until(lambda: stamp(told[-1]) - 1e9 > 11.8, 'other thresholds')
    before, after = (np.median([
        numbers_of(m)[1]['threshold'] for m in told if low < stamp(m) - 1e9 < high], axis=0)
        for low, high in ((6.0, 7.8), (9.0, 11.8)))
    assert (after < 0.9 * before).all()
