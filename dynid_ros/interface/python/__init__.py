# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The functions of ``import dynid_ros``, which take names, paths or objects."""
