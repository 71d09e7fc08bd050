# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""From the factors of groups to parameters: weights, friction, possible links, error bars."""
