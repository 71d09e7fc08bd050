"""Tests of nodes that move an arm: a busy processor would stop it."""

from ros.nodes.conftest import domain, start, talker  # noqa: F401 - fixtures
