"""Joint zero offsets of whole recordings, whose delay a wrong zero also distorts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.calibration.joint_offsets import (
    ACCURACY,
    estimate_joint_offsets,
    JointOffsets,
    PRIOR,
)
from dynid_ros.recordings.recording import Recording
from dynid_ros.regression.preparation import choose_conditioning, motions
from dynid_ros.signals.conditioning import ConditioningSettings

ROUNDS = 4
#: Change of the delay that ends the rounds, s.
SETTLED = 2e-4


@dataclass(frozen=True, eq=False)
class CorrectedRecordings:
    """
    Recordings with corrected joint zeros.

    Attributes
    ----------
    offsets : JointOffsets
        Offsets added to the positions, with error bars and identifiability.
    logs : tuple of Recording
        The recordings, with the offsets added.
    treatment : ConditioningSettings
        Settings of the conditioning, chosen from these.

    """

    offsets: JointOffsets
    logs: tuple[Recording, ...]
    treatment: ConditioningSettings


def correct_joint_offsets(
    arm: ArmModel, logs: Sequence[Recording], *, prior: float = PRIOR, accuracy: float = ACCURACY,
) -> CorrectedRecordings:
    """
    Estimate the offsets of the joint zeros from recordings, and correct these.

    A wrong zero partly mimics a delay of the drive signal. So the delay is estimated again from
    the corrected positions, and the offsets with it, until both converge.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    logs : sequence of Recording
        Checked recordings, all with the same zeros.
    prior, accuracy : float
        As for `estimate_joint_offsets`.

    Returns
    -------
    CorrectedRecordings
        All offsets are applied, undetermined ones too: the prior keeps them near zero.

    Raises
    ------
    RecordingError
        The recordings are too short.

    """
    corrected, plain = list(logs), arm.without_load
    treatment = choose_conditioning(plain, corrected)
    for _ in range(ROUNDS):
        parts = [motion for log in logs for motion in motions(arm, log, treatment)]
        found = estimate_joint_offsets(arm, parts, treatment, prior=prior, accuracy=accuracy)
        corrected = [replace(log, q=log.q + found.offset) for log in logs]
        previous, treatment = treatment, choose_conditioning(plain, corrected)
        if np.abs(treatment.delay - previous.delay) < SETTLED:
            break
    return CorrectedRecordings(found, tuple(corrected), treatment)
