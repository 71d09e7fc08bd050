# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
On which side of each threshold good and bad data lie.

    python benchmarks/thresholds.py [FOLDER]

FOLDER holds recordings of real arms, as for accuracy.py, and med7/measurements.csv with
med7dock.urdf (lbr-stack/dynamic_parameter_identification), which hardly excites its arm. Good data
are the other three and simulated recordings; bad ones have a planted defect. Printed are, for each
threshold, the value, the most extreme good datum and the mildest bad one. A second table has the
settings that separate nothing: the largest held-out error at half the value, at it, at twice it.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
import os
from pathlib import Path
import sys
import tempfile
from types import ModuleType
from typing import Any

import numpy as np
from shared.band_rows import delay_rows, ladder_rows, measured_rows
from shared.recordings import CASES
from shared.threshold_rows import clip_rows, clock_rows, seen_rows

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings import (
    absurd_values,
    lost_values,
    motion_checks,
    quality,
    stamp_checks,
)
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals import conditioning, filters, standstill
from dynid_ros.data.signals.trial_samples import trial_samples, TrialSamples
from dynid_ros.data.streaming import resampling, sample_validation
from dynid_ros.errors import DynidError
from dynid_ros.estimation.band import ladder
from dynid_ros.estimation.band.choice import band_of_motion, choose_conditioning
from dynid_ros.estimation.blocks import preparation
from dynid_ros.estimation.diagnosis import copied_signals, outliers
from dynid_ros.estimation.diagnosis.expected_error import expected_errors
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.validation import validate
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.online import innovation_statistics
from dynid_ros.estimation.online.replay import replay
from dynid_ros.estimation.suspects import reported_lines, table
from dynid_ros.estimation.suspects.suspect import as_recorded
from dynid_ros.estimation.verdict import judge as verdict
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.execution import safety_monitor
from dynid_ros.simulation.record import simulate
from dynid_ros.utilities.arrays import joined

Array = np.ndarray
SIMULATED = (('two_axis', 1), ('ur10', 1), ('panda', 1), ('panda', 2))
#: What moves in the second table: modules and fields, each halved and doubled.
SETTINGS = (
    (ladder, 'ENERGY_SHARE'), (conditioning, 'HIGHEST_CUTOFF'), (conditioning, 'POSITION_CUTOFF'),
    (filters, 'KAISER'), (filters, 'REACH_PERIODS'), (filters, 'RATE_PER_CUTOFF'),
)
ONLINE = ('MEMORY_ROWS', 'CUT_DEVIATIONS', 'DOUBTFUL_DEVIATIONS', 'LARGEST_CORRELATION',
          'KNOWN_ROWS', 'SOME_ROWS')


