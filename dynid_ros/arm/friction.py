# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction terms: columns that are linear in their coefficient once their shape is fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import ArmError
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True)
class FrictionShape:
    """
    Constants that fix the shape of the nonlinear terms.

    Attributes
    ----------
    smooth_speed : float
        Speed at which the smooth Coulomb term reaches tanh(1), rad/s or m/s.
    stribeck_speed : float
        Speed over which the Stribeck term decays, rad/s or m/s.

    """

    smooth_speed: float = 0.03
    stribeck_speed: float = 0.1


@dataclass(frozen=True, eq=False)
class JointHistory:
    """
    State of the friction before each sample, which depends on the motion until then.

    Attributes
    ----------
    warmth : (N, n) ndarray
        Root mean square of the speed of each joint over the last `WARM_SECONDS`, rad/s or m/s.
    presliding : (N, n) ndarray
        Bend of the contact of each joint: 1 where it slides upwards, -1 where it slides
        downwards, and between them within `PRESLIDING_DISTANCE` after a reversal.

    """

    warmth: Array
    presliding: Array

    @staticmethod
    def unknown(qd: Array) -> JointHistory:
        """Return the history of joints that are cold, and slide by their velocity (N, n)."""
        return JointHistory(np.zeros_like(qd), np.sign(qd))

    def part(self, rows: slice | NDArray[np.intp]) -> JointHistory:
        """Return the history before some of the samples."""
        return JointHistory(self.warmth[rows], self.presliding[rows])

    def transposed(self) -> JointHistory:
        """Return it joint by joint, (n, N)."""
        return JointHistory(*map(np.ascontiguousarray, (self.warmth.T, self.presliding.T)))


@dataclass(frozen=True)
class FrictionTerm:
    """
    One friction term.

    Attributes
    ----------
    name : str
        As written in ``arm.yaml`` and after ``--friction``.
    symbol : str
        Of its coefficient; the joint number is appended in column names.
    unit : str
        Of its coefficient, for a revolute joint.
    value : callable
        ``value(qd, state, shape)``: column of all joints, (N, n), from the joint velocity (N, n)
        and the state that the term needs (N, n).
    state : str
        What it is: ``load``, the torque that loads the joint, or ``warmth`` or ``presliding`` of
        `JointHistory`; empty for a term of the velocity alone.

    """

    name: str
    symbol: str
    unit: str
    value: Callable[[Array, Any, FrictionShape], Array]
    state: str = ''

    @property
    def needs_load(self) -> bool:
        """Whether the term depends on the torque that loads the joint."""
        return self.state == 'load'

    @property
    def needs_history(self) -> bool:
        """Whether the term depends on the motion before."""
        return self.state in ('warmth', 'presliding')

    def at(
        self, qd: Array, load: Array | None, history: JointHistory | None, shape: FrictionShape,
    ) -> Array:
        """Column by velocity, load and history of one shape; those not needed may be None."""
        state = getattr(history, self.state) if self.needs_history else load
        return self.value(qd, state, shape)


def _smooth_sign(qd: Array, speed: float) -> Array:
    # The hyperbolic tangent by one exponential, which NumPy evaluates in half the time.
    left = np.exp(-2 / speed * np.abs(qd))
    return np.asarray(np.copysign((1 - left) / (1 + left), qd))


def _stribeck(qd: Array, _load: object, shape: FrictionShape) -> Array:
    return _smooth_sign(qd, shape.smooth_speed) * np.exp(-np.abs(qd) / shape.stribeck_speed)


def _curve_term(speed: float, symbol: str) -> FrictionTerm:
    return FrictionTerm(
        f'sign_{1000 * speed:.0f}', symbol, 'Nm',
        lambda qd, _load, _shape: _smooth_sign(qd, speed))


