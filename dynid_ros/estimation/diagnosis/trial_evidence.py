"""Evidence for an explanation: blocks, surrogates, error bars, and faults that would not show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.estimation.blocks.groups import GROUPS
from dynid_ros.estimation.blocks.least_squares import inverse_of
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack
from dynid_ros.estimation.diagnosis.expected_error import expected_errors
from dynid_ros.estimation.diagnosis.hypothesis import EVERYTHING, Hypothesis, names, NOTHING
from dynid_ros.estimation.diagnosis.trial_rows import (
    block_numbers,
    BLOCKS,
    FLOOR,
    FOLDS,
    trial_rows,
)
from dynid_ros.estimation.estimate.chosen_estimate import NEXT_TO_NOTHING
from dynid_ros.estimation.estimate.covariance import group_scatter
from dynid_ros.estimation.estimate.weights import solution_of
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.utilities.arrays import Array

#: Recordings without a fault that look like the one in question.
SURROGATES = 5
#: Standard errors over the blocks by which undoing a fault must lower their errors: chance does
#: once in two hundred by Student's t of 14 degrees of freedom. Faults planted into real recordings
#: have 3.1 and more, the nearest explanation of a good one (12 s of the Panda) 2.6 to 3.
STANDARD_ERRORS = 3.0
#: Faults of single joints that parameters may absorb.
KINDS = {
    'position_zero': 'zeros off by some 10 degrees',
    'link_length': 'offsets between joints off by 40 %',
    'effort_scale': 'gains off by a factor of two',
    'effort_delay': 'delays of some 60 ms',
    'joint_exchanged': 'exchanges of positions and drive signals',
}
#: Difference of the cost to both sides, and fall to one, from which a search is worth its time.
SLOPE, FALL = 0.3, 0.1


def pays(base: Hypothesis, each: Hypothesis) -> bool:
    """
    Whether undoing a fault lowers the errors of blocks that were not fitted, of most of them.

    By the logarithms of the errors, summed over the joints.

    Parameters
    ----------
    base, each : Hypothesis
        The recording as it is, and with the fault undone.

    """
    joints = each.compared
    ratio = left_by_block(base)[:, joints] / left_by_block(each)[:, joints]
    gain = np.log(ratio).sum(axis=1)
    return bool(gain.mean() > STANDARD_ERRORS * gain.std(ddof=1) / np.sqrt(len(gain)))


def left_by_block(each: Hypothesis) -> Array:
    """Share of the torque of each joint (K, n) that fits to other folds leave of a block."""
    W, samples = each.regressor, each.samples
    tau = (samples.tau @ each.mixing) * samples.moving
    block, squares = block_numbers(len(tau)), np.zeros((2, BLOCKS, each.arm.n))
    for fold in range(FOLDS):
        theta, _ = each.rows.without(fold).fit(each.mixing, each.compared)
        residual = tau - W @ theta * samples.moving
        for k in range(fold, BLOCKS, FOLDS):
            squares[:, k] = [(x[block == k]**2).sum(axis=0) for x in (residual, tau)]
    share = np.sqrt(squares[0] / np.maximum(squares[1], TINY))
    return np.asarray(np.clip(share, NOTHING, EVERYTHING))


def surrogates(base: Hypothesis) -> Iterator[Hypothesis]:
    """
    Make recordings of the same motion that the arm as described explains.

    Their torque is the torque of the fit, plus its residuals, moved in time, so that these keep
    their size and their correlation in time and between joints, and lose the one to the motion.

    Parameters
    ----------
    base : Hypothesis
        The recording as it is.

    """
    samples = base.samples
    theta, _ = base.rows.fit(base.mixing, base.compared)
    residual = (samples.tau - base.regressor @ theta) * samples.moving
    for k in range(1, SURROGATES + 1):
        moved = np.roll(residual, k * len(residual) // (SURROGATES + 1), axis=0)
        change = (moved - residual) * samples.moving
        other = replace(samples, tau=samples.tau + change,
                        later=samples.later + change[:, :, None])
        yield replace(base, samples=other, rows=trial_rows(base.arm, other))


def expected_error(each: Hypothesis) -> float:
    """
    Torque error on other motions in the same range that the error bars alone make, %.

    The contest has fewer rows than the fit, and leaves the prior out.
    """
    arm, samples = each.arm, each.samples
    W = each.regressor
    theta, root = each.rows.fit(each.mixing, each.compared)
    tau = samples.tau @ each.mixing
    residual = (tau - W @ theta) * samples.moving
    count = np.maximum(samples.moving.sum(axis=0), 1)
    power, left = ((x**2).sum(axis=0) / count for x in (tau * samples.moving, residual))
    weights = 1 / np.maximum(left, FLOOR * power + TINY)
    own, b = len(each.rows.base), len(theta)
    counted = samples.moving & np.isin(np.arange(arm.n), each.compared)
    rows = np.concatenate([W, tau[:, :, None]], axis=2) * counted[:, :, None]
    parts = [QRFactors(part.transpose(1, 0, 2), moves.sum(axis=0)) for part, moves in zip(
        np.array_split(rows, GROUPS), np.array_split(counted, GROUPS), strict=True)]
    prior = np.sqrt(NEXT_TO_NOTHING) * np.column_stack([
        _prior_rows(arm, root, np.sqrt(power)), np.zeros(b)])
    data, sigma = stack(parts), 1 / np.sqrt(weights)
    R = np.asarray(np.linalg.qr(np.concatenate([data.weighted(sigma), prior]), mode='r'))
    solution = solution_of(data, prior, theta, sigma, inverse_of(R[:b, :b]), np.ones(0),
                           np.ones(b, dtype=np.bool_))
    scatter = group_scatter([Products.of(part) for part in parts], solution)
    covariance = scatter.covariance(solution)
    motion = Prediction(
        '', False, samples.t, samples.q, samples.qd, np.where(samples.moving, tau, np.nan), tau)
    error, _, _ = expected_errors(
        arm, theta[:own], covariance[:own, :own], motion, np.abs(samples.qdd).max(axis=0))
    return error


def _prior_rows(arm: ArmModel, root: Array, torque: Array) -> Array:
    """Rows (c, c) of the prior of trial parameters that reaches a torque (n,)."""
    known = arm_prior(arm).reaching(torque)
    # A load is as uncertain as the link that carries it.
    link = arm.layout.inertial(arm.tool_link)
    load = known.std[link][:root.shape[1] - len(known.theta)]
    return np.asarray(block_diag(known.rows()[:, :-1], np.diag(1 / load)))


def unseen_faults(base: Hypothesis, planted: Iterable[Hypothesis], gain: float) -> tuple[str, ...]:
    """
    List faults that the parameters would absorb, so that no held-out error shows them.

    Parameters
    ----------
    base : Hypothesis
        A good recording as it is.
    planted : iterable of Hypothesis
        The same with one fault of the `KINDS` in one joint each.
    gain : float
        Rise of the cost from which a fault is found.

    Returns
    -------
    tuple of str
        One sentence, or none.

    """
    hidden: dict[str, set[int]] = {}
    for each in planted:
        (step,) = each.steps
        if each.cost < base.cost + gain:
            hidden.setdefault(KINDS[step.code], set()).update(step.joints)
    if not hidden:
        return ()
    listed = '; '.join(f'{kind} ({_those(base, joints)})' for kind, joints in hidden.items())
    return (f'this recording cannot reveal {listed}: other parameters compensate',)


def downhill(base: Hypothesis, steps: Iterable[Hypothesis]) -> tuple[int, ...]:
    """
    List joints in which a step to one side of the recording costs clearly less than to the other.

    Parameters
    ----------
    base : Hypothesis
        A good recording as it is.
    steps : iterable of Hypothesis
        The same with one fault in one joint each, to both sides.

    Returns
    -------
    tuple of int
        Joints in which the least cost may be far from the recording.

    """
    costs: dict[int, list[float]] = {}
    for each in steps:
        costs.setdefault(each.steps[0].joints[0], []).append(each.cost)
    return tuple(joint for joint, sides in costs.items()
                 if max(sides) - min(sides) > SLOPE or min(sides) < base.cost - FALL)


def _those(base: Hypothesis, joints: set[int]) -> str:
    every = joints >= set(base.joints.tolist())
    return 'any joint' if every else names(base.arm, sorted(joints))
