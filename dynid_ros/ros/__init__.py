# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""ROS 2 nodes, and a stand-in for rclpy on Cyclone DDS."""
