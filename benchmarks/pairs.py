# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Whether the error bars of two recordings of one arm hold the difference between their estimates.

    python benchmarks/pairs.py FOLDER

FOLDER is that of shared/recordings.py; an arm in its unseen/ or field/ may have several
recordings, all without a load. Each is identified whole, with plain friction, so that all have the
same parameters; of the others, each half is. No constant of the error bars was chosen on these
halves or on unseen/; the share of the covariance that is each parameter's own, and the number of
groups, were chosen on the field arms. Compared are base parameters that both recordings determine
(``source: data``), in all pairs of recordings of an arm: how many of the differences lie within
the 95 % interval of a difference, and the root mean square of the difference by its standard
deviation, which is 1 where error bars hold. Friction changes with load, warmth and time; inertial
parameters do not.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from itertools import combinations
from pathlib import Path
import sys

import numpy as np
from shared.recordings import read_arm, recordings
from shared.tables import heading, row

from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import friction_places
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Names of the files that are recordings.
KINDS = ('.csv', '.npz')
#: Half of a 95 % interval, in standard deviations.
INTERVAL = 1.96


def models(arm: ArmModel, folder: Path) -> list[IdentifiedModel]:
    """Identify each recording of an arm."""
    return [identify(arm, [read_recording(path, arm)], friction=PLAIN_TERMS, holdout=0)
            for path in sorted(folder.iterdir()) if path.name.endswith(KINDS)]


def compared(found: list[IdentifiedModel]) -> tuple[Array, Array]:
    """Return differences by their standard deviations, of inertial parameters and of friction."""
    friction = np.isin(np.arange(len(found[0].theta)), friction_places(found[0].arm))
    scores: tuple[list[Array], list[Array]] = ([], [])
    for one, other in combinations(found, 2):
        z = (one.theta - other.theta) / np.hypot(one.std, other.std)
        known = one.from_data & other.from_data
        for rubbing, part in zip((False, True), scores, strict=True):
            part.append(z[known & (friction == rubbing)])
    inertial, rubbing = map(np.concatenate, scores)
    return inertial, rubbing


def described(z: Array) -> str:
    """Return number, share within the interval, and root mean square of scores."""
    if not len(z):
        return '0 | |'
    return (f'{len(z)} | {100 * float((np.abs(z) < INTERVAL).mean()):.0f} % '
            f'| {float(np.sqrt((z**2).mean())):.2f}')


def halves(arm: ArmModel, log: Recording) -> list[IdentifiedModel]:
    """Identify both halves of a recording."""
    middle = len(log.t) // 2
    return [identify(arm, [part], friction=PLAIN_TERMS, holdout=0)
            for part in (log.part(0, middle), log.part(middle, len(log.t)))]


def print_rows(found: dict[str, list[IdentifiedModel]]) -> None:
    """Print a row for each arm of which there are two models, and one for all of them."""
    every: tuple[list[Array], list[Array]] = ([], [])
    for name, own in found.items():
        if len(own) < 2:
            continue
        scores = compared(own)
        for all_of_kind, part in zip(every, scores, strict=True):
            all_of_kind.append(part)
        row(name, len(own) * (len(own) - 1) // 2, *map(described, scores))
    row('all of these', '', *(described(np.concatenate(own)) for own in every))


def main() -> None:
    """Print a Markdown table."""
    if len(sys.argv) != 2:
        sys.exit((__doc__ or '').strip())
    heading('arm', 'pairs', 'inertial', 'agree', 'rms z', 'friction', 'agree', 'rms z')
    folder = Path(sys.argv[1])
    print_rows({f'halves of {name}': halves(arm, log) for name, arm, log, _ in recordings(folder)})
    print_rows({path.parents[1].name: models(read_arm(path), path.parents[1])
                for path in sorted((folder / 'unseen').glob('*/arm/arm.yaml'))})
    print_rows({path.parent.name: models(read_arm(path), path.parent)
                for path in sorted((folder / 'field').glob('*/arm.yaml'))})


if __name__ == '__main__':
    main()
