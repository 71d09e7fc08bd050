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

import dynid_ros.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
import sys

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.errors import DynidError
from dynid_ros.excitation.random_motion import random_motion
from dynid_ros.identification.bandwidth import error_at
from dynid_ros.identification.identify import identify
from dynid_ros.identification.validation import split
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.recordings.recording import Recording
from dynid_ros.simulation.record import simulate
from dynid_ros.storage.recording_reader import read_recording

#: Cut-offs of the models, and of the comparison, Hz.
SWEEP = (0.5, 1.0, 2.0, 5.0, 10.0)
BANDWIDTHS = (2.0, 5.0)
REAL = (('ur10', 'ur10/ur10_exciting_trajectory.db3', 0.33),
        ('panda', 'panda/panda_exciting_trajectory.db3', 0.33),
        ('tx40', 'tx40/pos_read_data.csv', 0.5))
#: Arm, period of the fundamental in s, samples/s.
SIMULATED = (('ur10', 10.0, 125.0), ('ur10', 30.0, 125.0), ('panda', 10.0, 1000.0),
             ('panda', 20.0, 50.0), ('panda', 60.0, 50.0), ('two_axis', 20.0, 100.0),
             ('gluon_6l3', 30.0, 200.0))


@dataclass(frozen=True, eq=False)
class Case:
    """A recording, and the share of it that is held out."""

    label: str
    arm: ArmModel
    log: Recording
    share: float


def cases(folder: Path) -> Iterator[Case]:
    """Read the recordings of real arms, and simulate others."""
    for name, file, share in REAL:
        arm = load_arm(name)
        yield Case(name, arm, read_recording(folder / file, arm), share)
    for name, period, rate in SIMULATED:
        arm = load_arm(name)
        motion = random_motion(arm, 1, period=period, periods=max(1, round(60 / period)))
        log = simulate(arm, motion, rate_hz=rate, seed=1).log
        label = f'{name}, simulated, {1 / period:.2g} Hz, {rate:g} samples/s'
        yield Case(label, arm, log, 0.33)


def model_of(case: Case, cutoff: float | None) -> IdentifiedModel | None:
    """Identify with a cut-off, or with the one from the data; None where none can be used."""
    arm = replace(case.arm, conditioning=replace(case.arm.conditioning, cutoff_hz=cutoff))
    try:
        return identify(arm, [case.log], holdout=case.share)
    except DynidError:
        return None


def shown(case: Case, model: IdentifiedModel | None) -> str:
    """Held-out errors below each bandwidth, and condition number."""
    if model is None:
        return 'refused'
    _, rest = split(case.log, case.share)
    assert rest is not None
    errors = ' / '.join(
        f'{error_at(model, rest, each).relative_error_percent:.2f}' for each in BANDWIDTHS)
    doubtful = '' if model.verdict.trustworthy else '*'
    return f'{errors} ({model.condition_number:.0f}){doubtful}'


def main(folder: Path) -> None:
    """Print a Markdown table."""
    print('| recording | chosen | errors below '
          + ' / '.join(f'{each:g}' for each in BANDWIDTHS) + ' Hz, % | '
          + ' | '.join(f'{cutoff:g} Hz' for cutoff in SWEEP) + ' |')
    print('|---' * (3 + len(SWEEP)) + '|')
    for case in cases(folder):
        chosen = model_of(case, None)
        assert chosen is not None
        columns = [shown(case, model_of(case, cutoff)) for cutoff in SWEEP]
        print(f'| {case.label} | {chosen.treatment.cutoff_hz:.1f} Hz | '
              f'{shown(case, chosen)} | ' + ' | '.join(columns) + ' |', flush=True)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
