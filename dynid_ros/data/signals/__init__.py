# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Filters, derivatives and decimation of complete recordings."""
