# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The hash of recordings depends on their values alone."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.estimation.blocks.preparation import data_hash
from dynid_ros.motion.excitation.random_motion import random_motion


@pytest.mark.parametrize('order', ['C', 'F'])
def test_the_order_in_memory_does_not_change_the_hash(order):
    """Columns that a user picks from a table lie one after another in memory."""
    arm = load_arm('two_axis')
    log = followed(arm, random_motion(arm, 0, tries=1, periods=1), 50.0)
    u = log.u + np.arange(2)
    other = replace(log, q=np.array(log.q, order=order), u=np.array(u, order=order))
    assert data_hash([other]) == data_hash([replace(log, q=log.q.copy(), u=u)])
    assert data_hash([other]) != data_hash([log])
