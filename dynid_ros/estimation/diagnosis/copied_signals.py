# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drive signals that copy other quantities, or are in another unit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.tree import KinematicTree
from dynid_ros.arm.drive import COMMAND, joint_torque
from dynid_ros.arm.friction import friction_terms, PLAIN_TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.filtered_friction import fill_filtered_friction
from dynid_ros.data.signals.trial_samples import thinned, TrialSamples
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.groups import groups_of_samples
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.folds import clearly_worse, Folds
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import several

#: Correlation of a signal with a quantity that explains half of its power, and the residual that
#: this quantity leaves, relative to the signal.
HALF_EXPLAINED = 0.5**0.5
#: Smallest credible residual, relative to the torque.
RESIDUAL_FLOOR = 1e-4
#: Least rows for each parameter: half of the rows then remain to estimate the variance.
ROWS_PER_COLUMN = 2
WHICH_FIELD = 'check which field or topic of the driver holds it'
REMEDIES = {'effort_copies_velocity': WHICH_FIELD, 'effort_of_velocity': WHICH_FIELD,
            'effort_copies_position': f'{WHICH_FIELD}, and whether the positions are velocities'}
#: Finding of signals in another unit.
UNIT = 'effort_unit'
#: Factors by which signals in other units exceed those in Nm, N, A or V.
UNIT_FACTORS = {1e3: 'mNm or mA', 100.0: 'N cm', 10.0: 'kgf cm', 1 / 9.81: 'kgf m'}
#: Least factor due to another unit, nearer to ten than to one: stated masses and limits are wrong
#: by less.
OTHER_UNIT = 10**0.5
#: Least joints that must agree: the torque of a single one may be viscous friction alone.
JOINTS = 2


def copied_signals(arm: ArmModel, samples: TrialSamples) -> list[Finding]:
    """
    Find drive signals that are a function of position or velocity instead of torque.

    Friction terms fit a copy of the velocity without error, but they also fit the torque of joints
    with strong friction well. The difference: links and rotors explain the residual of a torque,
    and nothing of the residual of a copy.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    samples : TrialSamples
        Motion and torque.

    """
    # The damping of a position servo dominates its deviation.
    if arm.drive.signal == COMMAND:
        return []
    samples, arm = thinned(samples), arm.memoryless.with_friction(PLAIN_TERMS)
    columns = base_parameters(arm).columns
    if samples.moving.sum() < ROWS_PER_COLUMN * len(columns):
        return []
    W = regressor(arm, samples.q, samples.qd, samples.qdd)
    fill_filtered_friction(arm, samples.qd, samples.qdd, samples.period, W)
    # A transmission may couple the motors whose signals these are.
    through = joint_torque(np.eye(arm.n), arm.drive)
    model: tuple[Array, Array] | None = None
    for code, text, copied in _copies(arm, samples, W):
        shares = unexplained_share(copied, samples)
        shares = shares[np.isfinite(shares)]
        if len(shares) < JOINTS or np.median(shares) > HALF_EXPLAINED:
            continue
        if model is None:
            model = cross_validated(W[:, :, columns], samples, arm_prior(arm))
        copy, _ = cross_validated(np.einsum('kjc,ji->kijc', copied, through).reshape(
            len(copied), arm.n, -1), samples)
        if not clearly_worse(*((x / model[1]**2).sum(axis=1) for x in (copy, model[0]))):
            return [Finding(code, f'the {arm.drive.signal} is no torque: {text} but for '
                            f'{100 * float(np.median(shares)):.1f} % in the median over the '
                            'joints, and links explain nothing of the rest', REMEDIES[code])]
    return []


def _copies(
    arm: ArmModel, samples: TrialSamples, W: Array,
) -> Iterator[tuple[str, str, Array]]:
    """Yield kinds of copies: code, clause, and columns of each joint, (k, n, c)."""
    one, joints = np.ones_like(samples.q), range(arm.n)
    for name, x in (('velocity', samples.qd), ('position', samples.q)):
        yield (f'effort_copies_{name}', f"it is a multiple of each joint's {name}",
               np.stack([one, x], axis=2))
    terms = [W[:, joints, arm.layout.friction_columns(term.symbol)]
             for term in friction_terms(arm.friction)]
    yield ('effort_of_velocity', "functions of each joint's velocity alone explain it",
           np.stack(terms, axis=2))


def unexplained_share(columns: Array, samples: TrialSamples) -> Array:
    """
    Return the share of each joint's torque that its own columns do not explain.

    Parameters
    ----------
    columns : (k, n, c) ndarray
        Columns of each joint.
    samples : TrialSamples
        Torque, and where each joint moves.

    Returns
    -------
    (n,) ndarray
        Relative to the spread of the torque; NaN for a joint that never moves, or whose torque or
        columns never change.

    """
    shares = np.full(samples.tau.shape[1], np.nan)
    for joint, seen in enumerate(samples.moving.T):
        A, y = columns[seen, joint], samples.tau[seen, joint]
        if seen.any() and np.ptp(A, axis=0).any() and np.ptp(y):
            fitted = A @ np.linalg.lstsq(A, y, rcond=None)[0]
            shares[joint] = np.std(y - fitted) / np.std(y)
    return shares


