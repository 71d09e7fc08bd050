"""Compile or load all kernels of a stream, before the first message waits for them."""

from __future__ import annotations

from collections.abc import Callable
import sys

import numpy as np

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import DynidError
from dynid_ros.feasibility.planning_limits import planning_limits
from dynid_ros.first_compilation import announced
from dynid_ros.online.online_identifier import OnlineIdentifier

RATE_HZ = 200.0
SECONDS = 10.0


def warm_up(arm: ArmModel) -> None:
    """Identify the arm from made-up samples, and forget them."""
    online = OnlineIdentifier(arm, 'warm-up')
    t = np.arange(int(SECONDS * RATE_HZ)) / RATE_HZ
    q = np.sin(t[:, None] * np.linspace(1.0, 2.0, arm.n))
    online.push(np.rint(t * 1e9).astype(np.int64), q, q)
    online.estimate()


def compile_kernels(arm: ArmModel, say: Callable[[str], None]) -> None:
    """
    Compile the kernels of a simulation, before several processes do so at once.

    Parameters
    ----------
    arm : ArmModel
        The arm that will be simulated.
    say : callable
        Takes a notice if anything has to be compiled.

    """
    from dynid_ros.simulation.live import LiveArm

    with announced(say):
        warm_up(arm)
        LiveArm(arm, planning_limits(arm).middle)


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
