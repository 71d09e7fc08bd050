"""What a process has ready from which nodes are forked: it takes longer than most tests."""

import re

from dynid_ros.arm import load_arm
from dynid_ros.ros.nodes import (  # noqa: F401
    feedforward,
    identifier,
    monitor,
    recorder,
    simulated_arm,
    trajectory_publisher,
)
from dynid_ros.ros.nodes.warm_up import compile_kernels
from dynid_ros.ros.stand_in.messages import message_class, STORE

#: Messages that every node needs, and the longest of some nodes.
MESSAGES = re.compile(r'rcl_interfaces/srv/.*_Re|control_msgs/action/FollowJointTrajectory_|'
                      r'action_msgs/|rmw_dds_common/|diagnostic_msgs/msg/DiagnosticArray|'
                      r'sensor_msgs/msg/JointState|trajectory_msgs/msg/JointTrajectory$')

compile_kernels(load_arm('two_axis'), print)
for name in filter(MESSAGES.match, list(STORE.fielddefs)):
    message_class(name)
    STORE.get_msgdef(name)
