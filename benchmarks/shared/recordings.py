# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Recordings of real arms, below the FOLDER that scripts take.

FOLDER holds ur10/ur10_exciting_trajectory.db3 and panda/panda_exciting_trajectory.db3
(unisa-acg/inverse-dynamics-solver), tx40/pos_read_data.csv and curr_data.csv (figaroh-examples),
and may hold field/ with further arms, each with its arm.yaml, and unseen/ with arms that helped to
choose no constant of the package, each with its arm.yaml in arm/ (repositories in
docs/accuracy.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.identification.train_test_split import split
from dynid_ros.estimation.model.identified_model import IdentifiedModel

Array = NDArray[np.float64]
Logs = list[Recording]
Case = tuple[str, tuple[str, ...], tuple[str, ...], float]

#: Shipped arm, file, and held-out share.
CASES = (
    ('ur10', 'ur10/ur10_exciting_trajectory.db3', 1 / 3),
    ('panda', 'panda/panda_exciting_trajectory.db3', 1 / 3),
    ('tx40', 'tx40/pos_read_data.csv', 1 / 2),
)
#: Recordings to fit and to predict, and the held-out share where there are none to predict.
FIELD: tuple[Case, ...] = (
    ('six_joint', ('traj2.csv',), ('traj3.csv',), 0.0),
    ('dual_arm', ('motion_13.5.csv', 'motion_15.7.csv'), ('motion_52.2.csv',), 0.0),
    ('kr300', ('A.csv', 'B.csv'), ('C.csv',), 0.0),
    ('kr300', ('A.csv',), ('B.csv', 'C.csv'), 0.0),
    ('dvrk_psm', ('free.csv',), ('two.csv',), 0.0),
    ('sawyer', ('log_1khz.npz',), (), 1 / 3),
)
#: The same for arms that helped to choose no constant.
UNSEEN: tuple[Case, ...] = (
    ('ur10e_mamedov', ('ur-20_02_10-30sec_12harm.csv',), ('ur-20_02_12-50sec_12harm.csv',), 0.0),
    ('airbot', ('chirp.csv',), ('trapezoidal.csv',), 0.0),
    ('dvrk_mtm', ('50s.csv', '50s2.csv'), ('50s-alllink-work-large.csv',), 0.0),
    ('dvrk_radiang', ('fourier_test_results.csv',), ('fourier_test2_results.csv',), 0.0),
    ('rokae_ar5', ('dynamics_identification_data_real.csv',), (), 1 / 3),
    ('rokae_pro_liu', ('excit_ang_record.txt',), (), 1 / 3),
    ('baxter', ('Random_ang_vel_torq.csv',), (
        'square_ang_vel_torq.csv', 'circle_XY_T2_r10_ang_vel_torq.csv',
        'sin_XYZ_12_5s_T2_5_Tz_5T_r18_ang_vel_torq.csv'), 0.0),
)
#: Arm whose torques of joints 3, 5 and 6 are recorded with the opposite sign.
TURNED = 'six_joint'


def recordings(folder: Path) -> Iterator[tuple[str, ArmModel, Recording, float]]:
    """Read each recording of `CASES`, without its defects, with its arm and held-out share."""
    for name, file, share in CASES:
        arm = load_arm(name)
        log, _ = checked_recording(read_recording(folder / file, arm), arm)
        yield name, arm, log, share


def in_two(log: Recording, share: float) -> tuple[Recording, Recording]:
    """Split a recording into the part to fit and the last one, a share of it to hold out."""
    first, rest = split(log, share)
    assert rest is not None
    return first, rest


def field_recordings(
    folder: Path, cases: Sequence[Case] = FIELD,
) -> Iterator[tuple[str, ArmModel, Logs, Logs, float]]:
    """Read the fitted and the held-out recordings of some cases, with the held-out share."""
    for name, fitted, unseen, share in cases:
        own = folder / name / 'arm'
        arm = read_arm(own if own.is_dir() else folder / name / 'arm.yaml')
        logs, rest = ([read_recording(folder / name / file, arm) for file in files]
                      for files in (fitted, unseen))
        held = f'last {100 * share:.0f} %' if share else ', '.join(unseen)
        yield f'{name}, {", ".join(fitted)}, held out: {held}', arm, logs, rest, share


def read_arm(path: Path) -> ArmModel:
    """Read the description of an arm in unseen/ or field/, with the signs of its drive signals."""
    arm = load_arm(path)
    if TURNED not in path.parts:
        return arm
    gain = arm.drive.gain.copy()
    gain[[2, 4, 5]] *= -1
    return replace(arm, drive=replace(arm.drive, gain=gain))


def below(arm: ArmModel, cutoff_hz: float | None) -> ArmModel:
    """Return an arm whose signals are limited to a bandwidth; None leaves it to the data."""
    return replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=cutoff_hz))


def held_out(model: IdentifiedModel) -> float:
    """Held-out error of a model, %."""
    assert model.validation is not None
    return model.validation.relative_error_percent


def percent(error: Array, tau: Array) -> float:
    """Relative error, %."""
    return float(100 * np.linalg.norm(error) / np.linalg.norm(tau))