@dataclass(frozen=True, eq=False)
class Data:
    """A recording, with its arm and the model that is fitted to it."""

    arm: ArmModel
    log: Recording
    friction: tuple[str, ...] | None

    @cached_property
    def model(self) -> Any:
        """Identify the model."""
        return identify(self.arm, [self.log], friction=self.friction)

    @cached_property
    def treatment(self) -> Any:
        """Conditioning in the lowest band, for planted defects without them."""
        log, _ = preparation.checked_recording(self.log, self.arm)
        return band_of_motion(choose_conditioning(self.arm.memoryless, [log]), [log])

    @cached_property
    def motions(self) -> Any:
        """Conditioned stretches."""
        return preparation.condition_recording(self.arm, self.log, self.treatment)

    @cached_property
    def own(self) -> Any:
        """Predictions of the samples that were fitted."""
        return [part for part in self.model.predictions if not part.held_out]

    @cached_property
    def tracking(self) -> tuple[Any, Array]:
        """Return the result of the online estimator, and innovations of all rows in sigmas."""
        seen: list[Array] = []
        statistics: Any = innovation_statistics.InnovationStatistics
        original = statistics.outliers

        def noted(self: Any, e: Array, spread: Array, torque: Array) -> tuple[Array, Array]:
            sure = (self.noise[3] >= innovation_statistics.SOME_ROWS) & (spread <= self.noise[0])
            large = np.abs(e) > outliers.TORQUE_SHARE * torque
            deviations = np.abs(e) / np.sqrt(np.maximum(self.noise[0] + spread, 1e-300))
            seen.append(np.where(sure & large, deviations, 0.0).ravel())
            found: tuple[Array, Array] = original(self, e, spread, torque)
            return found

        statistics.outliers = noted
        try:
            result, _ = replay(self.arm, self.log)
        finally:
            statistics.outliers = original
        return result, np.concatenate(seen)

    def changed(self, **signals: Any) -> Data:
        """Return the same with other signals, conditioned as before."""
        other = Data(self.arm, replace(self.log, **signals), self.friction)
        vars(other)['treatment'] = self.treatment
        return other

    def hit(self) -> Data:
        """Add the usual torque to the joint most loaded for a tenth of a second of its motion."""
        power = np.sqrt((self.log.u**2).mean(axis=0))
        joint, t = int(np.argmax(power)), self.log.t - self.log.t[0]
        motion = self.motions[0]
        middle = slice(len(motion.t) // 4, 3 * len(motion.t) // 4)
        fastest = int(np.argmax(np.abs(np.asarray(motion.qd)[middle, joint])))
        u, begin = self.log.u.copy(), motion.t[middle][fastest] - self.log.t[0]
        u[(t >= begin) & (t < begin + 0.1), joint] += power[joint]
        return self.changed(u=u)

    def first(self, seconds: float) -> Data:
        """Return the beginning of the motion."""
        t = self.log.t - self.log.t[0]
        return Data(self.arm, self.log.part(*np.searchsorted(t, [0.6, 0.6 + seconds])),
                    self.friction)


def recordings(folder: Path | None) -> tuple[list[Data], list[Data]]:
    """Good recordings, and those that excite too little."""
    good, poor = [], []
    for name, file, _ in CASES:
        if folder and (folder / file).exists():
            arm = load_arm(name)
            good.append(Data(arm, read_recording(folder / file, arm), None))
    if folder and (folder / 'med7').is_dir():
        with tempfile.TemporaryDirectory() as place:
            yaml = Path(place) / 'arm.yaml'
            yaml.write_text(f'name: med7\ndescription: {{urdf: {folder.resolve()}/med7/'
                            'med7dock.urdf}\ntable: {rate_hz: 100}\n')
            arm = load_arm(yaml)
        poor.append(Data(arm, read_recording(folder / 'med7/measurements.csv', arm), None))
    for name, seed in SIMULATED:
        arm = load_arm(name)
        log = simulate(arm, random_motion(arm, seed, period=10.0, periods=3), seed=seed).log
        good.append(Data(arm, log, arm.friction))
    return good, poor


def verdict_rows(good: list[Data], poor: list[Data]) -> Iterator[tuple[Any, ...]]:
    def errors(data: Data) -> tuple[float, Array, Array]:
        model = data.model
        acceleration = np.max([np.abs(m.qdd).max(axis=0) for m in data.motions], axis=0)
        return expected_errors(
            model.arm, model.theta, model.covariance, joined(data.own), acceleration)

    def wrong(data: Data) -> Iterator[tuple[float, float]]:
        """Held-out and fitted errors where another recording has another torque."""
        power = np.argsort(-(data.log.u**2).mean(axis=0))
        u = data.log.u.copy()
        u[:, power[:2]] = u[:, power[1::-1]]
        for other in (1.3 * data.log.u, u):
            metrics, _ = validate(data.model, replace(data.log, u=other))
            yield metrics.relative_error_percent, data.model.fit.relative_error_percent

    short = [data.first(4.0) for data in good if data.arm.n > 2]
    bad = [each for data in [*poor, *short] if (each := attempt(lambda d=data: errors(d)))]
    fine = [errors(data) for data in good]
    held = [(data.model.validation.relative_error_percent,
             data.model.fit.relative_error_percent) for data in good]
    broken = [pair for data in good for pair in wrong(data)]
    yield (verdict, 'LARGEST_EXPECTED_PERCENT', [x[0] for x in fine], [x[0] for x in bad],
           'med7, 4 s of motion')
    yield (verdict, 'HELD_OUT_ERROR_PERCENT', [x[1].max() for x in fine],
           [x[1].max() for x in bad], 'error bars alone: worst joint of the same')
    yield (verdict, 'HELD_OUT_ERROR_PERCENT', [x[0] for x in held], [x[0] for x in broken],
           'gain 1.3, two torques exchanged')
    yield (verdict, 'WORSE_THAN_FIT', [a / max(b, 2.5) for a, b in held],
           [a / max(b, 2.5) for a, b in broken], 'the same; fits below 2.5 % count as 2.5 %')


def standstill_rows(good: list[Data]) -> Iterator[tuple[Any, ...]]:
    slow, rest, turns, pauses = [], [], [], []
    for data in good:
        for motion in data.motions:
            speed, rate = np.abs(motion.qd), data.treatment.rate_hz
            width = max(1, int(standstill.SHORTEST_STANDSTILL_SECONDS * rate))
            inner = slice(width * 6, -width * 6)
            top = speed.max(axis=0)
            for column, highest in zip(speed[inner].T, top, strict=True):
                if len(column) > 2 * width and highest > 0.05:
                    windows = np.lib.stride_tricks.sliding_window_view(column, width).max(axis=1)
                    slow.append(windows.min() / highest)
                    below = column < standstill.still_below(np.array([highest]))[0]
                    turns.append(longest_run(below) / rate)
                    pauses.append(longest_run(column < 0.02 * highest) / rate)
    for data in (each for each in good if each.friction):
        q = data.log.q.copy()
        k = len(q) // 2
        seconds = int(3.0 / np.median(np.diff(data.log.t)))
        q[k:k + seconds] = q[k] + np.random.default_rng(1).normal(
            size=(seconds, q.shape[1])) * 1e-5
        q[k + seconds:] = data.log.q[k:len(q) - seconds]
        still = data.changed(q=q)
        motion = still.motions[0]
        t = motion.t - data.log.t[0]
        inside = (t > data.log.t[k] + 0.8) & (t < data.log.t[k] + 2.2)
        speed = np.abs(motion.qd)
        rest.append((speed[inside].max(axis=0) / speed.max(axis=0)).max())
    yield standstill, 'STILL_SHARE', slow, rest, 'rest of 3 s with encoder noise of 1e-5 rad'
    yield (standstill, 'SHORTEST_STANDSTILL_SECONDS', turns, [3.0 - 0.8],
           'time below the speed; planted rest')
    yield standstill, 'LONG_PAUSE', pauses, [3.0], 'time below 2 % of the top speed; planted rest'
    yield (standstill, 'STANDSTILL_SPEED', [], [1e-5 * 2 * np.pi * 5.0 * 2],
           'encoder noise of 1e-5 rad through a 5 Hz filter, rad/s')


def longest_run(mask: Array) -> int:
    """Length of the longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return int(np.max(edges[1::2] - edges[::2], initial=0))


def filter_rows(good: list[Data]) -> Iterator[tuple[Any, ...]]:
    passed, folded = [], []
    for data in good:
        taps = data.treatment.decimator().taps
        f = np.fft.rfftfreq(2**18, 1 / data.treatment.rate_hz) / data.treatment.cutoff_hz
        gain = np.abs(np.fft.rfft(taps, 2**18))
        passed.append(100 * np.abs(gain[f <= 0.5] - 1).max())
        folded.append(100 * gain[f >= filters.RATE_PER_CUTOFF / 2].max())
    yield filters, 'KAISER', passed, [], 'error of the gain below half the cut-off, %'
    yield filters, 'REACH_PERIODS', folded, [], 'gain from 1.5 times the cut-off on, %'


def outlier_rows(good: list[Data]) -> Iterator[tuple[Any, ...]]:
    def far(parts: Any, usual: Array) -> float:
        rms = np.sqrt(np.nanmean(np.concatenate([p.tau for p in parts]) ** 2, axis=0))
        e = np.abs(np.concatenate([p.tau - p.tau_hat for p in parts]))
        e = np.where(e > outliers.TORQUE_SHARE * rms, e, 0.0)
        return float(np.nanmax(e / np.maximum(usual, 1e-12)))

    def hit(data: Data) -> tuple[float, float]:
        """Largest residual of the good model, and the share of the samples that are far."""
        model = data.model
        _, parts = validate(model, data.hit().log)
        usual = outliers.usual_residual(data.own)
        marks = outliers.far_samples(parts, model.treatment.cutoff_hz, usual)
        share = outliers.outlier_share(marks, parts)
        return far(parts, usual), float(share.max())

    clean = [far(data.own, outliers.usual_residual(data.own)) for data in good]
    hits = [hit(data) for data in good]
    yield (outliers, 'OUTLIER_DEVIATIONS', clean, [x[0] for x in hits],
           'the usual torque added for 0.1 s')
    yield (outliers, 'LARGEST_SHARE', [x[1] for x in hits], [0.5],
           'good: the collision; bad: a signal that fails half of the time')
    yield (innovation_statistics, 'INNOVATION_DEVIATIONS',
           [data.tracking[1].max() for data in good],
           [data.hit().tracking[1].max() for data in good], 'the usual torque added for 0.1 s')


def recording_rows(good: list[Data], poor: list[Data]) -> Iterator[tuple[Any, ...]]:
    logs = [(data.arm, data.log) for data in [*good, *poor]]
    steps = [np.diff(log.t) / np.median(np.diff(log.t)) for _, log in logs]
    jitter = [np.sqrt(np.mean((s[s <= 2.5] - 1) ** 2)) for s in steps]
    rng = np.random.default_rng(1)
    late = [np.diff(np.sort(np.arange(len(log.t)) + rng.exponential(0.5, len(log.t))))
            for _, log in logs]
    yield (stamp_checks, 'JITTER', jitter,
           [np.sqrt(np.mean((s[s <= 2.5] - 1) ** 2)) for s in late], 'half a period late')
    yield stamp_checks, 'GAP_STEPS', [s.max() for s in steps], [3.0], 'two samples lost in a row'
    yield (stamp_checks, 'GAP_SECONDS', [np.diff(log.t).max() for _, log in logs], [],
           'longest step, s')
    yield (stamp_checks, 'REPEATED_STAMPS', [(np.diff(log.t) <= 0).mean() for _, log in logs],
           [0.5], 'each sample twice')
    grid = [np.abs(log.t - np.linspace(log.t[0], log.t[-1], len(log.t))).max()
            / np.median(np.diff(log.t)) for _, log in logs]
    yield (stamp_checks, 'OFF_GRID_PERIODS', grid, [],
           'sample periods; beyond it samples are interpolated')
    reach = [np.max(np.abs(np.diff(log.q, axis=0))
                    / absurd_values.largest_steps(np.diff(log.t), arm.limits.velocity))
             for arm, log in logs]
    yield (absurd_values, 'JUMP', [0.1 * x for x in reach], [0.2],
           'steps as a share of the largest one, times 0.1; a planted jump of 0.2 rad')
    yield (absurd_values, 'ABSURD_POSITION', [np.abs(log.q).max() for _, log in logs], [131072.0],
           'encoder counts of a turn')
    yield (absurd_values, 'ABSURD_SIGNAL', [np.abs(log.u).max() for _, log in logs], [1e30],
           'memory')
    moved = [np.ptp(log.q, axis=0).min() for _, log in logs]
    yield motion_checks, 'LEAST_MOTION', moved, [1e-3], 'a joint that only trembles by 1e-3'
    with_speed = [(arm, log) for arm, log in logs if log.qd is not None]
    yield (motion_checks, 'VELOCITY_MISMATCH', [mismatch(log) for _, log in with_speed],
           [mismatch(replace(log, qd=0.7 * log.qd)) for _, log in with_speed], 'scaled by 0.7')
    fast = [float(np.max(np.abs(log.qd) / np.where(arm.limits.velocity > 0,
                                                   arm.limits.velocity, np.inf)))
            for arm, log in with_speed]
    yield quality, 'VELOCITY_SLACK', fast, [180 / np.pi * min(fast)], 'degrees per second'
    beyond = [float(np.maximum(log.q - arm.limits.upper, arm.limits.lower - log.q).max())
              for arm, log in logs]
    yield quality, 'POSITION_SLACK', beyond, [], 'distance beyond a limit, rad'
    yield (quality, 'SAMPLES_PER_PARAMETER',
           [log.q.size / arm.layout.size for arm, log in logs], [1.0], 'one row each')
    spikes = [spike(log) for _, log in logs]
    planted = [spike(poked(log)) for _, log in logs]
    yield (sample_validation, 'SPIKE_USUAL', [x[0] for x in spikes], [x[0] for x in planted],
           'spikes above the other two bounds; planted: 0.1 rad')
    yield (sample_validation, 'SPIKE_POSITION', [x[1] for x in spikes], [x[1] for x in planted],
           'rad')
    yield (sample_validation, 'SPIKE_SIGNAL', [x[2] for x in spikes], [],
           'of the root mean square')
    rates = []
    for _, log in logs:
        blocks = [np.median(b) for b in np.array_split(np.diff(log.t), max(1, len(log.t) // 50))]
        rates.append(np.max(np.abs(np.median(blocks) / np.array(blocks) - 1)))
    yield resampling, 'RATE_DEVIATION', rates, [1.0], 'twice the rate'
    yield (lost_values, 'LOST_SHARE', [np.mean(~np.isfinite(log.q)) for _, log in logs],
           [1.0], 'a dead interface')


def mismatch(log: Recording) -> float:
    """Largest difference of integrated velocities from positions over half-second windows."""
    assert log.qd is not None
    time = np.diff(log.t)
    width = round(motion_checks.VELOCITY_SECONDS / float(np.median(time)))
    integral = np.cumsum(0.5 * (log.qd[1:] + log.qd[:-1]) * time[:, None], axis=0)
    moved, expected = (x[width:] - x[:-width] for x in (log.q[1:], integral))
    return float(np.max(np.linalg.norm(moved - expected, axis=0)
                        / np.maximum(np.linalg.norm(moved, axis=0), 1e-9)))


def poked(log: Recording) -> Recording:
    """Add a spike of 0.1 rad to one sample of each joint."""
    q = log.q.copy()
    q[len(q) // 2] += 0.1
    return replace(log, q=q)


def spike(log: Recording) -> tuple[float, float, float]:
    """Largest distance from the median of five: by the usual, in rad, and by the signal."""
    def out(x: Array) -> Array:
        around = np.lib.stride_tricks.sliding_window_view(x, 5, axis=0)
        return np.abs(x[2:-2] - np.median(around, axis=2))

    q, u = out(log.q), out(log.u)
    bounds, rms = sample_validation, np.sqrt((log.u**2).mean(axis=0))
    large = np.where(q > bounds.SPIKE_POSITION, q / np.maximum(q.mean(axis=0), 1e-12), 0.0)
    loud = np.where(u > bounds.SPIKE_SIGNAL * rms, u / np.maximum(u.mean(axis=0), 1e-12), 0.0)
    share = float(np.max(u / np.maximum(rms, 1e-12)))
    return float(max(large.max(), loud.max())), float(q.max()), share


def copy_rows(good: list[Data]) -> Iterator[tuple[Any, ...]]:
    def left(data: Data) -> float:
        samples = samples_of(data)
        own = np.stack([np.ones_like(samples.qd), samples.qd], axis=2)
        return 100 * float(np.nanmedian(copied_signals.unexplained_share(own, samples)))

    several = [data for data in good if data.arm.n > 2]
    copies = [data.changed(u=np.gradient(data.log.q, data.log.t, axis=0)) for data in several]
    yield (verdict, 'HELD_OUT_ERROR_PERCENT', map(left, several), map(left, copies),
           'velocity in the place of effort')


def rival_rows(good: list[Data]) -> Iterator[tuple[Any, ...]]:
    several = [data for data in good if data.arm.n > 2]
    right = [entered(data) for data in several]
    swapped = []
    for data in several:
        joints = np.argsort(-(data.log.u**2).mean(axis=0))[:2]
        u = data.log.u.copy()
        u[:, joints] = u[:, joints[::-1]]
        swapped.append(entered(data.changed(u=u)))
    what = 'torques of the two most loaded joints exchanged'
    yield (table, 'FALSE_ALARM', *(
        [np.exp(-evidence(found)) for found in each] for each in (right, swapped)), what)
    yield (reported_lines, 'MATTERS', *(
        [ratio(found) for found in each] for each in (right, swapped)), what)


def evidence(found: table.Table) -> float:
    """Return the evidence for the best suspect, by that for one of them all."""
    return max((line.evidence or 0.0 for line in found.lines), default=0.0) - float(
        np.log(max(len(found.lines), 1)))


def ratio(found: table.Table) -> float:
    """Return how much less is left of a joint by the best suspect."""
    best = found.lines[0].prediction if found.lines else None
    if best is None:
        return 1.0
    before, after = (each.residual_squares.sum(axis=0) / np.maximum(each.power.sum(axis=0), TINY)
                     for each in (found.prediction, best))
    # A signal that is left out has no residual.
    return float(np.sqrt((before[after > 0] / after[after > 0]).max()))


def samples_of(data: Data) -> TrialSamples:
    """Take all samples of a recording."""
    nothing = [np.zeros(motion.q.shape, dtype=bool) for motion in data.motions]
    return trial_samples(data.motions, data.treatment, nothing)


def entered(data: Data) -> table.Table:
    """Score all suspects of a recording."""
    arm = data.arm.memoryless
    found = table.table_of(as_recorded(arm, samples_of(data)))
    assert found is not None
    return found


def safety_rows(good: list[Data]) -> Iterator[tuple[Any, ...]]:
    from dynid_ros.arm.drive import joint_torque

    speed, effort, rest, rows = [], [], [], []
    for data in good:
        limits, log = data.arm.limits, data.log
        if log.qd is None:
            continue
        fast = np.abs(log.qd) / limits.velocity
        loaded = np.abs(joint_torque(log.u, data.arm.drive)) / limits.effort
        speed.append(fast.max())
        effort.append(loaded.max())
        over = (fast > safety_monitor.DEFAULT_THRESHOLDS.speed) | (
            loaded > safety_monitor.DEFAULT_THRESHOLDS.effort)
        rows.append(max(longest_run(column) for column in over.T))
        if data.friction:
            quiet = log.t - log.t[0] < 0.4
            rest.append(fast[quiet].max())
    yield safety_monitor, 'rest', rest, [0.1], 'a tenth of the velocity limit'
    yield safety_monitor, 'speed', speed, [1.2], 'a drive that is a fifth too fast'
    yield safety_monitor, 'effort', effort, [1.2], 'a fifth above the limit'
    yield safety_monitor, 'samples', rows, [50], 'a tenth of a second at 500 Hz'


def attempt(function: Callable[[], Any]) -> Any:
    """Call a function that may find its data unusable."""
    try:
        return function()
    except DynidError:
        return None


def held_out(data: Iterable[Data], online: bool) -> float:
    """Largest held-out error, %."""
    errors = []
    for each in data:
        model = attempt(lambda each=each: replay(each.arm, each.log)[0] if online else identify(
            each.arm, [each.log], friction=None))
        if model is None:
            return float('nan')
        errors.append(model.validation.relative_error_percent)
    return max(errors)


def setting_rows(data: list[Data]) -> Iterator[tuple[str, float, list[float]]]:
    both = [(module, name, False) for module, name in SETTINGS]
    both += [(innovation_statistics, name, True) for name in ONLINE]
    for module, name, online in both:
        value = getattr(module, name)
        found = []
        for factor in (0.5, 1.0, 2.0):
            other = type(value)(factor * value)
            if name == 'LARGEST_CORRELATION':
                other = min(other, 0.999)
            if name == 'HIGHEST_CUTOFF':
                other = min(other, 0.45)
            setattr(module, name, other)
            try:
                found.append(held_out(data, online))
            finally:
                setattr(module, name, value)
        yield label(module, name), value, found


def label(module: ModuleType, name: str) -> str:
    """Name of a field, with its module."""
    return f'{module.__name__.rpartition(".")[2]}.{name}'


def main(folder: Path | None) -> None:
    """Print two Markdown tables."""
    good, poor = recordings(folder)
    print('| threshold | value | good data | bad data | which |')
    print('|---|---|---|---|---|')
    groups = (verdict_rows(good, poor), ladder_rows(good), delay_rows(good), measured_rows(good),
              standstill_rows(good), filter_rows(good), outlier_rows(good),
              recording_rows(good, poor), copy_rows(good), rival_rows(good), safety_rows(good),
              clip_rows(good), clock_rows(good), seen_rows(good))
    for group in groups:
        for module, name, fine, bad, text in group:
            value = getattr(module if name.isupper() else module.DEFAULT_THRESHOLDS, name)
            print(f'| {label(module, name)} | {value:.3g} | {spanned(fine)} | {spanned(bad)} '
                  f'| {text} |', flush=True)
    print('\n| setting | value | error at half, % | at it, % | at twice, % |')
    print('|---|---|---|---|---|')
    quick = [data for data in good if data.arm.name in ('ur10', 'panda')][:2]
    for name, value, errors in setting_rows(quick):
        cells = ' | '.join(f'{error:.2f}' for error in errors)
        print(f'| {name} | {value:.3g} | {cells} |', flush=True)


def spanned(values: Iterable[float]) -> str:
    """Smallest and largest value."""
    numbers = [float(x) for x in values if np.isfinite(x)]
    if not numbers:
        return ''
    return f'{min(numbers):.3g} to {max(numbers):.3g}' if len(numbers) > 1 else f'{numbers[0]:.3g}'


if __name__ == '__main__':
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]) if len(sys.argv) == 2 else None)
    sys.stdout.flush()
    os._exit(0)
