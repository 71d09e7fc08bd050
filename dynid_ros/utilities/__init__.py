# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Arrays, compiled kernels, threads and complete files, for every wing."""
