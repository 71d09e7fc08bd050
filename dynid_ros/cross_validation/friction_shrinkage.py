"""Friction by shrinkage: all terms at once, as strong as they predict what was not fitted."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import PLAIN, PRESLIDING, TERMS, WARM
from dynid_ros.arm.model import ArmModel
from dynid_ros.arrays import Array
from dynid_ros.cross_validation.folds import Folds
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.qr_factors import QRFactors, stack
from dynid_ros.regression.weighted_least_squares import carry_over, fit

#: Consecutive blocks of time, each predicted by fits to the others.
BLOCKS = 10
#: Terms that are as strong as each other: curves over the speed, load, warmth, and reversals.
KINDS = (
    tuple(name for name, term in TERMS.items() if term.of_velocity and name not in PLAIN),
    ('load',), (WARM,), (PRESLIDING,))
#: Torque that a term may have, standard deviation relative to the plain friction of its joint.
STRENGTHS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: Standard errors over the blocks by which a weaker term may predict worse than the best one.
STANDARD_ERRORS = 0.5
#: Rounds in which the strength of each kind is chosen beside those of the others.
ROUNDS = 2
#: Passes over the blocks: residuals of plain friction weight the first, those of the strengths
#: found in it the second.
PASSES = 2
#: Plain terms that take energy, by which the size of others is measured.
DRAG = ('viscous', 'coulomb')
#: Torque of plain friction of a joint at least, relative to that of the joint with most.
LEAST_FRICTION = 1e-3


def friction_std(arm: ArmModel, rows: KeptRows) -> dict[str, Array]:
    """
    Choose how strong each further friction term may be, by blocks that were not fitted.

    Viscous and Coulomb friction and the offset are as free as the prior of the arm. Every other
    coefficient has a Gaussian prior around zero, whose width is a torque by the length of the
    column. This torque is a multiple of the joint's plain friction, one for each of `KINDS`: the
    smallest that predicts blocks about as well as the best one, so that what does not help is
    absent. The blocks are whole recordings where there are several, since another motion shows
    more than the rest of the same one; else they are stretches of time.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    rows : KeptRows
        Rows of its motions.

    Returns
    -------
    dict of str to (n,) ndarray
        Standard deviation of the coefficients of each term, by joint, beside rows that are
        weighted as if their noise were white; terms that are absent have none.

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, sections 3.4.1 (ridge
    regression) and 7.10 (cross-validation, and the rule of a standard error).

    """
    plain, every = arm.with_friction(PLAIN), arm.with_friction(tuple(TERMS))
    solution = fit(plain, rows)
    theta = carry_over(solution.theta, plain, every)
    blocks = blocks_apart(rows, every, theta)
    if not blocks:
        return {}
    whole, prior = stack(blocks), arm_prior(every).widened(solution.widening)
    own = _shrunk(every)
    sigma, unit = solution.sigma, _unit(whole, own, _plain_torque(whole, every, theta), prior)
    for _ in range(PASSES):
        folds = Folds(blocks, sigma, prior, own.place, unit)
        strengths = _descend(folds, own.kind)
        left = folds.left(strengths[own.kind]).sum(axis=0)
        sigma = sigma * np.sqrt(np.where(left > 0, left / np.maximum(whole.rows, 1), 1.0))
    found = {}
    for name, term in TERMS.items():
        mine = own.term == name
        if mine.any() and (strength := strengths[own.kind[mine][0]]) > 0:
            columns = [every.layout.friction_column(joint, term.symbol) for joint in range(arm.n)]
            found[name] = prior.std[columns]
            found[name][own.joint[mine]] = strength * unit[mine]
    return found


class Shrunk(NamedTuple):
    """Shrunk coefficients: their terms, `KINDS`, joints and places among base parameters, (r,)."""

    term: NDArray[np.str_]
    kind: NDArray[np.intp]
    joint: NDArray[np.intp]
    place: NDArray[np.intp]


def _shrunk(every: ArmModel) -> Shrunk:
    """List the coefficients that show in any torque."""
    place = {int(column): k for k, column in enumerate(base_parameters(every).columns)}
    listed = [(name, kind, joint, place[column])
              for kind, names in enumerate(KINDS) for name in names for joint in range(every.n)
              if (column := every.layout.friction_column(joint, TERMS[name].symbol)) in place]
    return Shrunk(*map(np.array, zip(*listed, strict=True)))


def _plain_torque(whole: QRFactors, every: ArmModel, theta: Array) -> Array:
    """Root mean square torque of viscous and Coulomb friction of each joint, (n,), Nm."""
    place = {int(column): k for k, column in enumerate(base_parameters(every).columns)}
    squares = np.zeros(every.n)
    for joint in range(every.n):
        own = [place[every.layout.friction_column(joint, TERMS[name].symbol)] for name in DRAG]
        squares[joint] = ((whole.factors[joint][:, own] @ theta[own])**2).sum()
    torque = np.sqrt(squares / np.maximum(whole.rows, 1))
    return np.asarray(np.maximum(torque, LEAST_FRICTION * torque.max()))


def _unit(whole: QRFactors, own: Shrunk, torque: Array, prior: ArmPrior) -> Array:
    """Find the coefficients (r,) with which terms are as large as torque (n,) of their joint."""
    squares = (whole.factors[own.joint, :, own.place]**2).sum(axis=1)
    length = np.sqrt(squares / np.maximum(whole.rows, 1)[own.joint])
    shown = (length > 0) & (torque[own.joint] > 0)
    # A term that no row shows is as uncertain as any other parameter.
    return np.where(shown, torque[own.joint] / np.where(shown, length, 1.0),
                    np.sqrt(np.diag(prior.covariance))[own.place])


def blocks_apart(rows: KeptRows, arm: ArmModel, theta: Array) -> list[QRFactors]:
    """
    Divide rows into recordings or, of a single one, into as many stretches as `BLOCKS`.

    Parameters
    ----------
    rows : KeptRows
        Rows.
    arm : ArmModel
        The arm, with the terms of interest.
    theta : (b,) ndarray
        Its base parameters, which the load on the joints follows from.

    Returns
    -------
    list of QRFactors
        Blocks, each longer than the low-pass reaches to one side; none if that is not possible.

    """
    numbers = _recordings(rows)
    settings, columns = rows.settings, rows.columns(arm)
    for parts in ([numbers] if numbers[-1] else []) + [BLOCKS]:
        blocks = rows.factors(arm, theta, parts)
        shortest = min(int(block.rows.max()) for block in blocks)
        if shortest * settings.decimation > settings.decimator().reach:
            return [block.part(columns) for block in blocks]
    return []


def _recordings(rows: KeptRows) -> tuple[int, ...]:
    """Return the number of the recording of each stretch, at most `BLOCKS` in all."""
    motions = rows.motions
    # Time counts from the start of each recording.
    numbers = np.cumsum([0, *(int(after.t[0] <= before.t[-1])
                              for before, after in pairwise(motions))])
    count = int(numbers[-1]) + 1
    return tuple((numbers * min(count, BLOCKS) // count).tolist())


def _descend(folds: Folds, kinds: NDArray[np.intp]) -> Array:
    """Choose the strength of each kind in turn beside those of the others, (K,)."""
    strengths = np.zeros(len(KINDS))
    for _ in range(ROUNDS):
        for kind in range(len(KINDS)):
            trials = np.repeat(strengths[None], len(STRENGTHS), axis=0)
            trials[:, kind] = STRENGTHS
            left = np.array([folds.left(trial[kinds]).sum(axis=1) for trial in trials])
            strengths[kind] = STRENGTHS[_smallest(left)]
    return strengths


def _smallest(left: Array) -> int:
    """Return the first of some trials that leaves about as little (trials, K) as the best."""
    more = left - left[int(np.argmin(left.sum(axis=1)))]
    error = more.std(axis=1, ddof=1) / np.sqrt(left.shape[1])
    return int(np.argmax(more.mean(axis=1) <= STANDARD_ERRORS * error))
