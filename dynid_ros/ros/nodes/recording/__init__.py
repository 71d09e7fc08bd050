# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Writing of a bag, and quality of its data meanwhile."""
