# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Forward kinematics, and pose errors from geometry and joint errors."""
