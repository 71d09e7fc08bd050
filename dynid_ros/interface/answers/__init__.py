# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answers: a line, a table, notes and facts, for terminals, notebooks and scripts."""
