"""The unit of the drive signals, by the weight of the links that the description states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.diagnosis.hypothesis import names
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.model.verdict import Finding
from dynid_ros.signals.trial_samples import thinned, TrialSamples

Array = NDArray[np.float64]

#: Finding of signals in another unit.
CODE = 'effort_unit'
#: Factors by which signals in other units exceed those in Nm, N, A or V.
UNITS = {1e3: 'mNm or mA', 100.0: 'N cm', 10.0: 'kgf cm', 1 / 9.81: 'kgf m'}
#: Factor that is nearer to ten than to one: masses of makers are wrong by less.
OTHER = 10**0.5
#: Correlation with gravity torque from which it makes up most of what a signal is.
FOLLOWS = 0.8
#: Joints that have to agree.
JOINTS = 2


def unit_findings(arm: ArmModel, samples: TrialSamples) -> list[Finding]:
    """
    Compare torque with what gravity asks of the links as the description states them.

    Friction and inertia are taken out: only joints whose torque follows gravity count, and all of
    these must show a factor that no error of the masses makes. A description without masses, and
    currents or voltages without a gain, tell nothing.

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
    return [Finding(
        CODE,
        f'the drive signals are about {_rounded(factor)} times what the masses of the description need '
        f'to be held against gravity, by {names(arm, joints.tolist())}: {_likely(factor)}',
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
