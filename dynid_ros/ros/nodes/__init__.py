# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""ROS 2 nodes: they convert messages and call the core."""

from dynid_ros.ros.stand_in import step_in
import dynid_ros.utilities.threads  # noqa: F401 (before anything imports NumPy)

step_in()
