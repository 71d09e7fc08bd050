# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Limits, torque and clearance of a motion, verified at all times."""
