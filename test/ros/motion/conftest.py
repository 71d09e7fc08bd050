# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Tests of nodes that move an arm: a busy processor would stop it."""

from ros.nodes.conftest import domain, start, talker  # noqa: F401 - fixtures
