# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""One page application in 3D, on viser: of a file, or of running nodes."""
