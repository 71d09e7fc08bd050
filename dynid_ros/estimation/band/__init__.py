# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Cut-off and delay of recordings, chosen by cross-validation."""
