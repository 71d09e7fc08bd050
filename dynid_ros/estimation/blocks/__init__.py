# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""From conditioned motions to the triangular factors of their rows, by group of the motion."""
