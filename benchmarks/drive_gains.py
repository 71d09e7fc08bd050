# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Drive gains that `dynid gains` makes of recordings of real arms with published ones.

    python benchmarks/drive_gains.py FOLDER

FOLDER is that of shared/recordings.py. Printed are, for each arm, the gains from all of its
recording, by the published ones, and held-out errors with gains of the first two thirds: with the
published ones, with all that are known in their place, with wrong ones, and with those that
`dynid gains` makes of the wrong ones. Torque is counted in the published units throughout.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from dataclasses import replace
from pathlib import Path
import sys

import numpy as np
from shared.recordings import CASES, in_two

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.identification.gain_recordings import recorded_gains
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.utilities.arrays import Array

HOLDOUT = 1 / 3
#: Seed of the wrong gains, which are off by factors of 0.5 to 2.
WRONG = 1000


def with_gains(arm: ArmModel, factors: Array) -> ArmModel:
    """Return the arm with other gains."""
    return replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * factors))


def held_out(arm: ArmModel, recording: Recording, factors: Array) -> float:
    """Relative error with gains times factors, torque divided by these again, %."""
    metrics = identify(with_gains(arm, factors), [recording], holdout=HOLDOUT).validation
    assert metrics is not None
    rmse = np.array([joint.rmse for joint in metrics.joints]) / factors
    torque = rmse / np.array([joint.relative_error_percent for joint in metrics.joints])
    return float(np.sqrt((rmse**2).sum() / (torque**2).sum()))


def main(folder: Path) -> None:
    """Print published gains against the data, and held-out errors."""
    for name, path, _ in CASES:
        arm = load_arm(name)
        recording = read_recording(folder / path, arm)
        found = recorded_gains(arm, [recording])
        print(f'\n{name}, stated gains: ' + '; '.join(
            f'{joint} {ratio:.3f} ± {std:.3f} {verdict}' for joint, ratio, std, verdict in zip(
                found.joint_names, found.ratio, found.ratio_std, found.verdicts, strict=True)))
        first, _ = in_two(recording, HOLDOUT)
        published = recorded_gains(arm, [first])
        known = np.where(published.known, published.ratio, 1.0)
        wrong = 2 ** np.random.default_rng(WRONG).uniform(-1, 1, arm.n)
        mended = recorded_gains(with_gains(arm, wrong), [first]).gain / arm.drive.gain
        for what, factors in (
                ('published gains', np.ones(arm.n)), ('all that are known', known),
                ('wrong ones', wrong), ('those corrected by dynid gains', mended)):
            print(f'  held-out error {held_out(arm, recording, factors):.2f} % with {what}, '
                  f'{np.round(factors, 3).tolist()}', flush=True)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
