# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
The cut-off that is chosen from the data, against the best of a sweep, and its rule without an arm.

    python benchmarks/cutoff.py FOLDER

FOLDER is that of shared/recordings.py, with field/ in it. To its recordings come those of two
arms with white noise added to the positions, and simulated ones, fast and slow.

The first table has a row for each recording: the error of each rung of the ladder in the lowest
band, the cut-off that follows, and the held-out errors below 2 and below 5 Hz of `identify` at
each cut-off of a sweep. The delay is that of the defaults throughout. The regret is the error of
the defaults by the least one of the sweep, in the worse of the two bands. Added noise is in the
recording that is fitted, and not in the one that is predicted.

The second table shows how much the rule owes to one arm. For each arm, it has the constants of the
rule (`WORSE` and `USUAL_HZ` of the ladder) that give all recordings of all other arms the least
regret, in the geometric mean, and the largest regret that these give the recordings of this arm.
Where several pairs are as good, it is the one in the middle. The third table has the regret of
each pair, and of one cut-off for all recordings.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
import gzip
from itertools import product
from pathlib import Path
import sys
import tempfile

import numpy as np
from shared.recordings import below, field_recordings, in_two, recordings
from shared.tables import heading, row

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import HIGHEST_CUTOFF
from dynid_ros.errors import DynidError
from dynid_ros.estimation.band import ladder
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.validation import error_at
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate
from dynid_ros.utilities.arrays import Array

#: Cut-offs of the models, and bands in which they are compared, Hz.
SWEEP, BANDS = (2.0, 3.0, 5.0, 10.0, 20.0), (2.0, 5.0)
#: Held-out share of simulated recordings.
SHARE = 1 / 3
#: Arm, period of the fundamental in s, samples/s.
SIMULATED = (('ur10', 10.0, 125.0), ('ur10', 30.0, 125.0), ('panda', 10.0, 1000.0),
             ('panda', 20.0, 50.0), ('panda', 60.0, 50.0), ('two_axis', 20.0, 100.0),
             ('gluon_6l3', 30.0, 200.0))
#: Arms whose positions get white noise, and its standard deviations, rad.
NOISY, NOISES = ('ur10', 'panda'), (3e-4, 3e-3)
#: Pairs of constants among which the rule chooses: `WORSE` and `USUAL_HZ`.
PAIRS = tuple(product((1.05, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0), (2.0, 5.0, 10.0)))
#: Ratio of geometric means up to which two pairs are as good.
SAME = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Case:
    """Recordings to fit, those to predict, and the share of the former that these are, or zero."""

    name: str
    arm: ArmModel
    logs: list[Recording]
    unseen: list[Recording]
    share: float

    @classmethod
    def part(cls, name: str, arm: ArmModel, log: Recording, share: float) -> Case:
        """Hold out the last part of a recording."""
        return cls(name, arm, [log], [in_two(checked_recording(log, arm)[0], share)[1]], share)

    def identified(self, cutoff: float | None, delay: float | None) -> IdentifiedModel:
        """Identify with a cut-off and a delay, or with those that the data ask for."""
        arm = below(self.arm, cutoff)
        if delay is not None:
            arm = replace(arm, conditioning=replace(arm.conditioning, delay=delay))
        return identify(arm, self.logs, validation=[] if self.share else self.unseen,
                        holdout=self.share)

    def errors_of(self, model: IdentifiedModel) -> Array:
        """Return the held-out error of a model in each band, %: the mean square of all, rooted."""
        each = [[error(model, log, band) for log in self.unseen] for band in BANDS]
        return np.asarray(np.sqrt(np.mean(np.square(each), axis=1)))


