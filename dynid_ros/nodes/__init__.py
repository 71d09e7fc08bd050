"""ROS 2 nodes: they convert messages and call the core."""

import dynid_ros.threads  # noqa: F401 (before anything imports NumPy)
