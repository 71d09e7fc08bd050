# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Estimate the size of a fault by variable projection, and find other sizes as likely."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.covariance import whitened_changes
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.suspect import resized, Suspect
from dynid_ros.estimation.suspects.variable_projection import step_of, UnitRows
from dynid_ros.utilities.arrays import Array, inverse_of

#: Most steps to the size of a fault, and most trials of each; the step at which they end, relative
#: to the standard deviation for white residuals. It changes the log likelihood by 2e-6.
FAULT_SIZE_STEPS, SIZE_SETTLED = 8, 0.002
#: Half of a 95 % interval in standard deviations: Student's t, `GROUPS` - 1 degrees of freedom.
T_INTERVAL = 2.262


@dataclass(frozen=True, eq=False)
class OneStepEstimate:
    """
    Size of a fault after one step from zero.

    Attributes
    ----------
    suspect : Suspect
        The fault with size zero.
    step : (m,) ndarray
        Its size.
    std : float
        Standard deviation of the size, in its least certain direction.

    """

    suspect: Suspect
    step: Array
    std: float

    def smallest_detectable(self, threshold: float) -> float:
        """Smallest size whose gain in log likelihood reaches a threshold."""
        return float(np.sqrt(2 * threshold) * self.std)


@dataclass(frozen=True, eq=False)
class EstimatedSize:
    """
    Size of a fault, with the parameters estimated together with it.

    Attributes
    ----------
    suspect : Suspect
        The fault with its best size (m,).
    theta : (c,) ndarray
        The parameters.
    covariance : (c + m, c + m) ndarray
        Of both, for any correlation of residuals within groups.
    from_prior : (c + m, c + m) ndarray
        Part of it due to the priors.

    """

    suspect: Suspect
    theta: Array
    covariance: Array
    from_prior: Array

    @property
    def words(self) -> str:
        """Write the size with its interval of 95 %, in its least certain direction."""
        size, c = self.suspect.size, len(self.theta)
        assert size is not None
        half = T_INTERVAL * _largest(self.covariance[c:, c:])
        return size.words(size.distance, half)


def one_step_estimate(recorded: UnitRows, suspect: Suspect) -> OneStepEstimate:
    """Estimate the size of a fault by one step from zero, that of the recording as it is."""
    assert suspect.size is not None
    step, covariance = recorded.step(suspect.size)
    return OneStepEstimate(suspect, step, _largest(covariance))


def _largest(covariance: Array) -> float:
    """Return the standard deviation in the least certain direction."""
    return float(np.sqrt(np.linalg.eigvalsh(covariance)[-1]))


def refined(likelihood: Likelihood, suspect: Suspect) -> Suspect:
    """Refine the size of a fault, if it has one, until it converges."""
    if suspect.size is None:
        return suspect
    value = _posterior(likelihood, suspect)
    for _ in range(FAULT_SIZE_STEPS):
        step, covariance = step_of(likelihood, suspect)
        # A step that lowers the likelihood is halved.
        for shorter in (step / 2**k for k in range(FAULT_SIZE_STEPS)):
            tried = resized(suspect, shorter)
            better = _posterior(likelihood, tried)
            if better > value:
                break
        else:
            break
        suspect, value = tried, better
        if (np.abs(shorter) < SIZE_SETTLED * np.sqrt(np.diag(covariance))).all():
            break
    return suspect


def _posterior(likelihood: Likelihood, suspect: Suspect) -> float:
    size = suspect.size
    assert size is not None
    return likelihood.unconstrained(suspect) - float(((size.x / size.std)**2).sum() / 2)


def with_error_bars(likelihood: Likelihood, suspect: Suspect) -> EstimatedSize:
    """
    Find the error bars of the size of a fault and of all parameters by a jackknife over groups.

    The jackknife allows any correlation of residuals within groups, and accounts for the noise
    that the fit absorbs.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    suspect : Suspect
        With its best size.

    References
    ----------
    Bell and McCaffrey 2002, Bias reduction in standard errors for linear regression with
    multi-stage samples, Survey Methodology 28(2).

    """
    size, unit = suspect.size, UnitRows(likelihood, suspect)
    assert size is not None
    rows = np.column_stack([unit.W, unit.derivative(size), unit.residual])
    numbers = np.repeat(suspect.groups, suspect.arm.n)
    parts = [QRFactors(rows[numbers == k][None], np.array([(numbers == k).sum()]))
             for k in np.unique(numbers)]
    root = np.linalg.cholesky(block_diag(unit.prior_information, np.diag(size.std**-2))).T
    prior = np.column_stack([root, -root @ np.append(unit.theta, size.x)])
    matrix = sum(part.products[0, :-1, :-1] for part in parts) + root.T @ root
    half = inverse_of(np.linalg.cholesky(matrix).T)
    # Changes of parameters and size.
    changes = whitened_changes(parts, np.zeros(len(half)), np.ones(1), half, prior) @ half.T
    prior_pull = root @ half @ half.T
    from_prior = prior_pull.T @ prior_pull
    jackknife = (len(parts) - 1) / len(parts) * changes.T @ changes
    return EstimatedSize(suspect, unit.theta, jackknife + from_prior, from_prior)


def equally_likely_sizes(
    likelihood: Likelihood, best: Suspect, starts: Iterable[Suspect], threshold: float,
) -> list[Suspect]:
    """
    Find sizes of a fault that are as likely as the best one, but far from it.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    best : Suspect
        With the best size.
    starts : iterable of Suspect
        The same fault with other start values of the size.
    threshold : float
        Difference of log likelihoods that distinguishes two sizes.

    """
    answers, value = [best], likelihood.unconstrained(best)
    for each in starts:
        candidate = refined(likelihood, each)
        near = any(_likelihood_loss(likelihood, one, candidate) < threshold for one in answers)
        if not near and likelihood.unconstrained(candidate) > value - threshold:
            answers.append(candidate)
    return answers[1:]


def _likelihood_loss(likelihood: Likelihood, one: Suspect, other: Suspect) -> float:
    """Loss of log likelihood from one size to another, to second order about the first."""
    assert one.size is not None
    away = one.size.coordinates(other) - one.size.x
    if not one.size.is_factor:
        away = np.remainder(away + np.pi, 2 * np.pi) - np.pi
    return float(away @ np.linalg.solve(step_of(likelihood, one)[1], away) / 2)
