# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The dynid command."""

# First of all, before any of the commands brings NumPy in.
import dynid_ros.utilities.freed_memory
import dynid_ros.utilities.threads  # noqa: F401
