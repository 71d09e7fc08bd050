# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Limits of drive signals where joints move."""

import numpy as np
import pytest

from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.diagnosis.clipped_signals import clip_levels

LIMIT = 6.0


@pytest.mark.parametrize('fast_first', [True, False])
def test_a_joint_that_creeps_under_a_constant_torque_is_not_clipped(fast_first):
    """Speeds count relative to the fastest of all, in whichever part of a long recording."""
    t = np.arange(-15_000, 15_000) / 1000.0
    creeping = (t < 0) != fast_first
    q = np.where(creeping, 1e-3 * t, np.sin(2 * t))[:, None]
    u = np.where(creeping, 10.0, 9.0 * np.cos(3 * t))[:, None]
    # The speed of a sample is that between its neighbours.
    u[np.abs(t) < 0.01] = 0.0
    log = Recording(t, q, u, ('j1',), 'effort', 'log')
    assert clip_levels([log]).highest == [np.inf]
    u[~creeping] = np.minimum(u[~creeping], LIMIT)
    assert clip_levels([Recording(t, q, u, ('j1',), 'effort', 'log')]).highest == [LIMIT]
