# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Uses of a model: payload, contact, fleets, export."""
