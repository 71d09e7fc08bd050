"""The first seconds of a stream: held until they show the band and the delay of its rows."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.standstill import motion_windows, time_in_motion
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.band.ladder import USUAL_HZ
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed

#: Time in motion that shows a band, s: the lowest band of the ladder has ten blocks then.
FIRST_SECONDS = 10.0
#: Time from the first motion after which samples are no longer held, s: an arm that hardly moves
#: would fill memory. Of an arm that has not moved yet, the last ones are held.
LONGEST_SECONDS = 60.0
#: Time between two looks at the samples, s.
LOOK_SECONDS = 1.0


class FirstSamples(Checkpointed):
    """
    Samples of a stream whose cut-off nobody has given, until they show one.

    A stream has no later samples to choose by: its rows below one cut-off and delay come from the
    samples that are held, and then from all others as they come. A rest before the motion counts
    for nothing: a node that starts long before it chooses as a recording of the motion alone.

    Parameters
    ----------
    arm : ArmModel
        The arm; its ``conditioning`` may state the delay.
    delay : float, optional
        Time by which the drive signal lags behind the motion, s, if it is known.

    Attributes
    ----------
    held : (m, 1 + 2 n) ndarray
        Stamps, positions and drive signals.
    cutoff_hz, delay : float
        As chosen, Hz and s; a cut-off of zero before that.
    position_hz : (n,) or (0,) ndarray
        As chosen; see `ConditioningSettings`.
    looked : float
        Stamp at which the samples were looked at last, s.

    """

    saved = ('held', 'cutoff_hz', 'delay', 'position_hz', 'looked')

    def __init__(self, arm: ArmModel, delay: float | None = None) -> None:
        self._arm, self._delay = arm, arm.conditioning.delay if delay is None else delay
        self.held: Array = np.zeros((0, 1 + 2 * arm.n))
        self.cutoff_hz, self.delay, self.looked = 0.0, self._delay or 0.0, -np.inf
        self.position_hz: Array = np.zeros(0)

    def take(self, t: Array, q: Array, u: Array) -> int | None:
        """
        Hold samples until they show the band.

        Parameters
        ----------
        t, q, u : (k,) and (k, n) ndarray
            Next samples: stamps, positions and drive signals.

        Returns
        -------
        int or None
            How many of them are held, the last of which shows the band, whatever the portions in
            which they come; None if it does not show yet.

        """
        new = np.column_stack([t, q, u])
        begin = 0
        while begin < len(new):
            later = np.flatnonzero(new[begin:, 0] >= self.looked + LOOK_SECONDS)
            stop = begin + int(later[0]) + 1 if len(later) else len(new)
            self.held = np.concatenate([self.held, new[begin:stop]])
            begin = stop
            if len(later):
                self.looked = float(self.held[-1, 0])
                if self._shown():
                    return stop
        return None

    def decide(self) -> tuple[Array, Array, Array]:
        """Choose cut-off and delay, and hand the held samples on: stamps, positions, signals."""
        n = self._arm.n
        t, q, u = np.split(self.held, [1, 1 + n], axis=1)
        self.held = self.held[:0]
        self.cutoff_hz = USUAL_HZ
        try:
            recording, _ = checked_recording(
                Recording(t[:, 0], q, u, self._arm.joint_names, self._arm.drive.signal,
                          as_logged=True), self._arm, stamped=True)
            chosen = choose_conditioning(self._arm, [recording])
            self.cutoff_hz, self.position_hz = chosen.cutoff_hz, np.array(chosen.position_hz)
            self.delay = chosen.delay if self._delay is None else self._delay
        except RecordingError:
            # A stream goes on with what is usual where a recording would be refused.
            pass
        return t[:, 0], q, u

    def _shown(self) -> bool:
        """Leave out a long rest before the motion; return whether that has lasted long enough."""
        begin, moved = self._motion()
        resting = begin == np.inf
        last = float(self.held[-1, 0])
        oldest = last - LONGEST_SECONDS if resting else begin
        self.held = self.held[~(self.held[:, 0] < oldest)]
        return not resting and (
            moved >= FIRST_SECONDS or last - float(self.held[0, 0]) >= LONGEST_SECONDS)

    def _motion(self) -> tuple[float, float]:
        """When the motion began and how long it lasted, of samples in the order of time, s."""
        t, q = self.held[:, 0], self.held[:, 1:1 + self._arm.n]
        good = np.isfinite(t) & np.isfinite(q).all(axis=1)
        t, q = t[good], q[good]
        later = t > np.maximum.accumulate(np.append(-np.inf, t))[:-1]
        t, q = t[later], q[later]
        found = motion_windows(t, q) if len(t) > 2 else None
        if found is None or not found[1].any():
            return np.inf, 0.0
        edges, moves = found
        return float(edges[moves.any(axis=1).argmax()]), float(time_in_motion(t, q)[-1])
