# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An identified arm that all tests of rollouts share."""

from estimates import without_suspects
from planted import heavier, recorded, truth
import pytest

from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.estimation.identification.identify import identify


@pytest.fixture(scope='session')
def arm():
    return truth()


@pytest.fixture(scope='session')
def model(arm):
    """Model of an arm whose description states links that are too heavy."""
    with without_suspects():
        return identify(
            heavier(arm), [recorded(arm, 1, noise=1.0)], friction=PLAIN_TERMS, holdout=0)
