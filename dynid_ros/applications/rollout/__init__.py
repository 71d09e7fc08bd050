# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Proof in simulation: an exported model that moves as the arm was recorded, and its samples."""
