"""
Friction that the choice of terms does not try, and presliding over other distances.

    python benchmarks/friction_candidates.py FOLDER

FOLDER holds recordings of real arms, as for accuracy.py. Each line adds a candidate, with a
coefficient for each joint, to the terms that `dynid identify` chooses without presliding, on the
same rows: the error on blocks of time that were not fitted (ten-fold cross-validation in the
training part), by how many standard errors that is better, and the held-out error. v is the speed,
g the size of the gravity torque and w that of the whole torque without friction.
"""

from __future__ import annotations

import dynid_ros.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections.abc import Iterator, Sequence
from pathlib import Path
import sys

from accuracy import below, recordings
import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import PRESLIDING
from dynid_ros.arm.model import ArmModel
from dynid_ros.cross_validation.friction_choice import difference, Products, THRESHOLDS
from dynid_ros.dynamics.base import base_parameters, gravity_load
from dynid_ros.identification.division import split
from dynid_ros.identification.identify import identify
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.torque_prediction import torque_rows
from dynid_ros.recordings.recording import Recording
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.preparation import take_motions
from dynid_ros.regression.rows import RowBlock
from dynid_ros.regression.weighted_least_squares import compress, QRFactors, stack
from dynid_ros.signals.conditioning import ConditionedMotion

Array = NDArray[np.float64]
Columns = NDArray[np.intp]

BANDWIDTHS = {'ur10': (5.0, 10.0), 'panda': (5.0, 10.0), 'tx40': (5.0, 16.0)}
DISTANCES = (0.001, 0.003, 0.01, 0.03, 0.1)
WAVES = (1, 2, 3, 4, 6, 8)


def candidates(model: IdentifiedModel, motion: ConditionedMotion) -> dict[str, list[Array]]:
    """Columns (N, n) of each candidate."""
    q, v = motion.q, np.asarray(motion.qd[:])
    torque = rigid_torque(model, motion)
    load, whole = np.abs(gravity_load(model.arm, q, model.theta)), np.abs(torque)
    sign, slow = np.tanh(v / 0.03), np.exp(-np.abs(v) / 0.1)
    found = {
        'w sign': [whole * sign],
        'w sign, driving': [whole * sign * (torque * v > 0)],
        'w v': [whole * v],
        'w Stribeck': [whole * sign * slow],
        'g Stribeck': [load * sign * slow],
        'g v': [load * v],
        'v by direction': [np.abs(v)],
        'v abs(v)': [v * np.abs(v)],
        'sign by direction': [np.abs(sign)],
        'Stribeck, 0.02 rad/s': [sign * np.exp(-np.abs(v) / 0.02)],
        'Stribeck, 0.5 rad/s': [sign * np.exp(-np.abs(v) / 0.5)],
        'sign by warmth': [motion.warmth.at(motion.t) * sign],
        'drift of v': [motion.t[:, None] * v],
        'drift of sign': [motion.t[:, None] * sign],
        'drift of offset': [motion.t[:, None] + 0 * v]}
    found |= {f'torque ripple, {k} waves a turn': [np.sin(k * q), np.cos(k * q)] for k in WAVES}
    found |= {f'sign ripple, {k} waves a turn': [np.sin(k * q) * sign, np.cos(k * q) * sign]
              for k in WAVES}
    return found | {f'presliding, {distance:g} rad': [bend(q, distance)] for distance in DISTANCES}


def bend(q: Array, distance: float) -> Array:
    """Bend of contacts over a distance, as `dynid_ros.recordings.history` has it for one."""
    bends = np.zeros_like(q)
    for k, step in enumerate(np.diff(q, axis=0)):
        end, kept = np.sign(step), np.exp(-np.abs(step) / distance)
        bends[k + 1] = end + (bends[k] - end) * kept
    return bends


def rigid_torque(model: IdentifiedModel, motion: ConditionedMotion) -> Array:
    """Torque of a motion without friction, (N, n), Nm."""
    arm, layout = model.arm, model.arm.layout
    rubbing = {layout.friction_column(joint, symbol)
               for joint in range(arm.n) for symbol in layout.friction}
    theta = np.where(np.isin(base_parameters(arm).columns, list(rubbing)), 0.0, model.theta)
    states = (motion.q, np.asarray(motion.qd[:]), np.asarray(motion.qdd[:]))
    return np.concatenate([Y @ theta for _, Y in torque_rows(arm, model.theta, *states)])


