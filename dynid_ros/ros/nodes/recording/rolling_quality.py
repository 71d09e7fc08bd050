# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Checks of a recording on the last seconds of a stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.motion_checks import CONSTANT
from dynid_ros.data.recordings.quality import check_recording
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.utilities.arrays import Array

#: Defects that do not apply to such a short time, or to an arm that may rest.
IGNORED = ('too_short', CONSTANT)
#: Length of the window of `RollingQuality`, ns.
WINDOW = 3 * 10**9
#: Time between two checks of a stream that goes on, s. Each sample is then checked three times,
#: however often there are reports: where stamps scatter, a check searches for the clock of the
#: source, and the node takes in nothing meanwhile.
BETWEEN_CHECKS_SECONDS = 1.0


class RollingQuality:
    """
    Checks of a recording on the last seconds of a stream.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    topic : str
        Name in messages.

    """

    def __init__(self, arm: ArmModel, topic: str) -> None:
        self._arm, self._topic = arm, topic
        self._stamps = np.zeros(0, dtype=np.int64)
        self._values = np.zeros((0, 2, arm.n))
        # Samples since the last check, now and when defects were last asked for.
        self._unchecked = self._before = 0
        self._found: tuple[Defect, ...] = ()

    def add(self, stamps: NDArray[np.int64], p: Array, u: Array) -> None:
        """Take in samples, stamps in ns, and forget those that left the window."""
        if not len(stamps):
            return
        self._stamps = np.concatenate([self._stamps, stamps])
        self._values = np.concatenate([self._values, np.stack([p, u], axis=1)])
        self._unchecked += len(stamps)
        # A clock that steps back stays in the window as long as other samples.
        kept = np.abs(self._stamps - stamps[-1]) <= WINDOW
        self._stamps, self._values = self._stamps[kept], self._values[kept]

    @property
    def rate_hz(self) -> float:
        """Return the samples per second in the window; zero if there are too few."""
        if len(self._stamps) < 2:
            return 0.0
        step = float(np.median(np.diff(self._stamps)))
        return 1e9 / step if step > 0 else 0.0

    def defects(self) -> tuple[Defect, ...]:
        """Return the defects of the last seconds, checked each second and when samples pause."""
        pauses, self._before = self._unchecked == self._before, self._unchecked
        enough = BETWEEN_CHECKS_SECONDS * self.rate_hz
        if self._unchecked and (pauses or self._unchecked >= enough):
            self._found = self._check()
            self._unchecked = self._before = 0
        return self._found

    def _check(self) -> tuple[Defect, ...]:
        if len(self._stamps) < 3:
            return ()
        t = (self._stamps - self._stamps[0]) * 1e-9
        q = joint_position(self._values[:, 0], self._arm.drive)
        recording = Recording(
            t, q, self._values[:, 1].copy(), self._arm.joint_names, self._arm.drive.signal,
            self._topic, as_logged=True)
        return tuple(d for d in check_recording(recording, self._arm) if d.code not in IGNORED)
