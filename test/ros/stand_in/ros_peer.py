# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The other side of the tests of interoperation: plain rclpy, run as ``ros_peer.py WHAT ...``."""

import json
import sys
import time

from control_msgs.action import FollowJointTrajectory
import numpy as np
import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.time import Time
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

ACTION = 'joint_trajectory_controller/follow_joint_trajectory'
DEEP = QoSProfile(depth=2000)
#: Time that a busy machine is given for what takes a moment, s.
PATIENCE = 120.0


def until(node, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, 'nothing came'
        rclpy.spin_once(node, timeout_sec=0.01)


def publish(node, file):
    """Publish a log at 2 kHz."""
    log = np.load(file)
    publisher = node.create_publisher(JointState, 'joint_states', DEEP)
    until(node, lambda: publisher.get_subscription_count() > 0)
    # The other side may not have found this one yet; with Fast DDS that takes a second.
    time.sleep(2.0)
    begin = time.monotonic()
    for k, (t, q, u) in enumerate(zip(log['t'], log['q'], log['u'], strict=True)):
        message = JointState(name=log['names'].tolist(), position=q.tolist(), effort=u.tolist())
        stamp = 10**18 + round(float(t) * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        publisher.publish(message)
        time.sleep(max(0.0, begin + k / 2000 - time.monotonic()))
    print('published', len(log['t']))
    # Until all has been received.
    time.sleep(1.0)


def goal(node):
    """Move the arm by 0.2 in each joint within a second, and listen."""
    heard = []
    node.create_subscription(JointState, 'joint_states', heard.append, DEEP)
    client = ActionClient(node, FollowJointTrajectory, ACTION)
    until(node, lambda: len(heard) > 100 and client.server_is_ready())
    start = np.array(heard[-1].position)
    wanted = FollowJointTrajectory.Goal()
    wanted.trajectory.joint_names = heard[-1].name
    point = JointTrajectoryPoint(positions=(start + 0.2).tolist(), velocities=[0.0] * len(start))
    point.time_from_start.sec = 2
    wanted.trajectory.points = [point]
    sent = client.send_goal_async(wanted)
    until(node, sent.done)
    answer = sent.result().get_result_async()
    until(node, answer.done)
    # The answer may overtake states; those of the moving arm still wait here on a busy machine.
    done = node.get_clock().now()
    until(node, lambda: Time.from_msg(heard[-1].header.stamp) > done)
    stamps = np.array([m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in heard])
    print(json.dumps({
        'accepted': sent.result().accepted, 'status': answer.result().status,
        'error_code': answer.result().result.error_code, 'messages': len(heard),
        'gaps': [gap for gap in np.diff(stamps).tolist() if gap >= 0.003],
        'moved': (np.array(heard[-1].position) - start).tolist()}))


def serve(node, names, positions):
    """Be an arm that stands, and take one goal."""
    names, positions, taken = json.loads(names), json.loads(positions), []

    def execute(handle):
        taken.append(handle.request.trajectory)
        handle.succeed()
        return FollowJointTrajectory.Result()

    server = ActionServer(node, FollowJointTrajectory, ACTION, execute)
    states = node.create_publisher(JointState, 'joint_states', DEEP)

    def tell():
        rest = [0.0] * len(names)
        message = JointState(name=names, position=positions, velocity=rest, effort=rest)
        message.header.stamp = node.get_clock().now().to_msg()
        states.publish(message)

    node.create_timer(0.005, tell)
    until(node, lambda: taken)
    end = time.monotonic() + 0.5
    until(node, lambda: time.monotonic() > end)
    print(json.dumps({'joints': taken[0].joint_names, 'points': len(taken[0].points)}))
    server.destroy()


if __name__ == '__main__':
    rclpy.init()
    globals()[sys.argv[1]](Node('peer'), *sys.argv[2:])
