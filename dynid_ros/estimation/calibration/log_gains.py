# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Logarithms of drive gains, relative to a reference or fixed by a weighed load."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import RecordingError
from dynid_ros.estimation.diagnosis.dissipation import SIGNIFICANT_DEVIATIONS
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.estimation.suspects.signal_suspects import GAIN_STD
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class LogGains:
    """
    Natural logarithms of the ratios of drive gains to the stated ones.

    Attributes
    ----------
    value : (n,) ndarray
        Of each motor; with an unknown common constant unless a load was weighed.
    covariance : (n, n) ndarray
        For autocorrelated residuals; that of the prior for an undetermined gain.
    from_prior : (n, n) ndarray
        Part of the covariance due to the priors of gains and parameters.
    reference : int or None
        Motor whose stated gain is taken to be true; None if a weighed load fixes all gains.
    disagreement : (n,) ndarray
        Residual of each motor relative to that of separate fits to the recordings with and without
        the load, the larger ratio: near 1 unless they differ by more than the load.

    """

    value: Array
    covariance: Array
    from_prior: Array
    reference: int | None
    disagreement: Array

    @property
    def std(self) -> Array:
        """Return the standard deviations, (n,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Whether data rather than priors determine each gain, (n,); False for the reference."""
        narrowed = self.std**2 <= (1 - FROM_DATA) * GAIN_STD**2
        variances = (np.diag(each) for each in (self.covariance, self.from_prior))
        return narrowed & data_determine(*variances) & (self.std > 0)

    def relative_to(self, reference: int) -> LogGains:
        """Return the ratios to the gain of another motor."""
        change = np.eye(len(self.value))
        change[:, reference] -= 1.0
        return replace(
            self, value=change @ self.value, covariance=change @ self.covariance @ change.T,
            from_prior=change @ self.from_prior @ change.T, reference=reference)


def data_determine(variance: Array, from_prior: Array) -> NDArray[np.bool_]:
    """Whether data rather than priors determine each value, (k,)."""
    return np.asarray(from_prior <= (1 - FROM_DATA) * variance)


def by_mass(
    ratios: LogGains, value: Array, estimate: float, mass: float, covariance: Array,
    from_prior: Array,
) -> LogGains:
    """
    Fix the common factor of gains by the known mass of a load.

    Parameters
    ----------
    ratios : LogGains
        The gains, relative to any motor.
    value : (n,) ndarray
        Logarithms of gains with an unknown common factor.
    estimate, mass : float
        Mass of the load according to these gains, and the true one, kg.
    covariance : (n + 1, n + 1) ndarray
        Of the logarithms and of the estimate.
    from_prior : (n + 1, n + 1) ndarray
        Part of it due to the priors.

    """
    # The mass according to the stated gain of each motor; the most certain one counts.
    n = len(value)
    change = np.column_stack([-estimate * np.eye(n), np.ones(n)])
    variance, prior_variance = (
        ((change @ each) * change).sum(axis=1) for each in (covariance, from_prior))
    best = int(variance.argmin())
    if not data_determine(variance, prior_variance)[best]:
        raise RecordingError(
            'the recordings do not separate mass and first moments of the load; move more '
            'joints while the arm carries it (an arm of two joints cannot separate them)')
    std, factor = float(np.sqrt(variance[best])), float(np.exp(-value[best]))
    if not estimate > SIGNIFICANT_DEVIATIONS * std:
        raise RecordingError(
            f'the loaded recording does not show the mass of {mass:g} kg: by the stated gains, '
            f'the arm carries {factor * estimate:.3g} ± {factor * std:.2g} kg more than in the '
            'recordings without it; check which recording is which, and move the joints that '
            'carry the load')
    to_gains = np.hstack([np.eye(n), np.full((n, 1), -1 / estimate)])
    return replace(ratios, value=value + np.log(mass / estimate), reference=None,
                   covariance=to_gains @ covariance @ to_gains.T,
                   from_prior=to_gains @ from_prior @ to_gains.T)
