# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
How often stated 95 % intervals hold the truth, over repeated recordings with coloured noise.

    python benchmarks/interval_coverage.py

Each recording is the exact torque of a shipped arm on a random motion, plus first-order coloured
noise of 3 % of each joint's torque; each goes through the whole of `identify`. The first table
shows how many of all base-parameter intervals hold their true value, with the stated standard
deviations (jackknife over groups) and as if residuals were white.

In the second table the last joints hardly move, so that a third of the parameters is barely
excited, and the true links differ from the stated ones: by half a mass, a tenth of a length and
half an inertia (standard deviations). It has the intervals of parameters that are the data's and
of those that remain the prior's, and the narrowest of all, relative to the prior's.

The third table plants friction that no term has into recordings of 60 s with plain friction.
Chosen friction is fitted to the first two thirds; shown are the error of the fit, intervals of
the inertial parameters that hold, and the samples of the rest within the bands of the predicted
torque, in the mean of the joints and in the worst one.

- hysteresis: a contact as of `presliding`, which bends over 0.1 rad instead of 0.01
- ripple: Coulomb friction that changes by half, eight times a turn
- backlash: positions are of motors, which lead the links by 1 mrad on the side of the torque

Hysteresis has 3 or 10 % of the standard deviation of the torque of each joint, and ripple 5.8 %,
which is half of the planted Coulomb friction.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from prediction_bands import held_out
from shared.noise import coloured
from shared.other_arms import other_links
from shared.recordings import in_two
from shared.tables import heading, row

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import PRESLIDING_DISTANCE, TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.history import presliding_of
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.random_motion import random_motion

RATE = 125.0
REPETITIONS = 40
NOISE = 0.03
#: Number of last joints that hardly move in the second table, and their motion relative to others.
WEAK, SMALL = 3, 0.02
CASES = (('ur10', 12, 0.98), ('ur10', 20, 0.98), ('ur10', 60, 0.98),
         ('panda', 16, 0.95), ('panda', 25, 0.95), ('panda', 60, 0.98))

#: Distance of hysteresis, rad; ripples a turn, and their share of Coulomb friction; how far motors
#: lead links on either side, rad.
BEND, RIPPLES, RIPPLE, LEAD = 0.1, 8, 0.5, 1e-3
#: Recordings for each planted friction, and held-out share.
RECORDINGS, REST = 6, 1 / 3
#: Plain friction of these, by the standard deviation of each joint's torque, its share of that,
#: and their length, s, low-pass, Hz, and noise, with its correlation.
PLAIN, SIZE = {'viscous': 0.5, 'coulomb': 0.7, 'offset': 0.3}, 1 / 6
SECONDS, LOW_PASS, OWN_NOISE, MEMORY = 60.0, 5.0, 0.02, 0.9


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
        noise = NOISE * tau.std(axis=0) * coloured(rng, tau.shape, correlation)
        log = Recording(t, q, tau + noise, arm.joint_names, 'effort', 'simulated')
        result = identify(arm, [log], friction=arm.friction, holdout=0)
        error = np.abs(result.theta - truth)
        stated.append(error < 1.96 * result.std)
        white.append(error < 1.96 * result.std_white)
    return 100 * float(np.mean(stated)), 100 * float(np.mean(white)), result.fit.samples


def weakly_excited(name: str, seconds: float, correlation: float) -> tuple[float, ...]:
    """
    Identify arms whose last joints hardly move.

    Returns
    -------
    tuple of float
        Share of valid intervals of the data's parameters, the same of the prior's, and share of
        the latter among all, %; narrowest interval, relative to the prior's.

    """
    stated = load_arm(name)
    stated = replace(stated, conditioning=replace(stated.conditioning, delay=0.0))
    t = np.arange(int(seconds * RATE)) / RATE
    q, qd, qdd = random_motion(stated, 3, tries=50).evaluate(t + 1.0)
    small = np.where(np.arange(stated.n) < stated.n - WEAK, 1.0, SMALL)
    q = q.mean(axis=0) + small * (q - q.mean(axis=0))
    rng = np.random.default_rng(0)
    holds: dict[bool, list[bool]] = {True: [], False: []}
    narrowest = np.inf
    for _ in range(REPETITIONS):
        arm = other_links(stated, rng)
        theta = nominal_parameters(arm)
        tau = regressor(arm, q, small * qd, small * qdd) @ theta
        noise = NOISE * np.abs(tau).max() * coloured(rng, tau.shape, correlation)
        log = Recording(t, q, tau + noise, arm.joint_names, 'effort', 'simulated')
        result = identify(stated, [log], friction=stated.friction, holdout=0)
        inside = np.abs(result.theta - base_parameters(arm).grouping @ theta) < 1.96 * result.std
        for own, hold in zip(result.from_data.tolist(), inside.tolist(), strict=True):
            holds[own].append(hold)
        before = np.sqrt(np.diag(result.prior.covariance))
        narrowest = min(narrowest, float((result.std / before).min()))
    total = len(holds[True]) + len(holds[False])
    return (100 * float(np.mean(holds[True])), 100 * float(np.mean(holds[False] or [np.nan])),
            100 * len(holds[False]) / total, narrowest)


