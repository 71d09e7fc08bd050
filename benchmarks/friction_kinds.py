"""
How well friction by shrinkage finds the friction that was planted.

    python benchmarks/friction_kinds.py [--count 20] [--plain 40]

Each recording is the exact torque of a shipped arm on a random motion of its own, with friction of
one kind whose size is a sixth of each joint's torque, and first-order coloured noise of 2 %. The
table shows how many results have plain friction exactly, and how many have all planted terms;
how many 95 % intervals of the inertial parameters hold the truth; and the held-out error of the
result, with the planted terms, and with plain friction. Joints that warm up do so in the first
seconds of a steady motion; in a second row they rest after each period for as long again, in
recordings of twice the length.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from dataclasses import dataclass, field, replace

from accuracy import held_out
import numpy as np
from scipy.signal import lfilter

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.arm.friction import PLAIN, TERMS
from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.prediction import torque_rows
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.fourier import FourierMotion

ARMS = ('ur10', 'panda')
SECONDS, RATE, CUTOFF = 60.0, 125.0, 5.0
PERIOD = 10.0
NOISE, MEMORY, SETTLE = 0.02, 0.9, 500
SIZE = 1 / 6
WITH_RESTS = 'with rests'
WARM = {'viscous': 1.0, 'coulomb_smooth': 0.7, 'offset': 0.3, 'viscous_warm': -0.6}
#: Coefficients by the planted level of friction. Load friction takes up that share of the load.
KINDS: dict[str, dict[str, float]] = {
    'viscous': {'viscous': 1.0, 'offset': 0.3},
    'stribeck': {'viscous': 0.5, 'coulomb_smooth': 0.7, 'offset': 0.3, 'stribeck': 0.7},
    'cube root': {'viscous': 0.3, 'offset': 0.3, 'viscous_cuberoot': 1.0},
    'load': {'viscous': 0.5, 'coulomb_smooth': 0.7, 'offset': 0.3, 'load': 0.3},
    'curve': {'viscous': 0.3, 'sign_10': 1.0, 'coulomb_smooth': 0.8, 'sign_100': -1.6,
              'sign_1000': 1.0, 'offset': 0.3},
    'warm': WARM,
    f'warm, {WITH_RESTS}': WARM,
    'presliding': {'viscous': 0.5, 'coulomb_smooth': 0.4, 'offset': 0.3, 'presliding': 0.6},
}
PLAIN_KIND = {'viscous': 0.5, 'coulomb': 0.7, 'offset': 0.3}


@dataclass
class Found:
    """Results, and how good they are."""

    plain: int = 0
    complete: int = 0
    holds: list[np.ndarray] = field(default_factory=list)
    errors: list[list[float]] = field(default_factory=list)

    def add(self, wanted: dict[str, float], log: Recording, truth: dict[str, float],
            arm: ArmModel) -> None:
        """Identify a recording, and compare."""
        result = identify(arm, [log])
        terms, planted = set(result.arm.friction), set(wanted)
        self.plain += result.arm.friction == PLAIN
        self.complete += planted <= terms
        symbols = {TERMS[term].symbol for term in terms}
        rigid = [k for k, name in enumerate(base_parameters(result.arm).names)
                 if name.rstrip('0123456789') not in symbols]
        names = base_parameters(result.arm).names
        error = np.array([abs(result.theta[k] - truth[names[k]]) for k in rigid])
        self.holds.append(error < 1.96 * result.std[rigid])
        self.errors.append([held_out(model) for model in (
            result, identify(arm, [log], friction=tuple(wanted)),
            identify(arm, [log], friction=PLAIN))])


def planted(
    name: str, kind: dict[str, float], seed: int, rests: bool,
) -> tuple[ArmModel, Recording, dict[str, float]]:
    """Make a recording, and the base parameters by name."""
    arm = load_arm(name)
    settings = replace(arm.conditioning, cutoff_hz=CUTOFF, delay=0.0)
    arm = replace(arm, friction=tuple(kind), conditioning=settings)
    t = np.arange(int((1 + rests) * SECONDS * RATE)) / RATE
    motion = random_motion(arm, seed, period=PERIOD, tries=20, periods=20)
    q, qd, qdd = _with_rests(motion, t) if rests else motion.evaluate(t + 1.0)
    standard = nominal_parameters(arm)
    columns = {term: arm.layout.friction_columns(TERMS[term].symbol) for term in kind}
    for places in columns.values():
        standard[places] = 0.0
    rigid = _torque(arm, standard, t, q, qd, qdd)
    for term, size in kind.items():
        standard[columns[term]] = size * (
            1.0 if term == 'load' else SIZE * rigid.std(axis=0))
    tau = _torque(arm, standard, t, q, qd, qdd)
    rng = np.random.default_rng(seed)
    noise = lfilter([1], [1, -MEMORY], rng.normal(size=(len(t) + SETTLE, arm.n)), axis=0)
    noise *= np.sqrt(1 - MEMORY**2) * NOISE * tau.std(axis=0)
    log = Recording(t, q, tau + noise[SETTLE:], arm.joint_names, 'effort', f'{name} {seed}')
    base = base_parameters(arm)
    return arm, log, dict(zip(base.names, base.grouping @ standard, strict=True))


def _with_rests(motion: FourierMotion, t: np.ndarray) -> tuple[np.ndarray, ...]:
    """Rest the arm after each period, where it stands still anyway, for as long again."""
    lap, within = np.divmod(t, 2 * PERIOD)
    q, qd, qdd = motion.evaluate(lap * PERIOD + np.minimum(within, PERIOD))
    moves = (within < PERIOD)[:, None]
    return q, moves * qd, moves * qdd


def _torque(
    arm: ArmModel, standard: np.ndarray, t: np.ndarray, q: np.ndarray, qd: np.ndarray,
    qdd: np.ndarray,
) -> np.ndarray:
    theta = base_parameters(arm).grouping @ standard
    history = history_of(t, q)
    return np.concatenate([Y @ theta for _, Y in torque_rows(arm, theta, q, qd, qdd, history)])


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--count', type=int, default=20)
    parser.add_argument('--plain', type=int, default=40)
    args = parser.parse_args()
    print('| planted | arm | recordings | plain | with all planted terms | intervals that hold | '
          'held-out error | with the planted terms | with plain friction |')
    print('|---' * 9 + '|')
    cases = [('plain', PLAIN_KIND, args.plain // len(ARMS)),
             *((name, kind, args.count // len(ARMS)) for name, kind in KINDS.items())]
    for label, kind, count in cases:
        for name in ARMS:
            found = Found()
            for seed in range(count):
                arm, log, truth = planted(name, kind, seed, WITH_RESTS in label)
                found.add(kind, log, truth, arm)
            errors = ' | '.join(f'{error:.2f} %' for error in np.mean(found.errors, axis=0))
            print(f'| {label} | {name} | {count} | {found.plain} | {found.complete} | '
                  f'{100 * np.mean(np.concatenate(found.holds)):.0f} % | {errors} |', flush=True)


if __name__ == '__main__':
    main()
