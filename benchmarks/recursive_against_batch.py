# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
When the recursive estimate is as good as the batch, and how wide its error bars are beside.

    python benchmarks/recursive_against_batch.py FOLDER docs/figures/recursive_against_batch.svg

FOLDER is that of shared/recordings.py. The first table and the picture: `dynid replay` and the
batch fit the first two thirds of a recording with the cut-off and the delay that these ask for;
after every portion of them the recursive estimate predicts the last third.

The second table: a replay starts from the batch result of the same recording. Shown are its
standard deviations relative to the batch, median and range over the parameters, and the errors of
both on the last third, where the rest was fitted. The third table has the same ratio for simulated
recordings with coloured noise of a twentieth of the torque, median and range over ten noises: each
of the two standard deviations comes from ten groups, the one of time, the other of phases of the
motion. Exits with 1 if a replay of the first table ends above 1.03 times the error of the batch.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from dataclasses import replace
from itertools import product
from pathlib import Path
import sys

from matplotlib.figure import Figure
import numpy as np
from shared.noise import coloured
from shared.pictures import save
from shared.recordings import below, in_two, recordings
from shared.tables import heading, row

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import condition_recordings
from dynid_ros.estimation.estimate.weights import fit
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import metrics
from dynid_ros.estimation.online.replay import replay
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate
from dynid_ros.simulation.sensors import drive_signal
from dynid_ros.utilities.arrays import Array

REST = 1 / 3
ALLOWED = 1.03
CUTOFFS = (3.0, 5.0)
#: Arm, rate, Hz, and periods of the motion.
SIMULATED = (('two_axis', 250.0, 3), ('ur10', 125.0, 2), ('panda', 125.0, 2))
#: Noise by the standard deviation of the torque, its correlation from sample to sample, and how
#: many of it.
NOISE, CORRELATION, NOISES = 0.05, 0.95, 10

#: Times (k,), s, the held-out error of the recursive estimate then (k,), and that of the batch, %.
Course = tuple[Array, Array, float]


def kept(arm: ArmModel, log: Recording, treatment: ConditioningSettings) -> KeptRows:
    """Return the rows of a recording."""
    return KeptRows(arm, condition_recordings(arm, [log], treatment), treatment)


def error(arm: ArmModel, rows: KeptRows, theta: Array) -> float:
    """Return the relative error of a prediction, %."""
    parts = rows.predict(arm, theta, arm.name, True)
    return metrics(arm.joint_names, parts).relative_error_percent


def course(
    arm: ArmModel, train: Recording, unseen: Recording, treatment: ConditioningSettings,
) -> Course:
    """Estimate from a part of a recording, and predict the rest."""
    held_out = kept(arm, unseen, treatment)
    _, history = replay(
        arm, train, cutoff_hz=treatment.cutoff_hz, delay=treatment.delay)
    batch = fit(arm, kept(arm, train, treatment)).theta
    return (history.t, np.array([error(arm, held_out, theta) for theta in history.theta]),
            error(arm, held_out, batch))


def started(arm: ArmModel, log: Recording, friction: tuple[str, ...] | None) -> tuple[
        IdentifiedModel, IdentifiedModel]:
    """Return the batch result of a recording, and that of a replay that starts from it."""
    batch = identify(arm, [log], friction=friction, holdout=0.0)
    return batch, replay(batch.arm, log, start=batch)[0]


def simulated(name: str, rate_hz: float, periods: int) -> list[float]:
    """Return the median ratio of standard deviations, replay by batch, for each noise."""
    arm = below(load_arm(name), CUTOFFS[-1])
    plain = simulate(arm, random_motion(arm, 3, periods=periods), rate_hz=rate_hz, seed=1)
    size, ratios = NOISE * plain.truth.tau.std(axis=0), []
    for seed in range(NOISES):
        noise = size * coloured(np.random.default_rng(seed), plain.log.u.shape, CORRELATION)
        log = replace(plain.log, u=plain.log.u + drive_signal(noise, 0 * noise, arm.drive))
        batch, live = started(arm, log, arm.friction)
        ratios.append(float(np.median(live.std / batch.std)))
    return ratios


def held_out(arm: ArmModel, log: Recording) -> tuple[float, ...]:
    """Return the errors on the last third, of the batch and of a replay that starts from it, %."""
    train, unseen = in_two(log, REST)
    batch, live = started(arm, train, None)
    rows = kept(batch.arm, unseen, batch.treatment)
    return tuple(error(batch.arm, rows, theta) for theta in (batch.theta, live.theta))


def draw(path: Path, courses: dict[str, Course]) -> None:
    """Draw the errors over time."""
    figure = Figure(figsize=(4.5 * len(courses), 3.2), layout='constrained')
    every = np.atleast_1d(figure.subplots(1, len(courses)))
    for axes, (name, (t, errors, batch)) in zip(every, courses.items(), strict=True):
        axes.semilogy(t, errors, label='recursive')
        axes.axhline(batch, color='black', linestyle='--', linewidth=0.8, label='batch')
        axes.set(title=name, xlabel='fitted time, s', ylabel='error on the last third, %',
                 ylim=(batch / 2, 200))
        axes.grid(alpha=0.3)
        axes.legend()
    save(figure, path)


def main(folder: Path, picture: Path) -> int:
    """Print the tables, and draw the errors over time."""
    real, courses, good = list(recordings(folder)), dict[str, Course](), True
    heading('arm', 'below', 'batch', 'recursive', 'ratio', f'at most {ALLOWED} since', 'of')
    for name, arm, log, _ in real[:2]:
        train, unseen = in_two(log, REST)
        treatment = choose_conditioning(arm, [train])
        t, errors, batch = courses[name] = course(arm, train, unseen, treatment)
        late = np.flatnonzero(errors > ALLOWED * batch)
        last = late[-1] + 1 if len(late) else 0
        since = f'{t[last]:.1f} s' if last < len(t) else 'never'
        row(name, f'{treatment.cutoff_hz:.3g} Hz', f'{batch:.3f} %', f'{errors[-1]:.3f} %',
            f'{errors[-1] / batch:.3f}', since, f'{t[-1]:.1f} s')
        good &= last < len(t)
    draw(picture, courses)
    print()
    heading('arm', 'below', 'parameters', 'standard deviation by batch', 'batch', 'recursive')
    for (name, arm, log, _), cutoff in product(real, CUTOFFS):
        model, live = started(below(arm, cutoff), log, None)
        ratio = live.std / model.std
        row(name, f'{cutoff:g} Hz', len(ratio),
            f'{np.median(ratio):.2f} ({ratio.min():.2f} to {ratio.max():.2f})',
            *(f'{each:.2f} %' for each in held_out(below(arm, cutoff), log)))
    print()
    heading('simulated arm', 'periods', 'standard deviation by batch')
    for case in SIMULATED:
        found = simulated(*case)
        row(case[0], case[2], f'{np.median(found):.2f} ({min(found):.2f} to {max(found):.2f})')
    return 0 if good else 1


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
