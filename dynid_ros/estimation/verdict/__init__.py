# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The rules of a verdict: findings, their cause and their severity."""
