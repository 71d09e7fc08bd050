# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Pages for a browser: reports, 3D views, and the live page of running nodes."""
