# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""How the recorder writes a bag, and judges the data meanwhile."""
