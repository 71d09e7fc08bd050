# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The identified dynamics of an arm, with its uncertainty and verdict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.friction import friction_terms, JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Defect, SampleClock
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.prediction import (
    motion_range,
    Prediction,
    torque_rows,
    torque_variance,
)
from dynid_ros.estimation.estimate.possible_parameters import (
    FROM_DATA,
    possible_parameters,
    PossibleParameters,
)
from dynid_ros.estimation.model.metrics import BandwidthError, Metrics
from dynid_ros.estimation.model.uses import Use, uses
from dynid_ros.estimation.model.verdict import Verdict
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.inputs import finite_rows
from dynid_ros.utilities.one_thread import one_thread


@dataclass(frozen=True, eq=False, repr=False)
class IdentifiedModel:
    """
    The identified dynamics of an arm.

    Attributes
    ----------
    arm : ArmModel
        The arm, with its friction terms.
    theta : (b,) ndarray
        Base parameters, in the order of ``base_parameters(arm)``.
    covariance : (b, b) ndarray
        From a jackknife over groups of samples (`group_scatter`), which allows autocorrelated
        residuals, and the `dispersion`; `std` is the root of its diagonal.
    std_white : (b,) ndarray
        Standard deviations as if residuals were white, for comparison.
    data_share : (b,) ndarray
        Share by which the samples reduce the prior variance of each parameter.
    root_information, root_torque : (b, b) and (b,) ndarray
        Upper triangle R with ``Rᵀ R = Wᵀ Σ⁻¹ W``, the information of the samples alone as if their
        noise were white, and ``R⁻ᵀ Wᵀ Σ⁻¹ tau``.
    widening : (n,) ndarray or None
        Factors of the prior's standard deviations, see `ArmPrior.widening`; None for one.
    colour : float
        Variance inflation due to autocorrelated residuals: how many samples count as one.
    dispersion : float
        The same due to model errors that groups of samples have in common, see `dispersion_of`.
    possible : bool
        Whether theta follows from the `standard_parameters`. It does unless their cross-validated
        error is significantly larger than that of the unconstrained estimate.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    condition_number : float
        Of the regressor without weights, in the 2-norm.
    samples, seconds : int, float
        Number of samples and duration of the fitted recordings.
    sources : tuple of str
        Names of these recordings.
    data_hash : str
        SHA-256 of the samples used for fitting.
    treatment : ConditioningSettings
        Settings of the conditioning of the signals.
    fit : Metrics
        In-sample figures.
    validation : Metrics or None
        Figures on held-out samples.
    verdict : Verdict
        Whether to trust it.
    defects : tuple of Defect
        Defects of the recordings.
    timing : dict of str to float
        Seconds by stage.
    predictions : tuple of Prediction
        Torque over time, for plots.
    consistent : Metrics or None
        Figures of the `standard_parameters` on the same held-out samples.
    stated : dict of str to Metrics
        Figures of the parameters that arm.yaml or the URDF states on the same held-out samples, by
        how much of them is fitted; see `dynid_ros.estimation.identification.stated_parameters`.
    error_by_bandwidth : tuple of BandwidthError
        Held-out error against the cut-off of a low-pass, the lowest first.
    friction_strength : dict of str to float
        By friction term, the width of the prior of its coefficients around zero, relative to the
        `arm_prior`, for white residuals; see `dynid_ros.estimation.estimate.friction_strengths`.
    held_out : str
        Description of the held-out samples: `ANOTHER_MOTION`, `FITTED_AGAIN`, or the part of the
        fitted recordings; empty without any.
    repeats : bool
        Whether the held-out samples repeat the fitted motion, so that no other validates it.
    unrepeated : tuple of float or None
        Torque of each joint that differs between repetitions of the motion, Nm; NaN for a joint at
        rest; None if no motion repeats.
    clocks : tuple of SampleClock
        Clocks of the recordings whose stamps were replaced by times of measurement.

    """

    arm: ArmModel
    theta: Array
    covariance: Array
    std_white: Array
    data_share: Array
    root_information: Array
    root_torque: Array
    sigma: Array
    condition_number: float
    samples: int
    seconds: float
    sources: tuple[str, ...]
    data_hash: str
    treatment: ConditioningSettings
    fit: Metrics
    validation: Metrics | None
    verdict: Verdict
    defects: tuple[Defect, ...] = ()
    timing: dict[str, float] = field(default_factory=dict)
    predictions: tuple[Prediction, ...] = ()
    consistent: Metrics | None = None
    stated: dict[str, Metrics] = field(default_factory=dict)
    error_by_bandwidth: tuple[BandwidthError, ...] = ()
    friction_strength: dict[str, float] = field(default_factory=dict)
    held_out: str = ''
    repeats: bool = False
    unrepeated: tuple[float, ...] | None = None
    widening: Array | None = None
    colour: float = 1.0
    dispersion: float = 1.0
    possible: bool = False
    clocks: tuple[SampleClock, ...] = ()

    def __repr__(self) -> str:
        """Show the arm, the data, the friction terms, the held-out error and the verdict."""
        b, first = len(self.theta), self.fit if self.validation is None else self.validation
        kind = 'held-out' if first.held_out else 'in-sample'
        doubt = '' if self.verdict.trustworthy else f': {"; ".join(self.verdict.reasons)}'
        return '\n'.join([
            f'IdentifiedModel of {self.arm.name}: {b} base parameters, {self.arm.n} joints',
            f'  data: {self.seconds:.1f} s, {self.samples} samples of {", ".join(self.sources)}',
            f'  friction: {", ".join(self.arm.friction) or "none"}; '
            f'{b - self.from_data.sum()} parameters from the prior',
            f'  {kind} torque error: {first.relative_error_percent:.2f} % ({first.source})',
            f'  {"" if self.verdict.trustworthy else "not "}trustworthy{doubt}'
            + ('; no other motion validated it' if self.repeats else '')])

    @property
    def uses(self) -> tuple[Use, ...]:
        """Return for which uses the model is good enough, each with the figure that decides."""
        return uses(self)

    @property
    def std(self) -> Array:
        """Return standard deviations of the base parameters, for autocorrelated residuals."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def parameters(self) -> dict[str, float]:
        """Return the base parameters by name, in SI units."""
        return dict(zip(base_parameters(self.arm).names, self.theta.tolist(), strict=True))

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Return a mask of the base parameters that data rather than the prior determine, (b,)."""
        return np.asarray(self.data_share >= FROM_DATA)

    @property
    def prior(self) -> ArmPrior:
        """Return the prior of the parameters, scaled to the torque of the data."""
        prior = arm_prior(self.arm).with_friction(self.arm, self.friction_strength)
        return prior if self.widening is None else prior.scaled_by(self.widening)

    @one_thread()
    def standard_parameters(self) -> PossibleParameters:
        """
        Return all standard parameters: the physically possible ones that fit best.

        Raises
        ------
        InputError
            The estimates are so large that squares of them are not finite.

        """
        return self._standard

    @property
    def possible_arm(self) -> ArmModel:
        """Return the arm with the `standard_parameters` as its nominal ones."""
        values, layout = self.standard_parameters().values, self.arm.layout
        return replace(
            self.arm, inertial=values[layout.all_inertial()].reshape(self.arm.links, -1),
            rotor_nominal=values[layout.rotors] if layout.rotor_inertia else None,
            friction_nominal={term.name: values[layout.friction_columns(term.symbol)]
                              for term in friction_terms(self.arm.friction)})

    @cached_property
    def _standard(self) -> PossibleParameters:
        return possible_parameters(
            self.arm, self.prior, self.root_information, self.root_torque, self.covariance)

    @property
    def row_rate_hz(self) -> float:
        """Return the rate of the rows of the fit, Hz."""
        return self.treatment.rate_hz / self.treatment.decimation

    def recorded_range(self) -> tuple[Array, Array, Array] | None:
        """Return the `motion_range` of the fitted samples; None if the model keeps no samples."""
        fitted = [part for part in self.predictions if not part.held_out]
        seen = fitted or list(self.predictions)
        return motion_range(seen) if seen else None

    def predict_torque(
        self, q: ArrayLike, qd: ArrayLike = 0.0, qdd: ArrayLike = 0.0, *,
        history: JointHistory | None = None,
    ) -> Array:
        """
        Predict the torque of a motion, with friction.

        Parameters
        ----------
        q, qd, qdd : (N, n) or (n,) array_like
            rad, rad/s, rad/s² (m for prismatic joints), in the order of the arm's joints; the arm
            is at rest by default.
        history : JointHistory, optional
            From `history_of`, for friction terms that depend on the motion before; by default
            joints are cold and slide.

        Returns
        -------
        (N, n) or (n,) ndarray
            Torque of the drives at the joints, Nm (N for prismatic joints).

        Raises
        ------
        InputError
            An argument has another shape, or is not finite.

        """
        states = self._states(q, qd, qdd, history)
        tau = np.empty_like(states[0])
        for part, Y in torque_rows(self.arm, self.theta, *states):
            tau[part] = Y @ self.theta
        return tau[0] if np.ndim(q) == 1 else tau

    @one_thread()
    def torque_std(
        self, q: ArrayLike, qd: ArrayLike = 0.0, qdd: ArrayLike = 0.0, *,
        history: JointHistory | None = None,
    ) -> Array:
        """
        Return the standard deviation of the error of `predict_torque`.

        Parameters
        ----------
        q, qd, qdd, history
            As there.

        Returns
        -------
        (N, n) or (n,) ndarray
            Standard deviation of measured minus predicted torque after the low-pass of the
            identification, Nm: from the parameters, whose error bars hold the error of the model
            on another motion, and from the residual.

        Raises
        ------
        InputError
            As there.

        """
        states = self._states(q, qd, qdd, history)
        std = np.empty_like(states[0])
        for part, Y in torque_rows(self.arm, self.theta, *states):
            std[part] = np.sqrt(torque_variance(Y, self.covariance, self.sigma))
        return std[0] if np.ndim(q) == 1 else std

    def _states(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, history: JointHistory | None,
    ) -> tuple[Array, Array, Array, JointHistory | None]:
        q = finite_rows('q', q, self.arm.n)
        given = {'q': q, **{name: np.broadcast_to(rate, q.shape) if np.ndim(rate) == 0 else rate
                            for name, rate in (('qd', qd), ('qdd', qdd))}}
        if history is not None:
            given |= {'warmth': history.warmth, 'presliding': history.presliding}
        states = [finite_rows(name, value, self.arm.n) for name, value in given.items()]
        if len({len(rows) for rows in states}) > 1:
            raise InputError(f'{", ".join(given)} must have the same number of rows, but have '
                             + ', '.join(str(len(rows)) for rows in states))
        before = JointHistory(*states[3:]) if history else None
        return states[0], states[1], states[2], before
