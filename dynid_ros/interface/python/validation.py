# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A model against another recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.repetition import REPEATS
from dynid_ros.estimation.model.metrics import JointMetrics, Metrics
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.interface.python.boundary import Cutoff, CUTOFF_RANGE
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.one_thread import one_thread
from dynid_ros.utilities.summarised import html_table, Summarised
from dynid_ros.utilities.text import plain, sentence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dynid_ros.applications.rollout.rollout import Rollouts
    from dynid_ros.interface.answers.answer import Answer
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
    recording : Recording
        The recording.
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
        self.model, self.recording, self.metrics = model, recording, metrics
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

    def error_below(self, cutoff_hz: Cutoff) -> Metrics:
        """Return the torque error below another cut-off, Hz: errors compare at one only."""
        from dynid_ros.estimation.identification.validation import error_at

        return error_at(self.model, self.recording, CUTOFF_RANGE.take('cutoff_hz', cutoff_hz))

    def answer(
        self, cutoffs_hz: Sequence[float] = (), rollouts: Rollouts | None = None,
        wrote: Sequence[Path] = (),
    ) -> Answer:
        """State what ``dynid validate`` prints; status 1 if the model does not generalise."""
        from dynid_ros.estimation.blocks.preparation import checked_recording
        from dynid_ros.estimation.identification.bandwidth import error_by_bandwidth
        from dynid_ros.estimation.identification.conditioned_data import beginning
        from dynid_ros.interface.answers.answer import Answer
        from dynid_ros.interface.answers.model import error_line, error_table, rollout_note
        from dynid_ros.interface.answers.recording import recording_as_dict

        model, metrics, arm = self.model, self.metrics, self.model.arm
        others = {hz: self.error_below(hz) for hz in cutoffs_hz}
        first = beginning([checked_recording(self.recording, arm)[0]])
        facts = {
            **recording_as_dict(self.recording, arm), 'cutoff_hz': model.treatment.cutoff_hz,
            'validation': metrics, 'reasons': self.reasons, 'warnings': self.warnings,
            'bandwidths': [{'cutoff_hz': hz, **vars(other), 'held_out': metrics.held_out}
                           for hz, other in others.items()],
            'error_by_bandwidth': error_by_bandwidth((arm, model.theta), first, model.treatment),
            'rollouts': None if rollouts is None else rollouts.as_dict()}
        moved = [] if rollouts is None else [rollout_note(rollouts)]
        return Answer(
            facts, self.verdict, int(bool(self.reasons)),
            error_table(metrics, arm, model.unrepeated),
            [*moved, *map(sentence, (*self.reasons[1:], *self.warnings)),
             *(f'Below {hz:.3g} Hz the torque error is {plain(other.relative_error_percent)} %.'
               for hz, other in others.items())],
            [error_line(metrics), *([] if rollouts is None else rollouts.lines())], wrote)

    def facts(self) -> list[tuple[str, str]]:
        """Return error and verdict, for a console."""
        return [
            ('Validation', f'of {self.model.arm.name} on {self.metrics.source}'),
            ('torque error', f'{self.relative_error_percent:.2f} %, '
             + ('not used for fitting' if self.metrics.held_out else 'in-sample')),
            ('verdict', self.verdict), *(('reason', each) for each in self.reasons[1:]),
            *(('warning', each) for each in self.warnings)]

    def _repr_html_(self) -> str:
        from dynid_ros.interface.answers.model import error_table

        (kind, name), *facts = self.facts()
        head, *rows = error_table(self.metrics, self.model.arm)
        return html_table(
            f'{kind} {name}', rows, head, [f'{label}: {fact}' for label, fact in facts])
