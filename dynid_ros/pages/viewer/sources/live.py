# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The source of live topics: the last messages. One thread fills it, another draws it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    from dynid_ros.simulation.joint_trajectory import JointTrajectory

#: Silence after which a page reports a lost node, s: less than two seconds including the drawing.
#: For a node that reports less often, it is three of its periods.
NODE_LOST_SECONDS = 1.2
PERIODS = 2.5
#: Most reports of different names: more would only fill the memory.
REPORTS = 12
#: Rows of prediction errors, some 30 s, and of estimates, an hour at two a second; and rows drawn
#: of each, at most the pixels of a chart.
ERROR_ROWS, ESTIMATE_ROWS = 1500, 7200
ERROR_POINTS, MOTION_POINTS = 330, 60

STATES, PUBLISHER, IDENTIFIER = 'joint_states', 'trajectory_publisher', 'identifier'


@dataclass(frozen=True)
class Report:
    """
    A status of a node.

    Attributes
    ----------
    level : int
        Of diagnostic_msgs/DiagnosticStatus: 0 good, 1 warning, 2 error, 3 stale.
    text : str
        Its message.
    values : dict of str to str
        Its values.

    """

    level: int
    text: str
    values: Mapping[str, str]

    @property
    def dry_run(self) -> bool:
        """Whether a publisher commands nothing."""
        return self.values.get('dry_run') == 'True'


class LiveState:
    """
    The newest data of each source, and the series that a page draws.

    One thread replaces the attributes, others read them: each is replaced at once.

    Parameters
    ----------
    joint_names : sequence of str
        Joints of the arm.
    clock : callable
        Steady time, s.

    Attributes
    ----------
    q : (n,) ndarray or None
        Position of the arm, rad or m.
    motion : JointTrajectory or None
        Motion of a start.
    publisher : Report or None
        Phase of the trajectory publisher.
    condition : float
        Condition number of the motion that the identifier has used; NaN while it reports none.
    reports : dict of str to Report
        Of the others, by their names.
    errors : dict of str to float
        Error of the torque predicted before it was used, percent, by joints and overall.
    residuals : History
        Measured minus predicted torque over time, Nm or N; NaN where nothing was predicted.

    """

    def __init__(
        self, joint_names: Sequence[str], clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.joint_names = tuple(joint_names)
        self._clock = clock
        self.q: Array | None = None
        self.motion: JointTrajectory | None = None
        self.publisher: Report | None = None
        self.condition = np.nan
        self.reports: dict[str, Report] = {}
        self.errors: dict[str, float] = {}
        self._reference: tuple[Array, float] | None = None
        # Time of the last message of each source, and its period, s.
        self._heard: dict[str, tuple[float, float]] = {}
        self.residuals = History(ERROR_ROWS)
        self._estimates: tuple[tuple[str, ...], NDArray[np.bool_], History] = (
            (), np.zeros(0, dtype=np.bool_), History(ESTIMATE_ROWS))

    @property
    def reference(self) -> Array | None:
        """Return the desired position, (n,); none while nothing moves."""
        q, heard = self._reference or (None, 0.0)
        return q if self._clock() - heard <= NODE_LOST_SECONDS else None

    @property
    def moving(self) -> bool:
        """Whether the publisher moves the arm, as far as is known."""
        return self.publisher is not None and self.publisher.values.get('phase') in (
            'moving to the start', 'running', 'validating', 'stopping')

    @property
    def ages(self) -> dict[str, float]:
        """Return the time since the last message of each source that has sent one, s."""
        now = self._clock()
        return {name: now - heard for name, (heard, _) in self._heard.items()}

    @property
    def lost(self) -> tuple[str, ...]:
        """Return the sources that have been silent for too long."""
        now = self._clock()
        return tuple(name for name, (heard, period) in self._heard.items()
                     if now - heard > max(NODE_LOST_SECONDS, PERIODS * period))

    def hear_state(self, q: Array) -> None:
        """Take in the position of the arm (n,)."""
        self._note(STATES)
        self.q = q

    def hear_reference(self, q: Array) -> None:
        """Take in the desired position of the arm (n,)."""
        self._reference = q, self._clock()

    def hear_publisher(self, report: Report) -> None:
        """Take in the phase of the trajectory publisher."""
        self._note(PUBLISHER)
        self.publisher = report

    def hear_report(self, name: str, report: Report) -> None:
        """Take in the status of another node, by its name, such as ``identifier: stream``."""
        if name == f'{IDENTIFIER}: stream':
            self._note(IDENTIFIER)
        if name in self.reports or len(self.reports) < REPORTS:
            self.reports = self.reports | {name: report}

    def hear_percent(self, percent: Mapping[str, float]) -> None:
        """Take in the same as a share of the torque, percent, by joints and overall."""
        self.errors = self.errors | {
            name: value for name, value in percent.items()
            if name in self.joint_names or not name}

    def hear_estimates(
        self, t: float, names: Sequence[str], theta: Array, std: Array,
        from_data: NDArray[np.bool_],
    ) -> None:
        """Take in estimates of a time, s, their standard deviations, and which are from data."""
        before, _, history = self._estimates
        if tuple(names) != before:
            history = History(ESTIMATE_ROWS)
        history.add(t, np.concatenate([theta, std]))
        self._estimates = tuple(names), from_data, history

    def estimate_series(
        self,
    ) -> tuple[tuple[str, ...], Array, Array, Array, NDArray[np.bool_]]:
        """Return the arguments of `estimate_tiles`."""
        names, from_data, history = self._estimates
        t, rows = history.series(MOTION_POINTS)
        return names, t, rows[:, :len(names)], rows[:, len(names):], from_data

    def _note(self, source: str) -> None:
        """Record the time and, by averaging, the period of a source."""
        now = self._clock()
        heard, period = self._heard.get(source, (now, 0.0))
        # A silence is not the period of a source.
        period += 0.2 * (min(now - heard, 2 * period + NODE_LOST_SECONDS) - period)
        self._heard = self._heard | {source: (now, period)}


class History:
    """The newest rows over time, up to a capacity."""

    def __init__(self, capacity: int) -> None:
        self._rows: deque[Array] = deque(maxlen=capacity)

    def add(self, t: float, values: ArrayLike) -> None:
        """Append a row; a clock that was set back restarts the series."""
        if self._rows and t < self._rows[-1][0]:
            self._rows.clear()
        self._rows.append(np.append(t, values))

    def series(self, points: int) -> tuple[Array, Array]:
        """Return times (k,) and values (k, columns) of some rows, including the last."""
        rows = np.array(self._rows)
        if not len(rows):
            return np.zeros(0), np.zeros((0, 0))
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), points)).astype(int)]
        return rows[:, 0], rows[:, 1:]
