# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of formats that hold viscous and Coulomb friction alone, fitted to the model's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.filters import Decimator
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters, rigid_parameters
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.online.row_pipeline import torque_lag
from dynid_ros.utilities.arrays import Array

#: Samples from one row to the next: friction changes its sign between rows. Where friction is most
#: of the torque, 4, 8 and 16 leave errors of 2.4, 1.2 and 0.9 % of a file that is right.
SAMPLES_PER_ROW = 8
#: Rows that a cubic spline needs.
SPLINE_ROWS = 4
#: States at which the friction curve of a model without rows is evaluated.
CURVE_STATES = 1000


class RowMotion:
    """
    Motion between the rows of a prediction, and the low-pass that their torque has passed.

    Parameters
    ----------
    part : Prediction
        At least `SPLINE_ROWS` rows.
    model : IdentifiedModel
        Its model, for the low-pass.

    Attributes
    ----------
    part : Prediction
        Of the parameters.
    t : (k,) ndarray
        `SAMPLES_PER_ROW` times from one row to the next, s.
    q, qd, qdd : (k, n) ndarray
        Motion at these times, rad, rad/s, rad/s² (m for prismatic joints).

    """

    def __init__(self, part: Prediction, model: IdentifiedModel) -> None:
        from scipy.interpolate import CubicHermiteSpline, CubicSpline

        rows = np.arange(len(part.t))
        # Rows of a stream have a torque that lags behind the motion.
        lag = torque_lag(model.treatment) if is_live(model) else 0.0
        fine = np.linspace(0, rows[-1], SAMPLES_PER_ROW * rows[-1] + 1)
        speed = CubicSpline(part.t, part.qd)
        self.part, self.t = part, np.interp(fine, rows, part.t) - lag
        self.q = CubicHermiteSpline(part.t, part.q, part.qd)(self.t)
        self.qd, self.qdd = speed(self.t), speed(self.t, 1)
        self._low_pass = Decimator(
            SAMPLES_PER_ROW * model.row_rate_hz, model.treatment.cutoff_hz, SAMPLES_PER_ROW)

    def at_rows(self, x: Array) -> Array:
        """Return signals (k, n) at the rows, after the low-pass; both ends are mirrored."""
        reach = self._low_pass.reach
        return self._low_pass.whole(np.pad(x, ((reach, reach), (0, 0)), mode='reflect'))


def is_live(model: IdentifiedModel) -> bool:
    """Whether a stream made the model: it predicts each row before it uses it."""
    return all(part.held_out for part in model.predictions)


def row_motions(model: IdentifiedModel, *, held_out: bool) -> list[RowMotion]:
    """Return the stretches that were fitted or held out; of a live model, all were fitted."""
    wanted = held_out or is_live(model)
    return [RowMotion(part, model) for part in model.predictions
            if part.held_out == wanted and len(part.t) >= SPLINE_ROWS]


def simple_arm(model: IdentifiedModel, *, rotor_inertia: bool) -> ArmModel:
    """
    Reduce a model to what a format can hold: possible links, viscous and Coulomb friction.

    Coefficients are fitted joint by joint, by non-negative least squares, to the measured torque
    of the fitted rows minus that of the links, together with an offset that the format does not
    hold. For a model without rows, as of a fleet, they are fitted to its own friction up to the
    speed limits.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    rotor_inertia : bool
        Whether the format holds rotor inertia.

    Returns
    -------
    ArmModel
        With nominal parameters; a model without any friction gets none.

    Raises
    ------
    InputError
        See `IdentifiedModel.standard_parameters`.

    """
    arm = model.possible_arm
    links = replace(
        arm, friction=(), friction_nominal={}, coupling=(),
        rotor_nominal=arm.rotor_nominal if rotor_inertia else None)
    if not arm.friction:
        return links
    motions = row_motions(model, held_out=False)
    rows = _rows_beside(links, motions) if motions else _friction_curve(arm)
    viscous, coulomb = np.transpose([_coefficients(*own) for own in zip(*(
        np.moveaxis(x, 1, 0) for x in rows), strict=True)])
    return replace(links, friction=('viscous', 'coulomb'),
                   friction_nominal={'viscous': viscous, 'coulomb': coulomb})


def _coefficients(qd: Array, sign: Array, tau: Array) -> Array:
    """Fit viscous and Coulomb friction of a joint; zero for one that stands still throughout."""
    from scipy.optimize import nnls

    moves = np.isfinite(tau)
    if not moves.any():
        return np.zeros(2)
    # Fit an offset of either sign, too, lest it counts as friction.
    ones = np.ones(moves.sum())
    columns = np.column_stack([qd[moves], sign[moves], ones, -ones])
    return np.asarray(nnls(columns, tau[moves])[0][:2])


def _rows_beside(links: ArmModel, motions: Sequence[RowMotion]) -> tuple[Array, Array, Array]:
    """Speed, its sign, and the torque that links leave, (N, n) each, after the low-pass."""
    torque = rigid_parameters(links).torque
    parts = [(motion.at_rows(motion.qd), motion.at_rows(np.sign(motion.qd)),
              motion.part.tau - motion.at_rows(torque(motion.q, motion.qd, motion.qdd)))
             for motion in motions]
    speed, sign, tau = (np.concatenate(x) for x in zip(*parts, strict=True))
    return speed, sign, tau


def _friction_curve(arm: ArmModel) -> tuple[Array, Array, Array]:
    """Speed, its sign, and the friction of an arm in random poses, (N, n) each."""
    q, qd = random_slides(arm)
    known, bare = rigid_parameters(arm), replace(arm, coupling=())
    whole = regressor(bare, q, qd, 0 * q, load=known.torque(q, 0 * q, 0 * q))
    return qd, np.sign(qd), whole @ nominal_parameters(bare) - known.torque(q, qd, 0 * q)


def random_slides(arm: ArmModel) -> tuple[Array, Array]:
    """Positions and speeds within the limits of an arm, (N, n) each, the same in every run."""
    rng, own = np.random.default_rng(0), arm.limits
    bounded = np.isfinite([own.lower, own.upper]).all(axis=0)
    low, high = (np.where(bounded, x, y) for x, y in ((own.lower, -np.pi), (own.upper, np.pi)))
    q = rng.uniform(low, high, (CURVE_STATES, arm.n))
    qd = np.where(np.isfinite(own.velocity), own.velocity, 1.0) * rng.uniform(-1, 1, q.shape)
    return q, qd
