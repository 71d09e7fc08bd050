# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""One table of suspects: faults of the data or of the arm, by one score and one decision."""
