"""Compile or load all that a stream needs, before the first message waits for it."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.estimation.session import Session

RATE_HZ = 200.0
SECONDS = 10.0


def warm_up(arm: ArmModel) -> None:
    """Identify the arm from made-up samples, and forget them."""
    session = Session(arm, 'warm-up')
    t = np.arange(int(SECONDS * RATE_HZ)) / RATE_HZ
    q = np.sin(t[:, None] * np.linspace(1.0, 2.0, arm.n))
    session.push(np.rint(t * 1e9).astype(np.int64), q, q)
    session.estimate()
