# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Evidence on poor fits: clipped, copied and dissipative signals, and outliers."""
