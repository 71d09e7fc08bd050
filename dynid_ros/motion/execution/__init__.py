# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Running a motion: its phases, the control law and the safety monitor."""
