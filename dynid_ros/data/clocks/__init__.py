# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Clocks of samples, by the smoothness of the motion."""
