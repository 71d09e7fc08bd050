# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A fleet of small arms."""

from fleets import settings_for, small_arm
import pytest


@pytest.fixture(scope='module')
def fleet(tmp_path_factory):
    """Return the settings of a fleet of one small arm."""
    arm, _ = small_arm(tmp_path_factory.mktemp('arm'))
    return settings_for(arm)
