# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Parameters of recordings by the stages of `identify` before its verdict, which takes a half."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.blocks.row_methods import DIFFERENTIATED
from dynid_ros.estimation.estimate.chosen_estimate import Estimate
from dynid_ros.estimation.identification.conditioned_data import condition, ConditionedData
from dynid_ros.estimation.identification.model_choice import (
    estimate_parameters,
    fit_model,
    FittedModel,
)
from dynid_ros.estimation.identification.train_test_split import divide
from dynid_ros.estimation.model.metrics import Metrics, metrics
from dynid_ros.utilities.one_thread import one_thread


@dataclass(frozen=True, eq=False)
class Estimated:
    """What `identify` knows before it judges, by the names of an `IdentifiedModel`."""

    data: ConditionedData
    fitted: FittedModel
    estimate: Estimate

    @property
    def arm(self) -> ArmModel:
        return self.fitted.arm

    @property
    def treatment(self) -> ConditioningSettings:
        return self.data.train.settings

    @property
    def friction_strength(self) -> dict[str, float]:
        return self.fitted.strengths

    @property
    def theta(self) -> np.ndarray:
        return self.estimate.theta

    @property
    def parameters(self) -> dict[str, float]:
        return dict(zip(base_parameters(self.arm).names, self.theta.tolist(), strict=True))

    @property
    def covariance(self) -> np.ndarray:
        return self.estimate.covariance

    @property
    def std(self) -> np.ndarray:
        return np.sqrt(np.diag(self.covariance))

    @property
    def std_white(self) -> np.ndarray:
        return self.estimate.std_white

    @property
    def from_data(self) -> np.ndarray:
        return self.estimate.from_data

    @property
    def fit(self) -> Metrics:
        return metrics(self.arm.joint_names, self.fitted.in_sample)

    @cached_property
    def validation(self) -> Metrics:
        return metrics(self.arm.joint_names, [
            part for each in self.data.held_out for part in each.predict(self.arm, self.theta)])


@one_thread()
def estimated(
    arm: ArmModel, recordings: Sequence[Recording], *, friction: Sequence[str] | None = None,
    holdout: float | None = None,
) -> Estimated:
    """Estimate what `identify` does of the same arguments, without its verdict and its tables."""
    division = divide(arm, recordings, (), holdout, friction)
    source, data = division.source, condition(division)
    fitted = fit_model(
        division.arm, data.train.rows, DIFFERENTIATED, source, choose=friction is None)
    return Estimated(data, *estimate_parameters(fitted, source))


@contextmanager
def without_suspects() -> Iterator[None]:
    """
    Judge results by their figures alone.

    The table of suspects takes more than half of `identify` and of the result of a stream. For
    tests of models, whose verdict is not what they ask for.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('dynid_ros.estimation.verdict.judge.with_cause',
                      lambda verdict, *_, **__: (verdict, ()))
        yield
