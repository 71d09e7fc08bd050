# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Validation in simulation: an exported model beside the recorded motion, and samples."""
