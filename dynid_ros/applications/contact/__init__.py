# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Contact of the arm with its surroundings: external torque and the wrench behind it."""
