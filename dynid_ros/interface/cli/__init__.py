# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The dynid command."""

import gc

# First of all, before any of the commands brings NumPy in.
import dynid_ros.utilities.freed_memory
import dynid_ros.utilities.threads  # noqa: F401

# Modules make most objects, and none of them is garbage; Python would search them all for it.
gc.set_threshold(100_000)
