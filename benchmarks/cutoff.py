"""
The cut-off that is chosen from the motion, against the best of a sweep.

    python benchmarks/cutoff.py FOLDER

FOLDER holds recordings of real arms, as for accuracy.py. Ten recordings, real and simulated, fast
and slow, are identified with the cut-off that dynid chooses and with each of a sweep. Every model
is compared on the same held-out third (half of the TX40) below 2 Hz and below 5 Hz; in brackets
stands its condition number, which more friction terms raise, too. A star marks a model that the
verdict does not trust.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import sys

from accuracy import below, recordings

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.identification.bandwidth import error_at
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import split
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.regression.preparation import checked_recording
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

#: Cut-offs of the models, and of the comparison, Hz.
SWEEP = (0.5, 1.0, 2.0, 5.0, 10.0)
BANDWIDTHS = (2.0, 5.0)
#: Arm, period of the fundamental in s, samples/s.
SIMULATED = (('ur10', 10.0, 125.0), ('ur10', 30.0, 125.0), ('panda', 10.0, 1000.0),
             ('panda', 20.0, 50.0), ('panda', 60.0, 50.0), ('two_axis', 20.0, 100.0),
             ('gluon_6l3', 30.0, 200.0))


@dataclass(frozen=True, eq=False)
class Case:
    """A recording, the share of it that is held out, and that part."""

    label: str
    arm: ArmModel
    log: Recording
    share: float
    rest: Recording


def cases(folder: Path) -> Iterator[Case]:
    """Read the recordings of real arms, and simulate others."""
    for name, arm, log, share in recordings(folder):
        yield case(name, arm, log, share)
    for name, period, rate in SIMULATED:
        arm = load_arm(name)
        motion = random_motion(arm, 1, period=period, periods=round(60 / period))
        log, _ = checked_recording(simulate(arm, motion, rate_hz=rate, seed=1).log, arm)
        yield case(f'{name}, simulated, {1 / period:.2g} Hz, {rate:g} samples/s', arm, log, 1 / 3)


def case(label: str, arm: ArmModel, log: Recording, share: float) -> Case:
    """Hold out the end of a recording."""
    _, rest = split(log, share)
    assert rest is not None
    return Case(label, arm, log, share, rest)


def model_of(case: Case, cutoff: float | None) -> IdentifiedModel:
    """Identify with a cut-off, or with the one from the data."""
    return identify(below(case.arm, cutoff), [case.log], holdout=case.share)


def shown(case: Case, model: IdentifiedModel) -> str:
    """Held-out errors below each bandwidth, and condition number."""
    errors = ' / '.join(
        f'{error_at(model, case.rest, each).relative_error_percent:.2f}' for each in BANDWIDTHS)
    doubtful = '' if model.verdict.trustworthy else '*'
    return f'{errors} ({model.condition_number:.0f}){doubtful}'


def with_cutoff(case: Case, cutoff: float) -> str:
    """Do the same for a cut-off of the sweep, which may leave too few rows."""
    try:
        return shown(case, model_of(case, cutoff))
    except RecordingError:
        return 'refused'


def main(folder: Path) -> None:
    """Print a Markdown table."""
    below = ' / '.join(f'{each:g}' for each in BANDWIDTHS)
    sweep = ' | '.join(f'{cutoff:g} Hz' for cutoff in SWEEP)
    print(f'| recording | chosen | errors below {below} Hz, % | {sweep} |')
    print('|---' * (3 + len(SWEEP)) + '|')
    for each in cases(folder):
        chosen = model_of(each, None)
        columns = ' | '.join(with_cutoff(each, cutoff) for cutoff in SWEEP)
        print(f'| {each.label} | {chosen.treatment.cutoff_hz:.2g} Hz | {shown(each, chosen)} '
              f'| {columns} |', flush=True)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
