# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Time of the simulated arm, real or in lockstep, and its trajectories."""
