# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Live identification from Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.estimation.online import online_identifier
from dynid_ros.interface.python.boundary import (
    Arm,
    as_arm,
    as_model,
    Cutoff,
    Delay,
    Memory,
    Model,
    online_settings,
)
from dynid_ros.interface.python.results import IdentifiedModel
from dynid_ros.utilities.inputs import as_text
from dynid_ros.utilities.one_thread import one_thread

if TYPE_CHECKING:
    from dynid_ros.data.recordings.recording import Defect
    from dynid_ros.estimation.online.estimate import Prior


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
    prior : Prior, optional
        Of the parameters.
    start : str, Path or IdentifiedModel, optional
        Result of this arm, which supplies friction terms, filters and load.

    """

    def __init__(
        self, arm: Arm, source: str = 'stream', *, cutoff_hz: Cutoff | None = None,
        delay: Delay | None = None, memory: Memory = np.inf, prior: Prior | None = None,
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
