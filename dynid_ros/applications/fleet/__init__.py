# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Many recordings: one model, which arm has changed, and which bags do not belong."""
