# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Low-pass filtered friction columns, computed from single samples."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dynid_ros.arm.friction import friction_terms, FrictionShape
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.filters import Decimator, REACH_PERIODS
from dynid_ros.dynamics.regressor import own_columns
from dynid_ros.utilities.arrays import Array

#: Samples of the low-pass in a period of its cut-off.
SAMPLES_PER_PERIOD = 64
#: Columns that are steep at zero velocity, and their degree d: ``f(a qd) = a**d f(qd)`` for a > 0.
STEEP = {'coulomb': 0.0, 'viscous_cuberoot': 1 / 3}


def fill_filtered_friction(
    arm: ArmModel, qd: Array, qdd: Array, period: Array, out: Array,
) -> None:
    """
    Fill the friction columns that are steep at zero velocity as if low-pass filtered.

    The acceleration is assumed constant within the reach of the low-pass. Then a filtered column
    of degree d is ``(|qdd| period)**d F(qd / (|qdd| period))`` with one function F.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    qd, qdd : (k, n) ndarray
        Velocity and acceleration, rad/s and rad/s², or m/s and m/s².
    period : (k,) ndarray
        Period of the cut-off of the low-pass (`Decimator`), s; 0 for none.
    out : (k, n, p) ndarray
        Regressor.

    """
    change = np.abs(qdd) * period[:, None]
    near = np.abs(qd) < REACH_PERIODS * change
    u = np.divide(qd, change, out=np.zeros_like(qd), where=near)
    own = own_columns(arm.layout, out)
    for term in friction_terms([name for name in arm.friction if name in STEEP]):
        column = own[:, :, arm.layout.place(term.symbol)]
        filtered = change**STEEP[term.name] * np.interp(u, *_filtered(term.name))
        column[near] = filtered[near]


def filtered_step(t: Array, period: Array) -> Array:
    """Low-pass filter a step from 0 to 1 at the time zero, (k,); periods as above."""
    u = np.divide(t, period, out=REACH_PERIODS * np.sign(t), where=period > 0)
    return np.asarray((1 + np.interp(u, *_filtered('coulomb'))) / 2)


@lru_cache(maxsize=len(STEEP))
def _filtered(name: str) -> tuple[Array, Array]:
    """Tabulate F: the filtered column for a velocity that grows by 1 in a period."""
    (term,) = friction_terms([name])
    taps, reach = Decimator(SAMPLES_PER_PERIOD, 1.0, 1).taps, REACH_PERIODS
    grid = np.linspace(-reach, reach, round(4 * reach * SAMPLES_PER_PERIOD) + 1)
    shifts = (np.arange(len(taps)) - len(taps) // 2) / SAMPLES_PER_PERIOD
    values = term.value(grid[:, None] + shifts, np.zeros(1), FrictionShape())
    return grid, np.asarray(values @ taps)
