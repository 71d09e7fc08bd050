"""A drive signal that is no torque, but a copy of other quantities, or in another unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.trial_samples import thinned, TrialSamples
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import several

# Bounds of what counts as a copy.
#: Share of the torque's spread that a multiple of the other quantity leaves, in the median over
#: the joints. Copies made of the shared recordings leave 0.000 to 0.061, and up to 0.097 in the
#: online estimator, whose filters delay them otherwise; true torques of shared recordings and
#: simulated arms leave 0.38 and more. Friction terms alone leave as much, in the upper quartile of
#: the joints, of torques that are made of velocities: up to 0.15 of such ones made of shared
#: recordings, 0.55 and more of true ones.
LEFT_OVER = 0.2
#: Joints that have to move: the torque of one or two that hardly move is linear in their position.
POSITION_JOINTS = 3
#: Speed within which friction reverses, by the root mean square one.
REVERSAL = 0.05
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


def copied_signals(arm: ArmModel, motion: Prediction) -> list[Finding]:
    """
    Find the quantity of which the torque is a copy, if it is one.

    Friction terms would fit a copy of velocity without error, with masses that vanish.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motion : Prediction
        Fitted samples.

    """
    for name, rows, least in (
            ('velocity', motion.qd, JOINTS), ('position', motion.q, POSITION_JOINTS)):
        left = left_over(rows, motion.tau)
        left = left[np.isfinite(left)]
        if len(left) >= least and np.median(left) < LEFT_OVER:
            return [Finding(
                f'effort_copies_{name}',
                f"the {arm.drive.signal} is no torque: it is a multiple of each joint's {name} "
                f'but for {100 * float(np.median(left)):.1f} % in the median over the joints',
                WHICH_FIELD)]
    return []


def made_of_velocity(arm: ArmModel, motion: Prediction) -> list[Finding]:
    """
    Find a torque that friction alone explains, although the arm has links to move.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motion : Prediction
        Fitted samples that excite the arm; in few seconds much is a function of velocity.

    """
    left = left_over(motion.qd, motion.tau, lambda v: (
        v, np.cbrt(v), np.tanh(v / max(REVERSAL * float(np.sqrt((v**2).mean())), TINY))))
    left = left[np.isfinite(left)]
    if len(left) < POSITION_JOINTS:
        return []
    most = float(np.percentile(left, 75))
    if most > LEFT_OVER:
        return []
    return [Finding(
        'effort_of_velocity',
        f"the {arm.drive.signal} is no torque: functions of each joint's velocity alone explain "
        f'it but for {100 * most:.1f} %, without gravity and inertia', WHICH_FIELD)]


def left_over(
    x: Array, tau: Array, curves: Callable[[Array], Sequence[Array]] = lambda v: (v,),
) -> Array:
    """
    Return the share of each joint's torque that functions of another quantity leave unexplained.

    Parameters
    ----------
    x, tau : (N, n) ndarray
        The quantity, and the torque, NaN where a joint stands still.
    curves : callable
        Functions of the quantity of a joint; a multiple by default.

    Returns
    -------
    (n,) ndarray
        Relative to the spread of the torque; NaN for a joint that never moves, or whose torque or
        quantity never changes.

    """
    left = np.full(tau.shape[1], np.nan)
    for joint, seen in enumerate(np.isfinite(tau).T):
        v, y = x[seen, joint], tau[seen, joint]
        if seen.any() and np.ptp(v) and np.ptp(y):
            basis = np.column_stack([np.ones_like(v), *curves(v)])
            fitted = basis @ np.linalg.lstsq(basis, y, rcond=None)[0]
            left[joint] = np.std(y - fitted) / np.std(y)
    return left


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
    unknown = arm.drive.signal != 'effort' and bool((arm.drive.gain == 1).all())
    if arm.inertial is None or unknown or not arm.drive.includes_gravity:
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
