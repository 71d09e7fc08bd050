"""Joint zero offsets of whole recordings, whose delay a wrong zero also distorts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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

ROUNDS = 4
#: Change of the delay that ends the rounds, s.
SETTLED = 2e-4


def recording_offsets(
    arm: ArmModel, recordings: Sequence[Recording], *, prior: float = PRIOR,
    accuracy: float = ACCURACY,
) -> JointOffsets:
    """
    Estimate the offsets of the joint zeros from recordings.

    A wrong zero partly mimics a delay of the drive signal. So the delay is estimated again from
    the corrected positions, and the offsets with it, until both converge.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : sequence of Recording
        Checked recordings, all with the same zeros.
    prior, accuracy : float
        As for `estimate_joint_offsets`.

    Returns
    -------
    JointOffsets
        All of them are to be added to the positions, undetermined ones too: the prior keeps them
        near zero.

    Raises
    ------
    RecordingError
        The recordings are too short.

    """
    plain = arm.memoryless
    settings = choose_conditioning(plain, recordings)
    for _ in range(ROUNDS):
        parts = [
            motion for recording in recordings for motion in motions(arm, recording, settings)]
        found = estimate_joint_offsets(arm, parts, settings, prior=prior, accuracy=accuracy)
        corrected = [replace(recording, q=recording.q + found.offset) for recording in recordings]
        previous, settings = settings, choose_conditioning(plain, corrected)
        if np.abs(settings.delay - previous.delay) < SETTLED:
            break
    return found