@dataclass(frozen=True, eq=False)
class Study:
    """
    What the choice for a recording has to go by, and what it leads to.

    Attributes
    ----------
    case : Case
        Recording and what it predicts.
    default : IdentifiedModel
        With the cut-off from the data.
    left : dict of float to (blocks,) ndarray
        Squared torque that is left in the lowest band by cut-off; none of a short recording.
    errors : dict of float to (2,) ndarray
        Held-out errors by cut-off, as far as they were asked for, %.

    """

    case: Case
    default: IdentifiedModel
    left: dict[float, Array]
    errors: dict[float, Array] = field(default_factory=dict)

    @property
    def chosen(self) -> float:
        """Return the cut-off of the defaults, Hz."""
        return self.default.treatment.cutoff_hz

    def error(self, cutoff: float) -> Array:
        """Return the held-out errors of the model below a cut-off, %; infinite if refused."""
        if cutoff not in self.errors:
            self.errors[cutoff] = self._error(cutoff)
        return self.errors[cutoff]

    def _error(self, cutoff: float) -> Array:
        if cutoff == self.chosen:
            return self.case.errors_of(self.default)
        try:
            return self.case.errors_of(
                self.case.identified(cutoff, self.default.treatment.delay))
        except DynidError:
            # The rate is too low for it, or too few rows are left.
            return np.full(2, np.inf)

    def regret(self, cutoff: float) -> float:
        """Return the error below a cut-off by the least one of the sweep, in the worse band."""
        least = np.fmin.reduce([self.error(each) for each in {*SWEEP, self.chosen}])
        return float(np.fmax.reduce(self.error(cutoff) / least))

    def choice(self, worse: float, usual: float) -> float:
        """Return the cut-off that the rule would choose with other constants, Hz."""
        if not self.left:
            return min(usual, HIGHEST_CUTOFF * self.default.treatment.rate_hz)
        present, ladder.WORSE_CUTOFF = ladder.WORSE_CUTOFF, worse
        try:
            return ladder.chosen(
                self.left, min((each for each in self.left if each >= usual),
                               default=max(self.left)))
        finally:
            ladder.WORSE_CUTOFF = present


def error(model: IdentifiedModel, log: Recording, band: float) -> float:
    """Held-out error in a band, %; NaN where the recording is too short for the low-pass."""
    try:
        return error_at(model, log, band).relative_error_percent
    except DynidError:
        return np.nan


