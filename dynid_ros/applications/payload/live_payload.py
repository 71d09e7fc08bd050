# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Estimate the load of an arm from a live stream, given the model of the arm without it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
from scipy.linalg import LinAlgError

from dynid_ros.applications.payload.body import load_body
from dynid_ros.applications.payload.change import largest_change
from dynid_ros.applications.payload.estimate import Payload
from dynid_ros.applications.payload.findings import Evidence, judge_payload
from dynid_ros.applications.payload.fit import finite_numbers, LoadRegression
from dynid_ros.applications.payload.load_estimate import Part
from dynid_ros.data.signals.rests import Rests
from dynid_ros.dynamics.arm_prior import known_prior
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.outside_range import outside_range
from dynid_ros.estimation.online.online_identifier import Learned, OnlineIdentifier

#: Last rows searched for a change of the load: a minute at 20 Hz.
RECENT_ROWS = 1200
#: Fewest rows of a joint to fit a load: ten parameters and the changes of friction would explain
#: any noise of fewer.
FEWEST_ROWS = 20


class LivePayload(OnlineIdentifier):
    """
    A session that estimates the load of an arm with a known model, by all rows so far.

    The recursion keeps the triangular factors of all rows, so that `estimate_payload` gives the
    same load from the same rows, weights included. Only the last `RECENT_ROWS` rows are searched
    for a change of the load.

    Parameters
    ----------
    model : IdentifiedModel
        The arm without the load.
    source : str
        Name of the stream.
    cutoff_hz, delay : float, optional
        As for `OnlineIdentifier`; the model's if not given.

    Raises
    ------
    InputError
        The model lacks the information that is needed.

    """

    def __init__(
        self, model: IdentifiedModel, source: str = 'stream', *, cutoff_hz: float | None = None,
        delay: float | None = None,
    ) -> None:
        with finite_numbers(model, [source]):
            self._regression = LoadRegression(model)
            super().__init__(
                self._regression.arm, source, cutoff_hz=cutoff_hz or model.treatment.cutoff_hz,
                delay=model.treatment.delay if delay is None else delay,
                prior=known_prior(self._regression.prior, model.sigma))

    def reset(self) -> None:
        """Forget everything but the model."""
        super().reset()
        self._recent: deque[RowBlock] = deque()

    def _learn(self, blocks: Iterable[RowBlock]) -> Learned:
        """Keep the last rows, too, for a change of the load."""
        learned = super()._learn(blocks)
        self._recent.extend(block for block, _ in learned)
        rows = sum(len(block.t) for block in self._recent)
        while rows > RECENT_ROWS:
            rows -= len(self._recent.popleft().t)
        return learned

    def load(self) -> Payload | None:
        """Return the current load; None as long as the rows do not determine the mass."""
        regression = self._regression
        rows, model = self.recursion.data, regression.model
        if self.pipeline.settings is None or rows.rows.max() < FEWEST_ROWS:
            return None
        parts = [Part(rows)]
        with finite_numbers(model, [self.source]):
            try:
                fit = regression.fit(parts)
            except LinAlgError:
                # Residuals beyond all bounds, as of a damaged model, determine nothing.
                return None
            if not fit.tells_mass:
                return None
            change = largest_change(
                regression.columns, fit, [(self.source, fit.thetas[0], self._recent)])
            body = load_body(fit)
            evidence = Evidence.of_rows(regression, parts, fit, body)
            present, findings, remarks = judge_payload(
                regression, parts, fit, body, evidence, change)
        moving = [part for part in self.history.predictions(self.source)
                  if np.isfinite(part.tau).any()]
        return Payload(
            model, model.arm.tool.placement, 'motion', body,
            {'motion': (float(fit.load[0]), float(fit.std[0]))}, present, evidence, change,
            Rests(*np.zeros((3, 0, model.arm.n))), findings,
            (*regression.remarks, *remarks, *outside_range(model, moving)),
            int(rows.rows.max()), (self.source,))
