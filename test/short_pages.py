# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What the pages of the documentation run, made short: what they show is the same."""

from collections.abc import Callable
from functools import partial

from dynid_ros.motion.excitation import search
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation import session

#: Stages of a design: some steps far inside the limits, some right beside them.
STAGES = ((2.0, 1e-2, 6), (20.0, 3e-4, 8))


def shorten(
    change: Callable[[object, str, object], object] = setattr, period: float = 10.0,
) -> None:
    """
    Record one period of the best of few motions, and design in few steps.

    Parameters
    ----------
    change : callable
        Changes an attribute of a module.
    period : float
        Of the motions that a page leaves to the simulation, s.

    """
    change(session, 'random_motion', partial(random_motion, period=period, periods=1, tries=20))
    change(search, 'DESCENT_STAGES', STAGES)
