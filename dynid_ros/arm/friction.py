"""Friction terms: columns that are linear in their coefficient once their shape is fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import ArmError

Array = NDArray[np.float64]


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
        ``value(qd, load, shape)``: column of all joints, (N, n), from the joint velocity (N, n)
        and the torque that loads the joint (N, n).
    needs_load : bool
        Whether the term uses ``load``.

    """

    name: str
    symbol: str
    unit: str
    value: Callable[[Array, Array, FrictionShape], Array]
    needs_load: bool = False


def _smooth_sign(qd: Array, shape: FrictionShape) -> Array:
    # The hyperbolic tangent by one exponential, which NumPy evaluates in half the time.
    left = np.exp(-2 / shape.smooth_speed * np.abs(qd))
    return np.asarray(np.copysign((1 - left) / (1 + left), qd))


def _stribeck(qd: Array, _load: Array, shape: FrictionShape) -> Array:
    return _smooth_sign(qd, shape) * np.exp(-np.abs(qd) / shape.stribeck_speed)


TERMS = {
    term.name: term
    for term in (
        FrictionTerm('viscous', 'Fv', 'Nm s/rad', lambda qd, _load, _shape: qd),
        FrictionTerm('coulomb', 'Fc', 'Nm', lambda qd, _load, _shape: np.sign(qd)),
        FrictionTerm('offset', 'Fo', 'Nm', lambda qd, _load, _shape: np.ones_like(qd)),
        FrictionTerm(
            'coulomb_smooth', 'Fcs', 'Nm', lambda qd, _load, shape: _smooth_sign(qd, shape)),
        FrictionTerm('stribeck', 'Fs', 'Nm', _stribeck),
        FrictionTerm(
            'viscous_cuberoot', 'Fcr', 'Nm (s/rad)^(1/3)', lambda qd, _load, _shape: np.cbrt(qd)),
        FrictionTerm(
            'load', 'Fl', '1',
            lambda qd, load, shape: np.abs(load) * _smooth_sign(qd, shape), needs_load=True),
    )
}

#: Friction of textbooks, which most arms need at least.
PLAIN = ('viscous', 'coulomb', 'offset')


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
