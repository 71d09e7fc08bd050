# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""How many states wait for a busy node."""

import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dynid_ros.ros.nodes.common.qos import NEWEST
from dynid_ros.ros.nodes.common.state_subscription import StateSubscription
from dynid_ros.ros.stand_in import active


def test_who_controls_gets_the_newest_state_and_who_learns_gets_all(talker):
    busy = Node('busy')
    control, learn = [], []
    # Another node of this process, which is not busy, has what the busy one has.
    come = talker.listen(JointState, 'joint_states', 1000)
    StateSubscription(busy, JointState, 'joint_states', control.append, NEWEST)
    StateSubscription(busy, JointState, 'joint_states', learn.append)
    publisher = talker.states()
    talker.until(lambda: publisher.get_subscription_count() == 3, 'all subscriptions')
    for k in range(200):
        publisher.publish(JointState(position=[float(k)]))
    talker.until(lambda: len(come) == 200, 'all states')

    turns = []

    def all_learned():
        rclpy.spin_once(busy, timeout_sec=0.01)
        turns.append(len(learn))
        return len(learn) == 200

    talker.until(all_learned, 'all states')
    # rclpy takes longer for a turn than the node for a state.
    assert active() or len(set(turns)) < 10
    assert [message.position[0] for message in control] == [199.0]
    busy.destroy_node()
