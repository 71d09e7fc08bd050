# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A recursion without a stream."""

import numpy as np


def update(estimator, W, tau, moving=None):
    """Predict rows, learn from all that are no outliers, and return the innovations."""
    moving = np.ones(tau.shape, dtype=np.bool_) if moving is None else moving
    e, wild, _ = estimator.predict(W, tau, moving)
    estimator.learn(W, tau, moving & ~wild)
    return e