def with_plain_friction(name: str, seed: int) -> tuple[ArmModel, Recording, dict[str, float]]:
    """Record an arm with plain friction on a random motion; its base parameters by name."""
    arm = load_arm(name)
    settings = replace(arm.conditioning, cutoff_hz=LOW_PASS, delay=0.0)
    arm = replace(arm, friction=tuple(PLAIN), conditioning=settings)
    t = np.arange(int(SECONDS * RATE)) / RATE
    q, qd, qdd = random_motion(arm, seed, period=10.0, tries=20, periods=20).evaluate(t + 1.0)
    base, theta = base_parameters(arm), nominal_parameters(arm)
    W = regressor(arm, q, qd, qdd)[:, :, base.columns] @ base.grouping
    columns = {term: arm.layout.friction_columns(TERMS[term].symbol) for term in PLAIN}
    theta[np.concatenate(list(columns.values()))] = 0.0
    spread = (W @ theta).std(axis=0)
    for term, size in PLAIN.items():
        theta[columns[term]] = size * SIZE * spread
    tau = W @ theta
    noise = coloured(np.random.default_rng(seed), tau.shape, MEMORY)
    log = Recording(t, q, tau + OWN_NOISE * tau.std(axis=0) * noise, arm.joint_names, 'effort',
                    f'{name} {seed}')
    return arm, log, dict(zip(base.names, base.grouping @ theta, strict=True))


def hysteresis(log: Recording, torque: np.ndarray) -> Recording:
    """Add friction that follows each reversal over a distance, as large as a torque."""
    bend = presliding_of(log.q * PRESLIDING_DISTANCE / BEND)
    return replace(log, u=log.u + torque * bend)


def ripple(log: Recording, torque: np.ndarray) -> Recording:
    """Add friction that depends on the angle of the joint."""
    level = RIPPLE * PLAIN['coulomb'] * SIZE * torque * np.sin(RIPPLES * log.q)
    return replace(log, u=log.u + level * np.sign(np.gradient(log.q, axis=0)))


def backlash(log: Recording, torque: np.ndarray) -> Recording:
    """Make motors lead links; they change sides within a twentieth of the torque."""
    return replace(log, q=log.q + LEAD * np.tanh(log.u / (0.05 * torque)))


EFFECTS: dict[str, Callable[[Recording, np.ndarray], Recording]] = {
    'nothing': lambda log, _: log,
    'hysteresis, 3 %': lambda log, torque: hysteresis(log, 0.03 * torque),
    'hysteresis, 10 %': lambda log, torque: hysteresis(log, 0.1 * torque),
    'ripple': ripple, 'backlash': backlash}


def unmodelled(name: str, effect: str) -> tuple[float, ...]:
    """Error, share of intervals that hold, of samples within bands, and in the worst joint, %."""
    errors, holds, within = [], [], []
    for seed in range(RECORDINGS):
        arm, log, truth = with_plain_friction(name, seed)
        first, rest = in_two(EFFECTS[effect](log, log.u.std(axis=0)), REST)
        result = identify(arm, [first], holdout=0)
        true = [truth.get(name, 0.0) for name in base_parameters(result.arm).names]
        holding = np.abs(result.theta - true) < 1.96 * result.std
        errors.append(result.fit.relative_error_percent)
        holds.append(np.delete(holding, friction_places(result.arm)))
        within.append(held_out(result, rest)[0])
    return (float(np.mean(errors)), 100 * float(np.mean(np.concatenate(holds))),
            float(np.mean(within)), float(np.mean(within, axis=0).min()))


def main() -> None:
    """Print three Markdown tables."""
    heading('arm', 'seconds', 'noise correlation at 125 Hz', 'samples', 'stated', 'as if white')
    for name, seconds, correlation in CASES:
        stated, white, samples = coverage(name, seconds, correlation)
        row(name, seconds, correlation, samples, f'{stated:.0f} %', f'{white:.0f} %')
    print()
    heading('arm', 'seconds', 'from the data', 'from the prior', 'share of the prior', 'narrowest')
    for name, seconds, correlation in CASES:
        *shares, narrowest = weakly_excited(name, seconds, correlation)
        row(name, seconds, *(f'{share:.0f} %' for share in shares), f'{narrowest:.1e}')
    print()
    heading('planted', 'arm', 'error', 'intervals that hold', 'within bands', 'worst joint')
    for effect in EFFECTS:
        for name in ('ur10', 'panda'):
            error, *shares = unmodelled(name, effect)
            row(effect, name, f'{error:.2f} %', *(f'{share:.0f} %' for share in shares))


if __name__ == '__main__':
    main()
