# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Identification sample by sample, live or by replay, from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.estimation.online import online_identifier
from dynid_ros.interface.python.boundary import (
    Arm,
    as_arm,
    as_model,
    as_recording,
    Cutoff,
    Delay,
    Log,
    Memory,
    Model,
    online_settings,
)
from dynid_ros.interface.python.results import IdentifiedModel
from dynid_ros.utilities.inputs import as_text
from dynid_ros.utilities.one_thread import one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dynid_ros.data.recordings.recording import Defect
    from dynid_ros.dynamics.arm_prior import ArmPrior
    from dynid_ros.estimation.online.replay import History


class OnlineIdentifier(online_identifier.OnlineIdentifier):
    """
    A session that identifies an arm sample by sample, as the node ``identifier`` does.

    Parameters
    ----------
    arm : str, Path or ArmModel
        The arm.
    source : str
        Name of the stream, for the result.
    cutoff_hz, delay : float, optional
        Cut-off of the filters, Hz, and lag of the drive signal, s; by default as the arm or
        `start` states them, else from the first samples.
    memory : float
        Time after which the weight of old data falls to 1/e, s; infinite for no forgetting.
    prior : ArmPrior, optional
        Of the parameters.
    start : str, Path or IdentifiedModel, optional
        Result of this arm, which supplies friction terms, filters and load.

    """

    def __init__(
        self, arm: Arm, source: str = 'stream', *, cutoff_hz: Cutoff | None = None,
        delay: Delay | None = None, memory: Memory = np.inf, prior: ArmPrior | None = None,
        start: Model | None = None,
    ) -> None:
        super().__init__(
            as_arm(arm), as_text('source', source), prior=prior,
            start=None if start is None else as_model(start, 'start'),
            **online_settings(cutoff_hz, delay, memory))

    @one_thread()
    def result(self, defects: Sequence[Defect] = ()) -> IdentifiedModel:
        """
        Return the result so far, waiting samples included; the stream may continue.

        Raises
        ------
        RecordingError
            No rows yet.

        """
        return IdentifiedModel.of(super().result(defects))


@dataclass(frozen=True, eq=False, repr=False)
class Replay:
    """
    The online estimator on a recording.

    Attributes
    ----------
    model : IdentifiedModel
        The last estimate.
    history : History
        Every estimate with its standard deviations over time.

    """

    model: IdentifiedModel
    history: History

    def plot(self) -> Figure:
        """Draw the history of every estimate with its 95 % band."""
        from dynid_ros.interface.python.plots import plot_estimates

        return plot_estimates(self)

    def __repr__(self) -> str:
        """Show the number of estimates and the model."""
        return f'Replay of {len(self.history.t)} estimates to\n{self.model!r}'

    def _repr_html_(self) -> str:
        return self.model._repr_html_()


@one_thread()
def replay(
    arm: Arm | None, recording: Log, *, start: Model | None = None,
    cutoff_hz: Cutoff | None = None, delay: Delay | None = None, memory: Memory = np.inf,
    topic: str = 'joint_states', received: bool = False,
) -> Replay:
    """
    Run the online estimator on a recording, as ``dynid replay`` and the node do.

    Parameters
    ----------
    arm : str, Path, ArmModel or None
        The arm; that of `start` if it is left out.
    recording : str, Path or Recording
        The recording.
    start : str, Path or IdentifiedModel, optional
        Result of the same arm: take its friction terms, cut-off, delay, and load of friction by
        load; the estimate starts from nothing.
    cutoff_hz : float, optional
        Cut-off of the filters, Hz; by default the one of the result or arm.yaml, else from the
        data.
    delay : float, optional
        Time by which the drive signal lags behind the motion, s; by default the one of the result
        or arm.yaml, else from the data.
    memory : float
        Time after which the weight of old data falls to 1/e where new data replaces it, s; by
        default infinite: no forgetting.
    topic, received
        As for `read_recording`.

    Returns
    -------
    Replay
        The last model, and the history of the estimates.

    """
    from dynid_ros.estimation.online import replay as online
    from dynid_ros.estimation.result_files.starting_model import same_arm

    filters = online_settings(cutoff_hz, delay, memory)
    begin, first = perf_counter(), None if start is None else as_model(start, 'start')
    if arm is None and first is None:
        raise InputError('arm must be a name, a path or an ArmModel where start is None')
    own: ArmModel = as_arm(arm) if first is None else same_arm(
        first, None if arm is None else as_arm(arm)).arm
    before = perf_counter()
    log = as_recording(
        recording, own, topic=topic, received=received, of_model=first is not None)
    read = perf_counter() - before
    model, history = online.replay(own, log, start=first, **filters)
    timing = {'read': read, **model.timing, 'total': perf_counter() - begin}
    return Replay(IdentifiedModel.of(replace(model, timing=timing)), history)
