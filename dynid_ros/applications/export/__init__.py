# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An identified model in the formats of others: URDF, MJCF, a table, a Python file."""
