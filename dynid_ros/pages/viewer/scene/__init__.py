# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The 3D scene: an arm, its surroundings, and its track."""