def cross_validated(
    W: Array, samples: TrialSamples, prior: ArmPrior | None = None,
) -> tuple[Array, Array]:
    """
    Cross-validate a regressor over groups of samples.

    Parameters
    ----------
    W : (k, n, c) ndarray
        Regressor.
    samples : TrialSamples
        Torque, and where each joint moves.
    prior : ArmPrior, optional
        Of the parameters.

    Returns
    -------
    squares : (K, n) ndarray
        Sums of squared residuals of each group, Nm².
    sigma : (K, n) ndarray
        Standard deviations of the residuals outside each group, Nm.

    """
    group, moving = groups_of_samples(samples), samples.moving
    rows = np.concatenate([W, samples.tau[:, :, None]], axis=2) * moving[:, :, None]
    parts = [QRFactors(rows[group == k].transpose(1, 0, 2), moving[group == k].sum(axis=0))
             for k in np.unique(group)]
    folds, c = Folds(parts), W.shape[2]
    prior_products = folds.prior_products(prior) if prior else np.zeros((len(parts), c, c + 1))
    floor = np.maximum(RESIDUAL_FLOOR * folds.rms_torque, TINY)
    sigma = np.maximum(folds.sigma(prior_products), floor)
    return folds.residual_squares(folds.fits(prior_products, sigma)), sigma


def unit_findings(arm: ArmModel, samples: TrialSamples) -> list[Finding]:
    """
    Compare torque with the gravity torque of the described links to find signals in another unit.

    Friction and inertia are subtracted. Only joints whose torque follows gravity and that carry
    links of stated mass alone count, and all of these must differ by a factor that wrong masses
    cannot cause. The test needs a description with masses, and signals in Nm or N.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the gravity that it states.
    samples : TrialSamples
        Motion and torque.

    """
    if arm.inertial is None or not arm.drive.in_newton_metres or not arm.drive.includes_gravity:
        return []
    links, samples = arm.rigid, thinned(samples)
    still = np.zeros_like(samples.q)
    gravity = regressor(links, samples.q, still, still) @ nominal_parameters(links)
    factors = np.array([_factor(gravity[:, j], samples, j) for j in range(arm.n)])
    joints = np.flatnonzero(np.isfinite(factors) & _all_masses_stated(arm.tree, arm.inertial))
    logarithms = np.log(factors[joints])
    if len(joints) < JOINTS or not (
            (logarithms > np.log(OTHER_UNIT)).all() or (logarithms < -np.log(OTHER_UNIT)).all()):
        return []
    # Friction biases the factor least where the weight is largest.
    heaviest = joints[np.argmax(np.ptp(gravity[:, joints], axis=0))]
    factor = float(factors[heaviest])
    held = several(f"'{arm.joint_names[joint]}'" for joint in joints)
    return [Finding(
        UNIT,
        f'the drive signals are about {_rounded(factor)} times what the masses of the description '
        f'need to be held against gravity, by {held}: {_likely(factor)}',
        'convert them, or state their factors under "drive" in arm.yaml; if the masses are no '
        'real ones, correct these', tuple(arm.joint_names[joint] for joint in joints))]


def _all_masses_stated(tree: KinematicTree, inertial: Array) -> NDArray[np.bool_]:
    """Whether each link that a joint carries has a mass, (n,)."""
    stated = inertial[:, 0] > 0
    for link in tree.order[::-1]:
        if tree.parent[link] >= 0:
            stated[tree.parent[link]] &= stated[link]
    return np.asarray(stated[:len(tree.joint_names)])


def _factor(gravity: Array, samples: TrialSamples, joint: int) -> float:
    """Return the ratio of the torque of a joint to its gravity torque; NaN if unrelated."""
    moving = samples.moving[:, joint]
    qd = samples.qd[moving, joint]
    # Rotor inertia may dominate, and correlate with gravity on a sine motion.
    others = np.column_stack([np.ones_like(qd), qd, np.sign(qd), samples.qdd[moving]])
    if len(qd) <= others.shape[1]:
        return np.nan
    both = np.column_stack([gravity[moving], samples.tau[moving, joint]])
    g, tau = (both - others @ np.linalg.lstsq(others, both, rcond=None)[0]).T
    if not g @ tau > HALF_EXPLAINED * np.linalg.norm(g) * np.linalg.norm(tau):
        return np.nan
    return float(g @ tau / (g @ g))


def _likely(factor: float) -> str:
    """Name the unit that such a factor suggests."""
    unit = min(UNIT_FACTORS, key=lambda each: abs(np.log(factor / each)))
    near = 1 / OTHER_UNIT < factor / unit < OTHER_UNIT
    found = [f'{UNIT_FACTORS[unit]} instead of Nm or A'] if near else []
    if factor < 1:
        found.append(f'torque at motors before gears of some {_rounded(1 / factor)}')
    return ', or '.join(found) or 'another unit or gain'


def _rounded(x: float) -> str:
    return f'{float(f"{x:.2g}"):g}'
