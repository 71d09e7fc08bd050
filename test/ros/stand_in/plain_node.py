# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A plain rclpy node that tells what it got from the words after --ros-args, for each case."""

import json
import sys

import rclpy
from rclpy.node import Node

TOPICS, CASES = json.loads(sys.argv[1])
#: What rclpy declares by itself.
OWN = ('use_sim_time', 'start_type_description_service')

for words in CASES:
    rclpy.init(args=['--ros-args', *words.split()])
    node = Node('talker', automatically_declare_parameters_from_overrides=True)
    names = [name for name in node.list_parameters([], 0).names if name not in OWN]
    values = {name: repr(node.get_parameter(name).value) for name in names}
    print(json.dumps([
        node.get_fully_qualified_name(), [node.resolve_topic_name(t) for t in TOPICS], values]))
    node.destroy_node()
    rclpy.shutdown()
