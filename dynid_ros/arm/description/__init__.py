# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Readers of robot descriptions (URDF, xacro, MJCF, SDF, DH tables) and the kinematic tree."""
