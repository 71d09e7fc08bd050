# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What a process has ready from which nodes are forked: it takes longer than most tests."""

import gc
import re

from dynid_ros.arm import load_arm
from dynid_ros.ros.nodes import (  # noqa: F401
    feedforward,
    identifier,
    monitor,
    recorder,
    simulated_arm,
    trajectory_publisher,
    wrist_sensor,
)
from dynid_ros.ros.nodes.warm_up import compile_kernels
from dynid_ros.ros.stand_in import dds
from dynid_ros.ros.stand_in.messages import message_class, STORE

#: Types of the topics and services of most nodes.
TYPES = re.compile(
    r'(rcl_interfaces/srv|std_srvs/srv|action_msgs/srv|'
    r'control_msgs/action/FollowJointTrajectory).*'
    r'_Re(quest|sponse)$|rmw_dds_common/msg/|diagnostic_msgs/msg/DiagnosticArray$|'
    r'sensor_msgs/msg/JointState$|geometry_msgs/msg/WrenchStamped$|'
    r'trajectory_msgs/msg/JointTrajectory$|rosgraph_msgs/msg/Clock$|'
    r'control_msgs/(msg/DynamicJointState|action/FollowJointTrajectory_FeedbackMessage)$|'
    r'action_msgs/msg/GoalStatusArray$|std_msgs/msg/(String|Float64MultiArray)$')

compile_kernels(load_arm('two_axis'), print)
for name in filter(TYPES.match, list(STORE.fielddefs)):
    message_class(name)
    STORE.get_msgdef(name)
    # Half of the processor time of a start.
    dds._wire_type(name, name.endswith(('_Request', '_Response'))).__idl__.fill_type_data()
# A search for cycles among all of this would write to its pages, and so copy them for each node.
gc.collect()
gc.freeze()
