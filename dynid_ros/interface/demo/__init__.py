# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The complete chain on a simulated arm, with real nodes."""

from dynid_ros.ros.stand_in import step_in

step_in()
