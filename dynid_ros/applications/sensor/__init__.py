# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A force-torque sensor at the wrist: the load behind it, its biases, and its compensation."""
