"""A drive signal that is no torque, but a copy of other quantities, or in another unit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.friction import friction_terms, PLAIN
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.filtered_friction import fill_filtered_friction
from dynid_ros.data.signals.trial_samples import thinned, TrialSamples
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.groups import groups_of_samples
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.estimate.folds import clearly_worse, Folds
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import several

#: Share of the spread of a torque that is left where half of its power is explained.
MOST = 0.5**0.5
#: Smallest credible residual, relative to the torque.
FLOOR = 1e-4
#: Rows needed for each parameter. With fewer, friction and links explain any torque alike.
ROWS_PER_COLUMN = 4
WHICH_FIELD = 'check which field or topic of the driver holds it'
#: Finding of signals in another unit.
UNIT = 'effort_unit'
#: Factors by which signals in other units exceed those in Nm, N, A or V.
UNITS = {1e3: 'mNm or mA', 100.0: 'N cm', 10.0: 'kgf cm', 1 / 9.81: 'kgf m'}
#: Factor that is nearer to ten than to one: masses of makers are wrong by less.
OTHER = 10**0.5
#: Correlation with gravity torque from which it makes up most of what a signal is.
FOLLOWS = 0.8
#: Joints that have to agree: the torque of a single one may be viscous friction alone.
JOINTS = 2


def copied_signals(arm: ArmModel, samples: TrialSamples) -> list[Finding]:
    """
    Find the quantity of which the torque is a function, if it is one.

    Friction terms would fit a copy of velocity without error, with masses that vanish, and so they
    fit the torque of joints with strong friction. But links and rotors explain what the velocity
    of each joint leaves of a torque, and nothing of what it leaves of a copy.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    samples : TrialSamples
        Motion and torque.

    """
    samples, arm = thinned(samples), arm.memoryless.with_friction(PLAIN)
    columns = base_parameters(arm).columns
    if samples.moving.sum() < ROWS_PER_COLUMN * len(columns):
        return []
    W = regressor(arm, samples.q, samples.qd, samples.qdd)
    fill_filtered_friction(arm, samples.qd, samples.qdd, samples.period, W)
    # A transmission may couple the motors whose signals these are.
    through = joint_torque(np.eye(arm.n), arm.drive)
    model: tuple[Array, Array] | None = None
    for code, text, own in _copies(arm, samples, W):
        left = left_over(own, samples)
        left = left[np.isfinite(left)]
        if len(left) < JOINTS or np.median(left) > MOST:
            continue
        if model is None:
            model = unfitted(W[:, :, columns], samples, arm_prior(arm))
        copy, _ = unfitted(np.einsum('kjc,ji->kijc', own, through).reshape(
            len(own), arm.n, -1), samples)
        if not clearly_worse(*((x / model[1]**2).sum(axis=1) for x in (copy, model[0]))):
            return [Finding(code, f'the {arm.drive.signal} is no torque: {text} but for '
                            f'{100 * float(np.median(left)):.1f} % in the median over the '
                            'joints, and links explain nothing of the rest', WHICH_FIELD)]
    return []


def _copies(
    arm: ArmModel, samples: TrialSamples, W: Array,
) -> Iterator[tuple[str, str, Array]]:
    """Yield kinds of copies: their code, a clause, and their columns of each joint, (k, n, c)."""
    one, joints = np.ones_like(samples.q), range(arm.n)
    for name, x in (('velocity', samples.qd), ('position', samples.q)):
        yield (f'effort_copies_{name}', f"it is a multiple of each joint's {name}",
               np.stack([one, x], axis=2))
    terms = [W[:, joints, arm.layout.friction_columns(term.symbol)]
             for term in friction_terms(arm.friction)]
    yield ('effort_of_velocity', "functions of each joint's velocity alone explain it",
           np.stack(terms, axis=2))


def left_over(own: Array, samples: TrialSamples) -> Array:
    """
    Return the share of each joint's torque that columns of its own leave unexplained.

    Parameters
    ----------
    own : (k, n, c) ndarray
        Columns of each joint.
    samples : TrialSamples
        Torque, and where each joint moves.

    Returns
    -------
    (n,) ndarray
        Relative to the spread of the torque; NaN for a joint that never moves, or whose torque or
        columns never change.

    """
    left = np.full(samples.tau.shape[1], np.nan)
    for joint, seen in enumerate(samples.moving.T):
        A, y = own[seen, joint], samples.tau[seen, joint]
        if seen.any() and np.ptp(A, axis=0).any() and np.ptp(y):
            fitted = A @ np.linalg.lstsq(A, y, rcond=None)[0]
            left[joint] = np.std(y - fitted) / np.std(y)
    return left


def unfitted(
    W: Array, samples: TrialSamples, prior: ArmPrior | None = None,
) -> tuple[Array, Array]:
    """
    Predict groups of samples, each by a fit to the others.

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
    left : (K, n) ndarray
        Squares of the residuals of each group, Nm².
    sigma : (K, n) ndarray
        Standard deviations of those of the others, Nm.

    """
    group, parts = groups_of_samples(samples), []
    for k in np.unique(group):
        own = samples.moving & (group == k)[:, None]
        rows = np.concatenate([W, samples.tau[:, :, None]], axis=2) * own[:, :, None]
        parts.append(Products(np.einsum('kja,kjb->jab', rows, rows, optimize=True),
                              own.sum(axis=0)))
    folds, c = Folds(parts), W.shape[2]
    known = folds.prior_products(prior) if prior else np.zeros((len(parts), c, c + 1))
    sigma = np.maximum(folds.sigma(known), np.maximum(FLOOR * folds.rms_torque, TINY))
    return folds.residual_squares(folds.fits(known, sigma)), sigma


def unit_findings(arm: ArmModel, samples: TrialSamples) -> list[Finding]:
    """
    Compare torque with what gravity asks of the links as the description states them.

    Friction and inertia are taken out: only joints whose torque follows gravity count, and all of
    these must show a factor that no error of the masses makes. A description without masses, and
    currents or voltages without a gain, show nothing.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the gravity that it states.
    samples : TrialSamples
        Motion and torque.

    """
    if arm.inertial is None or not arm.drive.in_newton_metres or not arm.drive.includes_gravity:
        return []
    links, samples = arm.rigid(), thinned(samples)
    still = np.zeros_like(samples.q)
    gravity = regressor(links, samples.q, still, still) @ nominal_parameters(links)
    factors = np.array([_factor(gravity[:, j], samples, j) for j in range(arm.n)])
    joints = np.flatnonzero(np.isfinite(factors))
    logarithms = np.log(factors[joints])
    if len(joints) < JOINTS or not (
            (logarithms > np.log(OTHER)).all() or (logarithms < -np.log(OTHER)).all()):
        return []
    # Friction in the direction of gravity adds least where the weight is largest.
    heaviest = joints[np.argmax(np.ptp(gravity[:, joints], axis=0))]
    factor = float(factors[heaviest])
    held = several(f"'{arm.joint_names[joint]}'" for joint in joints)
    return [Finding(
        UNIT,
        f'the drive signals are about {_rounded(factor)} times what the masses of the description '
        f'need to be held against gravity, by {held}: {_likely(factor)}',
        'convert them, or state their factors under "drive" in arm.yaml; if the masses are no '
        'real ones, correct these', tuple(arm.joint_names[joint] for joint in joints))]


def _factor(gravity: Array, samples: TrialSamples, joint: int) -> float:
    """Torque of a joint by its gravity torque; NaN where it does not follow that."""
    moving = samples.moving[:, joint]
    qd = samples.qd[moving, joint]
    # Rotors may outweigh the links, and follow gravity on a slow wave.
    others = np.column_stack([np.ones_like(qd), qd, np.sign(qd), samples.qdd[moving]])
    if len(qd) <= others.shape[1]:
        return np.nan
    both = np.column_stack([gravity[moving], samples.tau[moving, joint]])
    g, tau = (both - others @ np.linalg.lstsq(others, both, rcond=None)[0]).T
    if not g @ tau > FOLLOWS * np.linalg.norm(g) * np.linalg.norm(tau):
        return np.nan
    return float(g @ tau / (g @ g))


def _likely(factor: float) -> str:
    """Name the unit that such a factor makes."""
    unit = min(UNITS, key=lambda each: abs(np.log(factor / each)))
    found = [f'{UNITS[unit]} instead of Nm or A'] if 1 / OTHER < factor / unit < OTHER else []
    if factor < 1:
        found.append(f'torque at motors before gears of some {_rounded(1 / factor)}')
    return ', or '.join(found) or 'another unit or gain'


def _rounded(x: float) -> str:
    return f'{float(f"{x:.2g}"):g}'
