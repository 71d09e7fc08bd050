"""
How good the defaults of `identify` are on logs as people write them.

    python benchmarks/logs.py FOLDER [WORD ...]

FOLDER holds recordings of real arms, as for accuracy.py, with field/ in it; a folder cases/ beside
it may hold 09-polled-log and 12-newest-state, logs of which a twin has even stamps. The other logs
are simulated, and planted_clocks.py spoils their clocks. A WORD chooses the cases whose names
contain it: "real", "twin", "planted", "planted ur10", "jitter 1 ms".

Each row is a case, identified with the cut-off, the clock and the delay that dynid chooses. Errors
are those on the held-out part below 2 and below 5 Hz. The reference is, band by band, the best
model of a ladder of cut-offs from recordings whose clock is true: the even twin, the simulated
recording before its clock was spoilt, or the real recording, of which nothing better is known. All
models of a row are compared on the held-out part with the true clock, so that the error is the
model's and not the log's. The ratio is the larger one of the two bands, and to be `RATIO` at most.
No planted clock is a fault: each model should be trusted, without a finding that is an error.
The seconds are those of the processor for the defaults.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
import gzip
from pathlib import Path
import sys
import tempfile
import time
from typing import NamedTuple

from accuracy import below, field_recordings, recordings
import numpy as np
from numpy.typing import NDArray
from planted_clocks import even_recording, PLANTED

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import DynidError
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.identification.bandwidth import error_at
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import split
from dynid_ros.estimation.model.identified_model import IdentifiedModel

Array = NDArray[np.float64]

#: Cut-offs of the reference, and bands in which models are compared, Hz.
LADDER, BANDS = (2.0, 5.0, 10.0, 20.0), (2.0, 5.0)
#: Largest error of the defaults, relative to the reference.
RATIO = 1.25
#: Held-out share of logs with planted clocks.
SHARE = 1 / 3
#: Logs below cases/ and their twins, each with its arm.
TWINS = (('09-polled-log', 'polled.npz', 'even.npz', 'ur10'),
         ('12-newest-state', 'newest.csv.gz', 'even.csv.gz', None))
#: What the defects of a clock begin with.
CLOCK = ('stamps', 'samples', 'state', 'clock')


@dataclass(frozen=True, eq=False)
class Reference:
    """Recordings to fit and to hold out, or a share of these; and whether their clock is exact."""

    arm: ArmModel
    logs: list[Recording]
    rest: list[Recording]
    share: float
    exact: bool = False

    @cached_property
    def unseen(self) -> list[Recording]:
        """Return the held-out recordings."""
        if self.rest:
            return self.rest
        cleaned = [checked_recording(log, self.arm)[0] for log in self.logs]
        return [rest for _, rest in (split(log, self.share) for log in cleaned) if rest]

    @cached_property
    def errors(self) -> Array:
        """Return the least held-out error of the ladder in each band, %."""
        found = []
        for cutoff in LADDER:
            try:
                model = self.identified(self.logs, cutoff)
            except DynidError:
                # Too few rows are left below it.
                continue
            found.append(self.errors_of(model))
        return np.asarray(np.fmin.reduce(found, axis=0, initial=np.nan))

    def identified(self, logs: Sequence[Recording], cutoff: float | None) -> IdentifiedModel:
        """Identify with a cut-off, or with the defaults, and hold out as much in any case."""
        return identify(
            below(self.arm, cutoff), logs, validation=self.rest, holdout=self.share)

    def errors_of(self, model: IdentifiedModel) -> Array:
        """Return the held-out error of a model in each band, %: the mean square of all, rooted."""
        if self.exact:
            # What was removed from its own log is none of these recordings.
            model = replace(model, treatment=replace(model.treatment, delay=0.0))
        each = [[error(model, log, band) for log in self.unseen] for band in BANDS]
        return np.asarray(np.sqrt(np.mean(np.square(each), axis=1)))


class Case(NamedTuple):
    """Logs to identify with the defaults, and what the model is compared with."""

    name: str
    logs: list[Recording]
    reference: Reference


class Row(NamedTuple):
    """A line of the table, and what the summary counts."""

    line: str
    ratio: float
    accused: bool


def error(model: IdentifiedModel, log: Recording, band: float) -> float:
    """Held-out error in a band, %; NaN where the recording is too short for the low-pass."""
    try:
        return error_at(model, log, band).relative_error_percent
    except DynidError:
        return np.nan


def cases(folder: Path, words: Sequence[str]) -> Iterator[Case]:
    """Read or simulate the cases that are asked for."""
    def chosen(name: str) -> bool:
        return not words or any(word in name for word in words)

    for case in (*real_cases(folder), *twin_cases(folder.parent / 'cases')):
        if chosen(case.name):
            yield case
    for each in filter(lambda each: chosen(each.name), PLANTED):
        yield Case(each.name, [each.recording()], even_reference(each.arm, each.rate_hz))


def real_cases(folder: Path) -> Iterator[Case]:
    """Read recordings of real arms, which are their own reference."""
    for name, arm, log, share in recordings(folder):
        yield Case(f'real {name}', [log], Reference(arm, [log], [], share))
    for name, arm, logs, rest, share in field_recordings(folder / 'field'):
        yield Case(f'real {name}', logs, Reference(arm, logs, rest, share))
    gen3 = folder / 'field' / 'gen3'
    arm = load_arm(gen3 / 'arm.yaml')
    first, second = (
        [unpacked(gen3 / f'opti_traj_testing{number}.csv.gz', arm)] for number in (1, 2))
    yield Case('real gen3, testing1, held out: testing2', first,
               Reference(arm, first, second, 0.0))


def twin_cases(folder: Path) -> Iterator[Case]:
    """Read logs of which a twin has even stamps, where there are any."""
    for name, log, even, shipped in TWINS:
        own = folder / name
        if own.is_dir():
            arm = load_arm(shipped or own / 'arm')
            spoilt, true = ([unpacked(own / file, arm)] for file in (log, even))
            yield Case(f'twin {name}', spoilt, Reference(arm, true, [], SHARE, exact=True))


@lru_cache
def even_reference(name: str, rate_hz: float) -> Reference:
    """Return the reference of all clocks that are planted at a rate of an arm."""
    return Reference(load_arm(name), [even_recording(name, rate_hz)], [], SHARE, exact=True)


def unpacked(path: Path, arm: ArmModel) -> Recording:
    """Read a recording, which may be compressed."""
    if path.suffix != '.gz':
        return read_recording(path, arm)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        return read_recording(plain, arm)


def row(case: Case) -> Row:
    """Compare the defaults with the reference."""
    reference = case.reference
    least = reference.errors
    begin = time.process_time()
    try:
        model = reference.identified(case.logs, None)
    except DynidError as refusal:
        seconds = time.process_time() - begin
        return Row(f'| {case.name} | | | | | {shown(least)} | | refused: {refusal} '
                   f'| {seconds:.0f} |', np.inf, True)
    seconds = time.process_time() - begin
    found = reference.errors_of(model)
    ratio = float(np.fmax.reduce(found / least))
    codes = dict.fromkeys(each.code for each in model.verdict.findings if each.is_error)
    verdict = ' '.join(('trusted' if model.verdict.trustworthy else 'not trusted', *codes))
    clock = ', '.join(dict.fromkeys(
        each.code for each in model.defects if each.code.startswith(CLOCK)))
    treatment = model.treatment
    return Row(
        f'| {case.name} | {clock} | {treatment.cutoff_hz:.3g} Hz | {1e3 * treatment.delay:.1f} '
        f'| {shown(found)} | {shown(least)} | {ratio:.2f} | {verdict} | {seconds:.0f} |',
        ratio, bool(codes) or not model.verdict.trustworthy)


def shown(errors: Array) -> str:
    """Return the errors of both bands as two columns."""
    return ' / '.join(f'{each:.2f}' for each in errors)


def main(folder: Path, words: Sequence[str]) -> None:
    """Print a Markdown table, and which rows are not as they should be."""
    bands = ' / '.join(f'{each:g}' for each in BANDS)
    print(f'| case | clock | cut-off | delay, ms | error below {bands} Hz, % '
          '| reference, % | ratio | verdict | s |')
    print('|---' * 9 + '|')
    rows: dict[str, Row] = {}
    planted: list[str] = []
    for case in cases(folder, words):
        rows[case.name] = row(case)
        planted += [case.name] if case.reference.exact else []
        print(rows[case.name].line, flush=True)
    poor = [name for name, each in rows.items() if not each.ratio <= RATIO]
    accused = [name for name in planted if rows[name].accused]
    print(f'\n{len(poor)} of {len(rows)} rows have a ratio above {RATIO:g}: {listed(poor)}')
    print(f'{len(accused)} of {len(planted)} planted rows have an error or are not trusted: '
          f'{listed(accused)}')


def listed(names: Sequence[str]) -> str:
    """Return names in one line."""
    return '; '.join(names) or 'none'


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