#: Viscous friction that changes while a joint moves, since its grease warms and shears soft.
WARM = 'viscous_warm'
#: Friction of a contact that bends before it slides.
PRESLIDING = 'presliding'
TERMS = {
    term.name: term
    for term in (
        FrictionTerm('viscous', 'Fv', 'Nm s/rad', lambda qd, _load, _shape: qd),
        FrictionTerm('coulomb', 'Fc', 'Nm', lambda qd, _load, _shape: np.sign(qd)),
        FrictionTerm('offset', 'Fo', 'Nm', lambda qd, _load, _shape: np.ones_like(qd)),
        FrictionTerm(
            'coulomb_smooth', 'Fcs', 'Nm',
            lambda qd, _load, shape: _smooth_sign(qd, shape.smooth_speed)),
        _curve_term(0.01, 'Fta'),
        _curve_term(0.1, 'Ftb'),
        _curve_term(1.0, 'Ftc'),
        FrictionTerm('stribeck', 'Fs', 'Nm', _stribeck),
        FrictionTerm(
            'viscous_cuberoot', 'Fcr', 'Nm (s/rad)^(1/3)', lambda qd, _load, _shape: np.cbrt(qd)),
        FrictionTerm(
            'load', 'Fl', '1',
            lambda qd, load, shape: np.abs(load) * _smooth_sign(qd, shape.smooth_speed),
            state='load'),
        FrictionTerm(
            WARM, 'Fvw', 'Nm s²/rad²', lambda qd, warmth, _shape: warmth * qd,
            state='warmth'),
        FrictionTerm(
            PRESLIDING, 'Fp', 'Nm', lambda _qd, presliding, _shape: presliding,
            state='presliding'),
    )
}

#: Time constant by which the square of the speed is averaged to the warmth of a joint, s. On the
#: TX40, held-out half, 1, 2, 3, 5 and 10 s leave 5.0, 4.4, 4.3, 4.3 and 4.3 % (5.9 % without).
WARM_SECONDS = 5.0
#: Distance over which a contact bends to ``1 - 1/e`` of its sliding friction, rad or m. Held-out
#: errors of the UR10, below 5 Hz, with 0.001, 0.003, 0.01, 0.03 and 0.1 rad: 3.2, 3.0, 3.0, 3.2
#: and 3.3 % (3.4 % without); of the Panda 1.97, 1.92, 1.88, 1.91 and 1.97 % (2.07 %); of the TX40
#: below 16 Hz 4.6, 4.6, 4.6, 4.5 and 4.4 % (4.7 %).
PRESLIDING_DISTANCE = 0.01

#: Friction of textbooks, which most arms need at least.
PLAIN_TERMS = ('viscous', 'coulomb', 'offset')
#: Smooth signs of several speeds, rad/s or m/s: together they follow any curve that rises and
#: falls with the speed, so that their coefficients have either sign.
CURVE = ('sign_10', 'coulomb_smooth', 'sign_100', 'sign_1000')
#: Terms that turn over with the velocity, however slow the motion.
DRY = ('coulomb', 'stribeck', *CURVE, PRESLIDING)


def friction_terms(names: Sequence[str]) -> tuple[FrictionTerm, ...]:
    """
    Terms by name, in the order given.

    Raises
    ------
    ArmError
        A name is unknown or repeated.

    """
    for name in names:
        if name not in TERMS:
            raise ArmError(f"unknown friction term '{name}'; known are {', '.join(TERMS)}")
    if len(set(names)) != len(names):
        raise ArmError(f"a friction term is repeated in {', '.join(names)}")
    return tuple(TERMS[name] for name in names)


def dry_friction(
    coefficients: Mapping[str, Array], speeds: Array, shape: FrictionShape,
) -> Array:
    """
    Sum the dry friction of joints that all move at the same speeds.

    Parameters
    ----------
    coefficients : mapping of str to (n,) ndarray
        Of the terms by name; those that are not `DRY` do not count.
    speeds : (S,) ndarray
        Above zero, rad/s or m/s.
    shape : FrictionShape
        Constants of the nonlinear terms.

    Returns
    -------
    (S, n) ndarray
        Nm.

    """
    n = max((len(each) for each in coefficients.values()), default=0)
    qd = np.repeat(speeds[:, None], n, axis=1)
    total, still, history = np.zeros_like(qd), np.zeros_like(qd), JointHistory.unknown(qd)
    for name in DRY:
        if name in coefficients:
            total += coefficients[name] * TERMS[name].at(qd, still, history, shape)
    return total
