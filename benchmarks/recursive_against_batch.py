"""
When the recursive estimate predicts as well as the batch, on recordings of real arms.

Both learn from the first two thirds of a recording; after every portion of it the recursive
estimate predicts the last third.

    python benchmarks/recursive_against_batch.py FOLDER docs/figures/recursive_against_batch.svg

FOLDER holds ``ur10`` and ``panda`` with the bags of unisa-acg/inverse-dynamics-solver.
"""

from __future__ import annotations

from pathlib import Path
import sys

import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.identification.validation import predict, split
from dynid_ros.model.metrics import metrics
from dynid_ros.online.replay import replay
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.preparation import checked_recording, choose_conditioning, motions
from dynid_ros.regression.weighted_least_squares import fit
from dynid_ros.storage.recording_reader import read_recording

ALLOWED = 1.03


def course(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Return times, the held-out error of the recursive estimate then, and the batch's, %."""
    arm = load_arm(name)
    log = read_recording(folder / name / f'{name}_exciting_trajectory.db3', arm)
    log, _ = checked_recording(log, arm)
    train, unseen = split(log, 1 / 3)
    treatment = choose_conditioning(arm, [train])
    held_out = KeptRows(arm, motions(arm, unseen, treatment), treatment)

    def error(theta: np.ndarray) -> float:
        parts = predict(arm, held_out, theta, name, True)
        return metrics(name, True, arm.joint_names, parts).relative_error_percent

    _, history = replay(arm, train)
    fitted = KeptRows(arm, motions(arm, train, treatment), treatment)
    batch = error(fit(arm, fitted).theta)
    return history.t, np.array([error(theta) for theta in history.theta]), batch


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
        axes.set(title=name, xlabel='time learned from, s', ylabel='error on the last third, %',
                 ylim=(batch / 2, 200))
        axes.grid(alpha=0.3)
        axes.legend()
        good &= bool(there[-1])
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
