# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A model against another recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.repetition import REPEATS
from dynid_ros.estimation.model.metrics import JointMetrics
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.one_thread import one_thread
from dynid_ros.utilities.summarised import html_table, Summarised
from dynid_ros.utilities.text import plain, sentence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dynid_ros.interface.python.results import IdentifiedModel


class Validation(Summarised):
    """
    Validation of a model by its torque prediction on another recording.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    recording : Recording
        The recording.

    Attributes
    ----------
    model : IdentifiedModel
        The model.
    metrics : Metrics
        Errors joint by joint and in all; in-sample if the model was fitted to the recording.
    predictions : tuple of Prediction
        Torque over time, a part for each stretch of the recording.
    findings : tuple of Finding
        Errors and warnings.

    """

    @one_thread()
    def __init__(self, model: IdentifiedModel, recording: Recording) -> None:
        from dynid_ros.estimation.identification.validation import validate
        from dynid_ros.estimation.verdict.judge import held_out_findings, joint_findings

        metrics, parts = validate(model, recording)
        # With other options, such as times of reception, the same file has other samples.
        # Recordings without files, such as simulated ones, may share a name.
        source = Path(recording.source)
        if source.exists() and source.resolve() in {
                Path(each).resolve() for each in model.sources}:
            metrics = replace(metrics, held_out=False)
        found = held_out_findings(model.fit, metrics) or joint_findings(metrics)
        if not metrics.held_out:
            found = [Finding('in_sample', f'the model was fitted to {recording.source}, at least '
                             'in part, so these errors are in-sample',
                             'give a recording of another motion')]
        self.model, self.metrics = model, metrics
        self.predictions, self.findings = tuple(parts), tuple(found)

    @property
    def reasons(self) -> list[str]:
        """Return why the model does not predict the recording, a sentence each."""
        return [each.sentence for each in self.findings if each.is_error]

    @property
    def warnings(self) -> list[str]:
        """Return reasons for caution, a sentence each."""
        return [each.sentence for each in self.findings if not each.is_error]

    @property
    def verdict(self) -> str:
        """Return whether the model predicts the recording, or the first reason against it."""
        if self.reasons:
            return f'Not confirmed: {sentence(self.reasons[0])}'
        error = (f'{plain(self.relative_error_percent, 2)} % '
                 f'({self.model.treatment.cutoff_hz:.3g} Hz)')
        if REPEATS in self.metrics.source:
            return ('Confirmed, but not by another motion: the model predicts this one, which '
                    f'repeats the fitted motion, to {error}.')
        return (f'Confirmed: the model predicts this motion to {error}, and the fitted one to '
                f'{plain(self.model.fit.relative_error_percent, 2)} %.')

    @property
    def relative_error_percent(self) -> float:
        """Return the torque error over all joints, %."""
        return self.metrics.relative_error_percent

    @property
    def joints(self) -> tuple[JointMetrics, ...]:
        """Return the errors joint by joint: RMSE, Nm, relative error, % and R²."""
        return self.metrics.joints

    @property
    def t(self) -> Array:
        """Return the times of the rows, (N,), s since the start of the recording."""
        return np.concatenate([part.t for part in self.predictions])

    @property
    def tau(self) -> Array:
        """Return the measured torque after the low-pass, (N, n), Nm; NaN at rest."""
        return np.concatenate([part.tau for part in self.predictions])

    @property
    def tau_hat(self) -> Array:
        """Return the predicted torque after the same low-pass, (N, n), Nm."""
        return np.concatenate([part.tau_hat for part in self.predictions])

    def plot(self) -> Figure:
        """Draw measured and predicted torque over time, and their difference."""
        from dynid_ros.pages.report.figures import torque_figure

        return torque_figure(self.model.arm, self.predictions)

    def facts(self) -> list[tuple[str, str]]:
        """Return error and verdict, for a console."""
        return [
            ('Validation', f'of {self.model.arm.name} on {self.metrics.source}'),
            ('torque error', f'{self.relative_error_percent:.2f} %, '
             + ('not used for fitting' if self.metrics.held_out else 'in-sample')),
            ('verdict', self.verdict), *(('reason', each) for each in self.reasons[1:]),
            *(('warning', each) for each in self.warnings)]

    def _repr_html_(self) -> str:
        from dynid_ros.interface.cli.common.summary import error_table

        (kind, name), *facts = self.facts()
        head, *rows = error_table(self.metrics, self.model.arm)
        return html_table(
            f'{kind} {name}', rows, head, [f'{label}: {fact}' for label, fact in facts])
