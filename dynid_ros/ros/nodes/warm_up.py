# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Compile or load all kernels of a stream, before the first message waits for them."""

from __future__ import annotations

from collections.abc import Callable
import sys
import time

import numpy as np

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import DynidError
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.utilities.compiled import NOTICE
from dynid_ros.utilities.progress import listening

SMALLEST_ARM, RATE_HZ = 'two_axis', 200.0
#: Length of the samples, s, which covers each kernel of a stream, a search of cut-off and delay,
#: and a verdict whose error bars do not end its search.
BRIEF, SHORT_SECONDS, LONG_SECONDS = 2.0, 4.0, 40.0


def load_stream_kernels(
    arm: ArmModel, say: Callable[[str], None], *more: Callable[[], object],
) -> None:
    """
    Load all kernels of a stream by identifying an arm from made-up samples.

    The search for a cut-off is that of the smallest arm, which needs the same kernels. Where
    kernels have to be compiled, the verdict is compiled, too: a judge that compiles beside the
    stream would delay a save.

    Parameters
    ----------
    arm : ArmModel
        The arm of the stream.
    say : callable
        Takes a notice if anything has to be compiled.
    *more : callable
        Load further kernels.

    """
    compiled: list[str] = []

    def hear(stage: str, _: float) -> None:
        if stage == NOTICE and not compiled:
            compiled.append(stage)
            say(stage)

    with listening(hear):
        for load in more:
            load()
        _made_up(arm, BRIEF, cutoff_hz=RATE_HZ / 20).estimate()
        _made_up(load_arm(SMALLEST_ARM), SHORT_SECONDS).flush()
        if compiled:
            load_verdict()


def compile_kernels(arm: ArmModel, say: Callable[[str], None]) -> None:
    """Load the kernels of a stream and of a simulation."""
    from dynid_ros.simulation.live import LiveArm
    from dynid_ros.simulation.plausible_drive import with_plausible_drives

    load_stream_kernels(
        arm, say, lambda: LiveArm(with_plausible_drives(arm)[0], planning_limits(arm).middle))


def _made_up(
    arm: ArmModel, seconds: float, cutoff_hz: float | None = None,
) -> OnlineIdentifier:
    """Return a session with a drive signal without physics: friction drives the arm."""
    online = OnlineIdentifier(arm, 'warm-up', cutoff_hz=cutoff_hz)
    t = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    w = np.linspace(1.0, 2.0, arm.n)
    q, qd = np.sin(w * t[:, None]), w * np.cos(w * t[:, None])
    online.push(t, q, np.cos(q) - 0.1 * qd)
    return online


def load_verdict() -> None:
    """Judge a session of the smallest arm, whose fault makes it try all causes."""
    from dynid_ros.estimation.online.live_verdict import Judge

    judge = Judge(_made_up(load_arm(SMALLEST_ARM), LONG_SECONDS), lambda model: model.arm.name)
    while judge.update() is None:
        time.sleep(0.01)
    judge.stop()


def main(arm: str) -> int:
    """Compile for an arm; return the exit status."""
    try:
        compile_kernels(load_arm(arm), lambda text: print(f'dynid: {text}', flush=True))
    except DynidError as error:
        print(f'dynid: {error}', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    raise SystemExit(main(sys.argv[1]))
