# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Held-out torque error on public recordings of real arms, at equal bandwidths, beside others.

    pip install --editable . figaroh
    python benchmarks/accuracy.py FOLDER

FOLDER is that of shared/recordings.py. Where it has folders unseen/ and field/, further tables
have recordings in them that are predicted by fits to others: most are of another motion. The last
line is the geometric mean of the ratio of errors, chosen to plain friction.

Each line is a bandwidth: measured torque, predicted torque and regressors pass the same low-pass,
and all columns are fitted to the same rows of the first part and compared on the same rows of the
rest. "as recorded" is a fit at 10 Hz that is compared with the torque as recorded.

- chosen: `dynid identify`, friction as strong as it predicts blocks of the first part
- plain: the same with viscous and Coulomb friction and offset
- least squares: ordinary least squares (numpy.linalg.lstsq) with the columns of plain
- FIGAROH: regressor, base parameters and weighted fit of FIGAROH's library, with friction, rotor
  inertia and offset as plain has them; empty where it is not installed
- published: the model of the UR10 that was published with the recording and fitted to all of it
  (Petrone et al. 2025, doi 10.1109/TII.2025.3534415; repository at commit 41e196d). Its C++ was
  given the same filtered motion outside of this project; the figures are copied here.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections.abc import Sequence
from pathlib import Path
import sys

import numpy as np
from shared.figaroh_fit import figaroh_residual
from shared.recordings import (
    below,
    Case,
    FIELD,
    field_recordings,
    held_out,
    in_two,
    Logs,
    percent,
    recordings,
    UNSEEN,
)
from shared.tables import heading, row

from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.base import base_parameters, gravity_load
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import checked_recording, condition_recordings
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

BANDWIDTHS = (2.0, 5.0, 10.0)
#: The recording of 4.5 s of fast motion has few rows below 10 Hz.
WIDER = {'tx40': (16.0,)}
AS_RECORDED = 'as recorded'
PUBLISHED = {('ur10', 2.0): 7.17, ('ur10', 5.0): 7.91, ('ur10', 10.0): 8.10,
             ('ur10', AS_RECORDED): 8.12}


def rows(
    arm: ArmModel, logs: Logs, settings: ConditioningSettings,
) -> tuple[Array, Array]:
    """Regressor (k, b) and torque (k,) of all joints in motion, one below another."""
    kept = KeptRows(arm, condition_recordings(arm, logs, settings), settings, arm.friction)
    blocks = [(block.W[block.moving], block.tau[block.moving]) for block in kept.blocks(arm)]
    W, tau = (np.concatenate(each) for each in zip(*blocks, strict=True))
    return W, tau


def least_squares(plain: IdentifiedModel, first: Logs, rest: Logs) -> float:
    """Held-out error of ordinary least squares on the rows of a model, %."""
    arm, settings = plain.arm, plain.treatment
    W, tau = rows(arm, first, settings)
    theta = np.linalg.lstsq(W, tau, rcond=None)[0]
    W, tau = rows(arm, rest, settings)
    return percent(tau - W @ theta, tau)


def figaroh(plain: IdentifiedModel, first: Recording, rest: Recording) -> float | None:
    """Held-out error of FIGAROH on the rows of a model, %, where it is installed."""
    found = figaroh_residual(plain.arm, plain.treatment, first, rest)
    return found and percent(*found)


def as_recorded(model: IdentifiedModel, rest: Recording) -> float:
    """Held-out error on the torque as recorded, %."""
    arm, left, power = model.arm, [], []
    reach = model.treatment.decimator().reach
    for motion in condition_recordings(arm, [rest], model.treatment):
        part = slice(reach, len(motion.tau) - reach)
        q, qd, qdd = motion.q[part], motion.qd[part], motion.qdd[part]
        load = gravity_load(arm, q, model.theta) if arm.needs_load else None
        W = regressor(arm, q, qd, qdd, load=load, history=motion.history(part))[
            :, :, base_parameters(arm).columns]
        moving = motion.moving[part]
        left.append((motion.tau[part] - W @ model.theta)[moving])
        power.append(motion.tau[part][moving])
    return percent(np.concatenate(left), np.concatenate(power))


def line(name: str, bandwidth: float | str, errors: list[float | None], terms: str) -> None:
    """Print one line of the table."""
    hz = bandwidth if isinstance(bandwidth, str) else f'{bandwidth:.3g} Hz'
    row(name, hz, *('' if error is None else f'{error:.1f} %' for error in errors), terms)


def main(folder: Path) -> None:
    """Print the tables and the geometric mean."""
    ratios = []
    heading('arm, held out', 'bandwidth', 'chosen', 'plain', 'least squares', 'FIGAROH',
            'published', 'chosen friction beyond plain')
    for name, arm, log, share in recordings(folder):
        first, rest = in_two(log, share)
        label = f'{name}, last {100 * share:.0f} %'
        for cutoff in (None, *BANDWIDTHS, *WIDER.get(name, ())):
            own = below(arm, cutoff)
            chosen = identify(own, [log], holdout=share)
            plain = identify(own, [log], friction=PLAIN_TERMS, holdout=share)
            bandwidth = chosen.treatment.cutoff_hz
            ratios.append(held_out(chosen) / held_out(plain))
            line(label, bandwidth if cutoff else f'{bandwidth:.3g} Hz (from the data)', [
                held_out(chosen), held_out(plain), least_squares(plain, [first], [rest]),
                figaroh(plain, first, rest), PUBLISHED.get((name, bandwidth))],
                further(chosen))
        line(label, AS_RECORDED, [
            as_recorded(chosen, rest), as_recorded(plain, rest), None, None,
            PUBLISHED.get((name, AS_RECORDED))], further(chosen))
    for part, cases in (('unseen', UNSEEN), ('field', FIELD)):
        if (folder / part).is_dir():
            ratios += field_table(folder / part, cases)
    mean = float(np.exp(np.mean(np.log(ratios))))
    print(f'chosen by plain friction: geometric mean {mean:.3f}, at most {max(ratios):.3f}')


def field_table(folder: Path, cases: Sequence[Case]) -> list[float]:
    """Print the table of some recordings, and return the ratio of chosen by plain."""
    print()
    heading('arm, fitted, held out', 'bandwidth', 'chosen', 'plain', 'least squares', 'by plain',
            'chosen friction', 'verdict')
    ratios = []
    for label, arm, logs, rest, share in field_recordings(folder, cases):
        chosen, plain = (identify(arm, logs, validation=rest, holdout=share, friction=friction)
                         for friction in (None, PLAIN_TERMS))
        first, unseen = ([checked_recording(log, arm)[0] for log in part] for part in (logs, rest))
        if share:
            first, unseen = ([part] for part in in_two(first[0], share))
        ratios.append(held_out(chosen) / held_out(plain))
        row(label, f'{plain.treatment.cutoff_hz:.3g} Hz', f'{held_out(chosen):.2f} %',
            f'{held_out(plain):.2f} %', f'{least_squares(plain, first, unseen):.2f} %',
            f'{ratios[-1]:.3f}', further(chosen),
            'trustworthy' if chosen.verdict.trustworthy else chosen.verdict.findings[0].code)
    return ratios


def further(model: IdentifiedModel) -> str:
    """Name the terms of a model beyond plain friction."""
    return ', '.join(name for name in model.arm.friction if name not in PLAIN_TERMS) or 'plain'


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
