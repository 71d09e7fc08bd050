"""
When the recursive estimate is as good as the batch, and how wide its error bars are beside.

Both fit the first two thirds of a recording of a real arm below the cut-off that `dynid
replay` takes; after every portion of it the recursive estimate predicts the last third.

Then a replay starts from the batch result of the same recording, real or simulated with coloured
noise of a twentieth of the torque: its standard deviations relative to the batch, median and range
over the parameters, with the held-out error of both on the last third of the real ones.

    python benchmarks/recursive_against_batch.py FOLDER docs/figures/recursive_against_batch.svg

FOLDER holds the recordings as for accuracy.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
import sys

from accuracy import below, recordings
from coloured_noise import coloured_noise
import numpy as np

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import checked_recording, condition_recording
from dynid_ros.estimation.estimate.weights import fit
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import split
from dynid_ros.estimation.model.metrics import metrics
from dynid_ros.estimation.online.replay import replay
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate
from dynid_ros.simulation.sensors import drive_signal

ALLOWED = 1.03
#: Of the median ratio of standard deviations to the batch.
ALLOWED_WIDTH = 0.1
#: Cut-offs; None is the one that the data ask for.
CUTOFFS = (None, 3.0, 5.0)
SIMULATED = (('two_axis', 250.0, 3), ('ur10', 125.0, 2), ('ur10', 125.0, 5), ('panda', 125.0, 5))
CORRELATIONS = (0.95, 0.99)
NOISE = 0.05


def course(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Return times, the held-out error of the recursive estimate then, and the batch's, %."""
    arm = load_arm(name)
    log = read_recording(folder / name / f'{name}_exciting_trajectory.db3', arm)
    log, _ = checked_recording(log, arm)
    train, unseen = split(log, 1 / 3)
    treatment = choose_conditioning(arm, [train])
    held_out = KeptRows(arm, condition_recording(arm, unseen, treatment), treatment)

    def error(theta: np.ndarray) -> float:
        parts = held_out.predict(arm, theta, name, True)
        return metrics(arm.joint_names, parts).relative_error_percent

    _, history = replay(arm, train)
    fitted = KeptRows(arm, condition_recording(arm, train, treatment), treatment)
    batch = error(fit(arm, fitted).theta)
    return history.t, np.array([error(theta) for theta in history.theta]), batch


def coloured() -> Iterator[tuple[str, ArmModel, Recording]]:
    """Simulate arms whose torque has coloured noise."""
    for name, rate_hz, periods in SIMULATED:
        arm = load_arm(name)
        motion = random_motion(arm, 3, periods=periods)
        plain = simulate(arm, motion, rate_hz=rate_hz, seed=1)
        for correlation in CORRELATIONS:
            noise = coloured_noise(
                np.random.default_rng(2), len(plain.log.t), NOISE * plain.truth.tau.std(axis=0),
                correlation)
            log = replace(plain.log, u=plain.log.u + drive_signal(noise, 0 * noise, arm.drive))
            yield f'{name}, noise {correlation} from sample to sample', arm, log


def widths(name: str, arm: ArmModel, log: Recording, friction: tuple[str, ...] | None) -> bool:
    """Print the standard deviations of a replay, relative to the batch."""
    batch = identify(arm, [log], friction=friction, holdout=0.0)
    live, _ = replay(batch.arm, log, start=batch)
    ratio = live.std / batch.std
    middle = float(np.median(ratio))
    print(f'{name}: {log.seconds:.0f} s below {batch.treatment.cutoff_hz:.3g} Hz, '
          f'{batch.fit.samples} rows, {len(ratio)} parameters: standard deviations {middle:.2f} '
          f'times as wide ({ratio.min():.2f} to {ratio.max():.2f})', flush=True)
    return abs(middle - 1) < ALLOWED_WIDTH


def held_out(name: str, arm: ArmModel, log: Recording) -> None:
    """Print the errors on the last third, of the batch and of a replay that starts from it."""
    train, unseen = split(log, 1 / 3)
    assert unseen is not None
    batch = identify(arm, [train], holdout=0.0)
    live, _ = replay(batch.arm, train, start=batch)
    kept = KeptRows(
        batch.arm, condition_recording(batch.arm, unseen, batch.treatment), batch.treatment)
    errors = [
        metrics(arm.joint_names, kept.predict(batch.arm, theta, name, True))
        .relative_error_percent for theta in (batch.theta, live.theta)]
    print(f'{name}: last third below {batch.treatment.cutoff_hz:.3g} Hz with '
          f'{", ".join(batch.arm.friction)}: batch {errors[0]:.2f} %, started from it '
          f'{errors[1]:.2f} %', flush=True)


def main(folder: Path, picture: Path) -> int:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout='constrained')
    good = True
    for name, axes in zip(('ur10', 'panda'), figure.subplots(1, 2), strict=True):
        t, error, batch = course(folder, name)
        there = error <= ALLOWED * batch
        since = t[np.flatnonzero(~there)[-1] + 1] if there[-1] and not there.all() else np.nan
        print(f'{name}: batch {batch:.3f} %, recursive {error[-1]:.3f} % at the end '
              f'(ratio {error[-1] / batch:.3f}), within 3 % since {since:.1f} of {t[-1]:.1f} s')
        axes.semilogy(t, error, label='recursive')
        axes.axhline(batch, color='black', linestyle='--', linewidth=0.8, label='batch')
        axes.set(title=name, xlabel='fitted time, s', ylabel='error on the last third, %',
                 ylim=(batch / 2, 200))
        axes.grid(alpha=0.3)
        axes.legend()
        good &= bool(there[-1])
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
    for name, arm, log, _ in recordings(folder):
        for cutoff in CUTOFFS:
            good &= widths(name, below(arm, cutoff), log, None)
            held_out(name, below(arm, cutoff), log)
    for name, arm, log in coloured():
        for cutoff in CUTOFFS:
            good &= widths(name, below(arm, cutoff), log, arm.friction)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
