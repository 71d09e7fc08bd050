"""
How often stated 95 % intervals hold the truth, over repeated recordings with coloured noise.

    python benchmarks/coverage.py

Each recording is the exact torque of a shipped arm on a random motion, plus first-order coloured
noise of 3 % of each joint's torque; each goes through the whole of `identify`. The table shows how
many of all base-parameter intervals hold their true value, with the stated standard deviations
(Newey and West) and as if residuals were white.
"""

from __future__ import annotations

import dynid_ros.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from dataclasses import replace

import numpy as np
from scipy.signal import lfilter

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.excitation.random_motion import random_motion
from dynid_ros.identification.identify import identify
from dynid_ros.recordings.recording import Recording

RATE = 125.0
REPETITIONS = 40
NOISE = 0.03
SETTLE = 500
CASES = (('ur10', 12, 0.98), ('ur10', 20, 0.98), ('ur10', 60, 0.98),
         ('panda', 16, 0.95), ('panda', 25, 0.95), ('panda', 60, 0.98))


def coverage(name: str, seconds: float, correlation: float) -> tuple[float, float, int]:
    """Share of intervals that hold, stated and white, %, and samples after decimation."""
    arm = load_arm(name)
    arm = replace(arm, conditioning=replace(arm.conditioning, delay=0.0))
    t = np.arange(int(seconds * RATE)) / RATE
    q, qd, qdd = random_motion(arm, 3, tries=50).evaluate(t + 1.0)
    theta = nominal_parameters(arm)
    tau = regressor(arm, q, qd, qdd) @ theta
    truth = base_parameters(arm).grouping @ theta
    rng = np.random.default_rng(0)
    stated, white = [], []
    for _ in range(REPETITIONS):
        noise = lfilter([1], [1, -correlation], rng.normal(size=(len(t) + SETTLE, arm.n)), axis=0)
        noise *= np.sqrt(1 - correlation**2) * NOISE * tau.std(axis=0)
        log = Recording(t, q, tau + noise[SETTLE:], arm.joint_names, 'effort', 'simulated')
        result = identify(arm, [log], friction=arm.friction, holdout=0)
        error = np.abs(result.theta - truth)
        stated.append(error < 1.96 * result.std)
        white.append(error < 1.96 * result.std_white)
    return 100 * float(np.mean(stated)), 100 * float(np.mean(white)), result.fit.samples


def main() -> None:
    """Print a Markdown table."""
    print('| arm | seconds | noise correlation at 125 Hz | samples | stated | as if white |')
    print('|---|---|---|---|---|---|')
    for name, seconds, correlation in CASES:
        stated, white, samples = coverage(name, seconds, correlation)
        print(f'| {name} | {seconds} | {correlation} | {samples} '
              f'| {stated:.0f} % | {white:.0f} % |')


if __name__ == '__main__':
    main()
