# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Choice of the cut-off: models of different bands are compared by their error in the lowest band.

With too high a cut-off, rows contain the noise of twice differentiated positions. It biases the
parameters, and the residuals of these rows do not reveal that. The error in the lowest band does,
because noise does not matter there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.conditioning import ConditioningSettings, Rung
from dynid_ros.estimation.band.trial_blocks import FEWEST_BLOCKS, TrialBlocks, TrialMotions
from dynid_ros.estimation.estimate.folds import log_error_ratio, STANDARD_ERRORS
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

#: Candidate cut-offs, Hz.
CANDIDATE_CUTOFFS_HZ = (2.0, 3.0, 5.0, 10.0, 20.0, 40.0, 80.0)
#: Cut-off unless the data require another one, Hz: friction at reversals lies above the band of a
#: slow motion. Nine recordings of real arms have errors below 2 and 5 Hz that are at
#: most 12 % above those of their best cut-off with it, 32 % with 2 Hz, 34 % with 3 Hz, 42 % with
#: 10 Hz and 109 % with 20 Hz; a tenth one requires 3 Hz, and has 118 % with 5 Hz
#: (benchmarks/cutoff.py).
USUAL_HZ = 5.0
#: Least share of the energy of the velocities in the lowest band, so that it contains most of the
#: motion.
ENERGY_SHARE = 0.5
#: Ratio of errors in the lowest band, minus one standard error over the blocks, from which a
#: cut-off is worse than another one. Good rows below 5 Hz have up to 1.14, since a model with
#: plain friction fits its own band best. Bad ones have 3.3 on a real arm (4.7 s at 1 kHz), and
#: with noise of 3 mrad 1.5 on the Panda, but 1.05 on the UR10, whose friction hides it. With
#: values from 1.05 to 2, errors of real recordings without more noise differ by 0.2 % in their
#: mean.
WORSE_CUTOFF = 1.2
#: Ratio of errors from which higher cut-offs are not tried, since they would be even worse.
HOPELESS = 2.0
#: Cut-off of positions without a bound of their own, Hz.
FREE_HZ = 1e6


def climb(
    motions: TrialMotions, settings: ConditioningSettings, highest_hz: float,
) -> tuple[ConditioningSettings, TrialBlocks | None]:
    """
    Choose the cut-off by the errors of candidates.

    Parameters
    ----------
    motions : TrialMotions
        Stretches of the recordings.
    settings : ConditioningSettings
        All else of the conditioning.
    highest_hz : float
        Highest cut-off that the rates allow.

    Returns
    -------
    settings : ConditioningSettings
        With the chosen cut-off, the cut-offs of the positions if some joints are noisy at it, and
        the candidates with their errors; these are empty if the recordings are too short for a
        comparison.
    lowest : TrialBlocks or None
        Rows of the lowest band; None if the recordings are too short.

    """
    settings = replace(settings, cutoff_hz=min(USUAL_HZ, highest_hz), ladder=(), position_hz=())
    cutoffs = _candidates(motions, highest_hz)
    if not cutoffs:
        return settings, None
    lowest = motions.below(cutoffs[0], motions.count(cutoffs[0]))
    solution = lowest.solution
    if solution is None:
        return settings, lowest
    total = float(np.sum([block.torque_squares() for block in lowest.blocks]
                         / solution.sigma**2))
    usual = min((each for each in cutoffs if each >= USUAL_HZ), default=cutoffs[-1])
    errors, positions = dict[float, Array](), dict[float, tuple[float, ...]]()
    clean = lowest.errors(lowest.fits(solution), solution)
    least = lowest.least_squares(solution.sigma)
    next_higher = next((each for each in cutoffs if each > usual), usual)
    for cutoff in cutoffs:
        if cutoff > next_higher and not _may_be_chosen(errors, usual, least):
            break
        errors[cutoff], positions[cutoff] = clean.sum(axis=1), ()
        if cutoff > cutoffs[0]:
            errors[cutoff], positions[cutoff] = _rung(
                motions, lowest, solution, cutoff, clean, bound=cutoff <= usual)
        if errors[cutoff].sum() > HOPELESS**2 * min(each.sum() for each in errors.values()):
            break
    best = chosen(errors, usual)
    return replace(settings, cutoff_hz=best, position_hz=positions[best], ladder=tuple(
        Rung(cutoff, float(100 * np.sqrt(each.sum() / max(total, 1e-300))))
        for cutoff, each in errors.items())), lowest