def rows(
    model: IdentifiedModel, log: Recording, parts: int,
) -> tuple[list[QRFactors], dict[str, Columns]]:
    """Compress rows in consecutive parts: all columns, and the places of each candidate's."""
    arm, settings = model.arm, model.treatment
    kept = KeptRows(arm, take_motions(arm, [log], settings), settings)
    b, n = len(model.theta), arm.n
    extra, places = [], {}
    for motion in kept.motions:
        known = candidates(model, motion)
        signals = np.hstack([column for columns in known.values() for column in columns])
        extra.append(settings.decimator().whole(signals).reshape(-1, signals.shape[1] // n, n))
        first = b
        for label, columns in known.items():
            places[label] = np.arange(first, first + n * len(columns))
            first += n * len(columns)
    blocks = list(_with(extra, kept.blocks(arm, model.theta)))
    total, done = sum(len(block.t) for block in blocks), 0
    pieces: list[list[RowBlock]] = [[] for _ in range(parts)]
    for block in blocks:
        numbers = (done + np.arange(len(block.t))) * parts // total
        done += len(block.t)
        for number in np.unique(numbers):
            pieces[number].append(block.part(numbers == number))
    return [compress(blocks[0].W.shape[2], piece) for piece in pieces], places


def _with(extra: Sequence[Array], blocks: Iterator[RowBlock]) -> Iterator[RowBlock]:
    """Append columns (N, K, n) of each stretch, of which each acts on its own joint."""
    done = [0] * len(extra)
    for block in blocks:
        first = done[block.segment]
        done[block.segment] += len(block.t)
        values = extra[block.segment][first:done[block.segment]]
        k, columns, n = values.shape
        diagonal = np.zeros((k, n, columns, n))
        diagonal[:, range(n), :, range(n)] = values.transpose(2, 0, 1)
        W = np.concatenate(
            [block.W, diagonal.reshape(k, n, -1) * block.moving[:, :, None]], axis=2)
        yield RowBlock(block.segment, block.t, block.q, block.qd, W, block.tau, block.moving)


def report(name: str, arm: ArmModel, log: Recording, share: float) -> None:
    """Print the lines of a recording below one cut-off."""
    model = without_presliding(arm, log, share)
    first, rest = split(log, share)
    folds, places = rows(model, first, THRESHOLDS.folds)
    (unseen,), _ = rows(model, rest, 1)
    start = np.pad(model.theta, (0, unseen.factors.shape[2] - 1 - len(model.theta)))
    whole = Products(stack(folds), start)
    others = [Products(stack([*folds[:k], *folds[k + 1:]]), start) for k in range(len(folds))]
    torque = np.array([fold.torque_squares().sum() for fold in folds])

    def errors(columns: Columns) -> tuple[Array, float]:
        left = [fold.residual_squares(each.fit(columns)).sum()
                for fold, each in zip(folds, others, strict=True)]
        held_out = unseen.residual_squares(whole.fit(columns)).sum()
        return left / torque, 100 * float(np.sqrt(held_out / unseen.torque_squares().sum()))

    chosen = np.arange(len(model.theta))
    own_terms, held_out = errors(chosen)
    terms = ', '.join(model.arm.friction)
    print(f'| {name} | {terms} | {percent(own_terms)} | | {held_out:.2f} % |', flush=True)
    for label, own in places.items():
        found, held_out = errors(np.concatenate([chosen, own]))
        gain, standard_error = difference(own_terms, found)
        print(f'| {name} | + {label} | {percent(found)} | {gain / standard_error:.1f} | '
              f'{held_out:.2f} % |', flush=True)


def without_presliding(arm: ArmModel, log: Recording, share: float) -> IdentifiedModel:
    """Identify with the terms that are chosen, but for presliding."""
    model = identify(arm, [log], holdout=share)
    terms = tuple(term for term in model.arm.friction if term != PRESLIDING)
    return identify(arm, [log], holdout=share, friction=terms)


def percent(shares: Array) -> str:
    """Relative error over blocks, as text."""
    return f'{100 * np.sqrt(shares.mean()):.2f} %'


def main(folder: Path) -> None:
    """Print a Markdown table."""
    print('| arm, below | friction | error over blocks | standard errors | held-out error |')
    print('|---' * 5 + '|')
    for name, arm, log, share in recordings(folder):
        for cutoff in BANDWIDTHS[name]:
            report(f'{name}, {cutoff:g} Hz', below(arm, cutoff), log, share)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
