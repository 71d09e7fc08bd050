# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Start, subscriptions and simulated time, shared by several nodes."""