def _candidates(motions: TrialMotions, highest_hz: float) -> list[float]:
    """Return the cut-offs to compare, the lowest first; none for recordings that are too short."""
    cutoffs = [each for each in CANDIDATE_CUTOFFS_HZ if each <= highest_hz]
    if highest_hz < USUAL_HZ:
        cutoffs = sorted({*cutoffs, highest_hz})
    share = motions.share_below(np.array(cutoffs))
    lowest_hz = cutoffs[int(np.argmax(share >= min(ENERGY_SHARE, share[-1])))]
    # A recording too short for the band of its motion may allow one up to the usual cut-off.
    possible = [each for each in cutoffs if lowest_hz <= each <= max(lowest_hz, USUAL_HZ)
                and motions.count(each) >= FEWEST_BLOCKS]
    return cutoffs[cutoffs.index(possible[0]):] if possible else []


def _rung(
    motions: TrialMotions, lowest: TrialBlocks, solution: Solution, cutoff: float, clean: Array,
    *, bound: bool,
) -> tuple[Array, tuple[float, ...]]:
    """
    Find the error of a cut-off by block, and the cut-offs of the positions.

    A joint whose encoder is much noisier than the others spoils their rows, too. Its positions
    are then limited to the lowest band, which contains most of the motion, if `bound` allows it.
    """
    def errors(position_hz: tuple[float, ...]) -> Array:
        rows = motions.below(cutoff, len(lowest.blocks), position_hz)
        return lowest.errors(rows.fits(solution), solution)

    unbounded = errors(())
    worse = np.flatnonzero(_worse_joints(unbounded, clean))
    if not bound or not len(worse):
        return unbounded.sum(axis=1), ()
    low, free = lowest.rows.settings.cutoff_hz, unbounded.shape[1] * (FREE_HZ,)
    bounded = {bounds: errors(bounds) for bounds in (
        (*free[:joint], low, *free[joint + 1:]) for joint in worse.tolist())}
    best = min(bounded, key=lambda bounds: float(bounded[bounds].sum()))
    # The noise of one joint is the cause if its removal improves all joints.
    if _worse_joints(bounded[best], clean).any():
        return unbounded.sum(axis=1), ()
    return bounded[best].sum(axis=1), best


def chosen(errors: dict[float, Array], usual: float) -> float:
    """
    Choose a cut-off.

    Start from the usual one, and go down while it is worse than any lower one. If it stays, take a
    higher one that is significantly better, as for a fast motion.

    Parameters
    ----------
    errors : dict of float to (blocks,) ndarray
        By cut-off in ascending order, the cross-validated squared residual of each block in the
        lowest band, for fits below that cut-off.
    usual : float
        Usual cut-off, Hz.

    """
    candidates = [cutoff for cutoff in errors if cutoff <= usual]
    while len(candidates) > 1 and any(
            _worse(errors[candidates[-1]], errors[lower], WORSE_CUTOFF)
            for lower in candidates[:-1]):
        candidates.pop()
    best = candidates[-1]
    for higher in errors:
        if best == usual and higher > usual:
            mean, error = log_error_ratio(errors[higher], errors[best])
            if mean + STANDARD_ERRORS * error < -np.log(WORSE_CUTOFF):
                best = usual = higher
    return best


def _may_be_chosen(errors: dict[float, Array], usual: float, least: Array) -> bool:
    """
    Whether cut-offs above those that were tried may be chosen.

    Parameters
    ----------
    errors, usual
        As for `chosen`, of the cut-offs that were tried.
    least : (blocks,) ndarray
        Squared residual of each block that no parameters fall below.

    """
    best = chosen(errors, usual)
    return best >= usual and log_error_ratio(least, errors[best])[0] < -np.log(WORSE_CUTOFF)


def _worse_joints(errors: Array, clean: Array) -> NDArray[np.bool_]:
    """Return a mask of the joints (n,) with larger errors than fits in the lowest band."""
    return np.array([_worse(joint_errors, joint_clean, WORSE_CUTOFF)
                     for joint_errors, joint_clean in zip(errors.T, clean.T, strict=True)])


def _worse(errors: Array, other: Array, ratio: float) -> bool:
    mean, error = log_error_ratio(errors, other)
    return bool(mean - error > np.log(ratio))