def unpacked(path: Path, arm: ArmModel) -> Recording:
    """Read a compressed recording."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        return read_recording(plain, arm)


def cases(folder: Path) -> Iterator[Case]:
    """Read the recordings of real arms, spoil some, and simulate others."""
    real = list(recordings(folder))
    for name, arm, log, share in real:
        yield Case.part(f'real {name}', arm, log, share)
    for name, arm, logs, rest, share in field_recordings(folder / 'field'):
        yield (Case.part(f'real {name}', arm, logs[0], share) if share
               else Case(f'real {name}', arm, logs, rest, 0.0))
    gen3 = folder / 'field' / 'gen3'
    arm = load_arm(gen3 / 'arm.yaml')
    first, second = (
        [unpacked(gen3 / f'opti_traj_testing{number}.csv.gz', arm)] for number in (1, 2))
    yield Case('real gen3, testing1, held out: testing2', arm, first, second, 0.0)
    rng = np.random.default_rng(1)
    for name, arm, log, share in real:
        white = rng.normal(size=log.q.shape) if name in NOISY else log.q
        for noise in NOISES if name in NOISY else ():
            yield replace(Case.part(f'{name}, noise of {noise:g} rad', arm, log, share),
                          logs=[replace(log, q=log.q + noise * white)])
    for name, period, rate in SIMULATED:
        arm = load_arm(name)
        motion = random_motion(arm, 1, period=period, periods=round(60 / period))
        log = simulate(arm, motion, rate_hz=rate, seed=1).log
        yield Case.part(
            f'simulated {name}, {1 / period:.2g} Hz, {rate:g} samples/s', arm, log, SHARE)


def study(case: Case) -> Study:
    """Identify with the defaults, and note what their choice has to go by."""
    seen: list[dict[float, Array]] = [{}]
    rule = ladder.chosen

    def noted(left: dict[float, Array], usual: float) -> float:
        seen.append(left)
        return rule(left, usual)

    ladder.chosen = noted
    try:
        default = case.identified(None, None)
    finally:
        ladder.chosen = rule
    rungs = [rung.cutoff_hz for rung in default.treatment.ladder]
    return Study(case, default, next(each for each in reversed(seen) if list(each) == rungs))


def shown(errors: Array) -> str:
    """Return the errors of both bands."""
    return ' / '.join(f'{each:.2f}' for each in errors) if np.isfinite(
        errors).any() else 'refused'


def print_study(each: Study) -> None:
    """Print a row of the first table."""
    rungs = ', '.join(f'{rung.cutoff_hz:g}: {rung.error_percent:.3g}'
                      for rung in each.default.treatment.ladder)
    delay = 1e3 * each.default.treatment.delay
    row(each.case.name, rungs or 'too short', f'{each.chosen:.3g} Hz', f'{delay:.0f}',
        *(shown(each.error(cutoff)) for cutoff in SWEEP), f'{each.regret(each.chosen):.3f}')


def mean_regret(studies: Sequence[Study], pair: tuple[float, float]) -> float:
    """Return the geometric mean of the regret with other constants."""
    return float(np.exp(np.mean(np.log([
        each.regret(each.choice(*pair)) for each in studies]))))


def best_pair(studies: Sequence[Study]) -> tuple[float, float]:
    """Return the pair of constants with the least regret, the middle one of equals."""
    means = {pair: mean_regret(studies, pair) for pair in PAIRS}
    least = min(means.values())
    # By USUAL_HZ first, so that the middle one has its neighbours in WORSE beside it.
    equals = sorted((pair for pair in PAIRS if means[pair] <= least * SAME),
                    key=lambda pair: (pair[1], pair[0]))
    return equals[(len(equals) - 1) // 2]


def leave_out(studies: Sequence[Study]) -> None:
    """Print the second table."""
    print()
    heading('arm left out', 'recordings', 'WORSE', 'USUAL_HZ', 'largest regret', 'as shipped')
    shipped, pairs, regrets = (ladder.WORSE_CUTOFF, ladder.USUAL_HZ), [], []
    for name in dict.fromkeys(each.case.arm.name for each in studies):
        own = [each for each in studies if each.case.arm.name == name]
        pair = best_pair([each for each in studies if each not in own])
        worst, usual = (max(each.regret(each.choice(*constants)) for each in own)
                        for constants in (pair, shipped))
        row(name, len(own), f'{pair[0]:g}', f'{pair[1]:g}', f'{worst:.3f}', f'{usual:.3f}')
        pairs.append(pair)
        regrets.append(worst)
    worse, usuals = zip(*pairs, strict=True)
    print(f'\nWORSE {min(worse):g} to {max(worse):g}, USUAL_HZ {min(usuals):g} to {max(usuals):g}'
          f'; largest regret of an arm that was left out {max(regrets):.3f}')


def compare_constants(studies: Sequence[Study]) -> None:
    """Print the third table."""
    print()
    heading('constants', 'mean regret', 'largest', 'of')
    rules = [(f'{cutoff:g} Hz for all', [each.regret(cutoff) for each in studies])
             for cutoff in SWEEP]
    rules += [(f'WORSE {worse:g}, USUAL_HZ {usual:g}',
               [each.regret(each.choice(worse, usual)) for each in studies])
              for worse, usual in PAIRS]
    for name, regrets in rules:
        place = int(np.argmax(regrets))
        mean = np.exp(np.mean(np.log(regrets)))
        row(name, f'{mean:.3f}', f'{regrets[place]:.3f}', studies[place].case.name)


def main(folder: Path) -> None:
    """Print Markdown tables."""
    heading('recording', 'error in the lowest band by cut-off, %', 'chosen', 'delay, ms',
            *(f'{cutoff:g} Hz' for cutoff in SWEEP), 'regret')
    studies = []
    for case in cases(folder):
        studies.append(study(case))
        print_study(studies[-1])
    leave_out(studies)
    compare_constants(studies)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
