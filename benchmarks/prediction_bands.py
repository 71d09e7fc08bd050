# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
How many held-out samples of real arms lie within the 95 % bands of the predicted torque.

    python benchmarks/prediction_bands.py FOLDER

FOLDER is that of shared/recordings.py, the split that of accuracy.py. The model of
the first part, its covariance and its error in samples that were not fitted, by cross-validation,
give a band around the torque of each sample of the rest: 1.96 standard deviations of
`torque_variance`. A good band holds 90 to 98 % of the samples, in each joint too. The last column
divides the held-out error of a joint by the residual of its fit, for the joint in which that is
largest.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from pathlib import Path
import sys

from accuracy import BANDWIDTHS
import numpy as np
from shared.recordings import below, in_two, recordings
from shared.tables import heading, row

from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.prediction import torque_variance
from dynid_ros.estimation.blocks.preparation import condition_recordings
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel

WIDTH = 1.96


def held_out(model: IdentifiedModel, rest: Recording) -> tuple[list[float], list[float], int]:
    """By joint, share of samples within the bands, %, and error by residual; fewest samples."""
    arm, settings = model.arm, model.treatment
    kept = KeptRows(arm, condition_recordings(arm, [rest], settings), settings, arm.friction)
    errors, spreads, moving = [], [], []
    for block in kept.blocks(arm, model.theta):
        errors.append(block.tau - block.W @ model.theta)
        spreads.append(np.sqrt(torque_variance(block.W, model.covariance, model.sigma)))
        moving.append(block.moving)
    error, spread, there = map(np.concatenate, (errors, spreads, moving))
    shares, ratios = [], []
    for joint in range(arm.n):
        e, s = (each[there[:, joint], joint] for each in (error, spread))
        shares.append(float(100 * np.mean(np.abs(e) < WIDTH * s)))
        ratios.append(float(np.sqrt(np.mean(e**2)) / model.sigma[joint]))
    return shares, ratios, int(there.sum(axis=0).min())


def main(folder: Path) -> None:
    """Print a Markdown table."""
    heading('arm, held out', 'bandwidth', 'samples of a joint', 'within, mean of the joints',
            'joint with the least', 'joint with the most', 'largest error by residual')
    for name, arm, log, share in recordings(folder):
        first, rest = in_two(log, share)
        for bandwidth in BANDWIDTHS:
            model = identify(below(arm, bandwidth), [first], holdout=0)
            shares, ratios, samples = held_out(model, rest)
            row(name, f'{bandwidth:.3g} Hz', samples, f'{np.mean(shares):.1f} %',
                f'{min(shares):.1f} %', f'{max(shares):.1f} %', f'{max(ratios):.2f}')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
