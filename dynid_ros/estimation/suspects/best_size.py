"""The best size of a fault that is a number, by variable projection, and others as good."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from dynid_ros.estimation.blocks.least_squares import inverse_of
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.estimate.covariance import whitened_changes
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.suspect import sized, Suspect
from dynid_ros.estimation.suspects.variable_projection import linear, step_of
from dynid_ros.utilities.arrays import Array

#: Steps at most in which the size of a fault settles, and the step that ends them, by the standard
#: deviation for white residuals.
STEPS, SETTLED = 8, 0.002
#: Halvings of a step that makes it less likely.
HALVINGS = 5
#: Half of a 95 % interval in standard deviations: Student's t of `GROUPS` less one.
INTERVAL = 2.262


@dataclass(frozen=True, eq=False)
class Shown:
    """
    Size of a fault as a recording shows it, by one step from none.

    Attributes
    ----------
    suspect : Suspect
        The fault with no size.
    step : (m,) ndarray
        Its size.
    std : float
        Standard deviation of it, in its least certain direction.

    """

    suspect: Suspect
    step: Array
    std: float

    def smallest(self, least: float) -> float:
        """Size from which on the likelihood of the fault suffices."""
        return float(np.sqrt(2 * least) * self.std)


@dataclass(frozen=True, eq=False)
class Estimated:
    """
    Size of a fault with the parameters beside it.

    Attributes
    ----------
    suspect : Suspect
        The fault with its best size (m,).
    theta : (c,) ndarray
        The parameters.
    covariance : (c + m, c + m) ndarray
        Of both, for residuals that are correlated in any way within groups.
    from_prior : (c + m, c + m) ndarray
        Part of it that the priors make.

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
        half = INTERVAL * _largest(self.covariance[c:, c:])
        return size.words(float(size.x[0] if len(size.x) == 1 else np.linalg.norm(size.x)), half)


def shown(likelihood: Likelihood, suspect: Suspect) -> Shown:
    """Return the size of a fault as a recording shows it."""
    step, covariance = step_of(likelihood, suspect)
    return Shown(suspect, step, _largest(covariance))


def _largest(covariance: Array) -> float:
    """Return the standard deviation in the least certain direction."""
    return float(np.sqrt(np.linalg.eigvalsh(covariance)[-1]))


def moved(suspect: Suspect, step: Array) -> Suspect:
    """Return a suspect of another size."""
    size = suspect.size
    assert size is not None
    return sized(size.make, size.x + step, size.std, size.typical, times=size.times)


def settled(likelihood: Likelihood, suspect: Suspect) -> Suspect:
    """Improve the size of a fault, if it has one, until it stays."""
    if suspect.size is None:
        return suspect
    value = _posterior(likelihood, suspect)
    for _ in range(STEPS):
        step, covariance = step_of(likelihood, suspect)
        for _ in range(HALVINGS):
            tried = moved(suspect, step)
            better = _posterior(likelihood, tried)
            if better > value:
                break
            step = step / 2
        else:
            break
        suspect, value = tried, better
        if (np.abs(step) < SETTLED * np.sqrt(np.diag(covariance))).all():
            break
    return suspect


def _posterior(likelihood: Likelihood, suspect: Suspect) -> float:
    size = suspect.size
    assert size is not None
    return likelihood.free(suspect) - float(((size.x / size.std)**2).sum() / 2)


def with_error_bars(likelihood: Likelihood, suspect: Suspect) -> Estimated:
    """
    Find the error bars of the size of a fault and of all parameters, by leaving out groups.

    The jackknife holds for residuals that are correlated in any way within groups, and knows that
    a fit takes up a part of the noise.

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
    line, n = linear(likelihood, suspect), suspect.arm.n
    rows, own = np.column_stack([line.W, line.D, line.left]), np.repeat(suspect.groups, n)
    parts = [Products((rows[own == k].T @ rows[own == k])[None], np.array([(own == k).sum()]))
             for k in np.unique(own)]
    known = np.linalg.cholesky(block_diag(line.tie, np.diag(line.size.std**-2))).T
    prior = np.column_stack([known, -known @ np.append(line.theta, line.size.x)])
    matrix = sum(part.products[0, :-1, :-1] for part in parts) + known.T @ known
    half = inverse_of(np.linalg.cholesky(matrix).T)
    # In changes of parameters and size.
    changes = whitened_changes(parts, np.zeros(len(half)), np.ones(1), half, prior) @ half.T
    pulled = known @ half @ half.T
    from_prior = pulled.T @ pulled
    jackknife = (len(parts) - 1) / len(parts) * changes.T @ changes
    return Estimated(suspect, line.theta, jackknife + from_prior, from_prior)


def other_answers(
    likelihood: Likelihood, best: Suspect, starts: Iterable[Suspect], least: float,
) -> list[Suspect]:
    """
    Find sizes of a fault that are far from the best one, and as likely.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    best : Suspect
        With the best size.
    starts : iterable of Suspect
        The same fault with other sizes, from which others may be reached.
    least : float
        Difference of log likelihoods that distinguishes two sizes.

    """
    answers, value = [best], likelihood.free(best)
    for each in starts:
        found = settled(likelihood, each)
        near = any(_between(likelihood, one, found) < least for one in answers)
        if not near and likelihood.free(found) > value - least:
            answers.append(found)
    return answers[1:]


def _between(likelihood: Likelihood, one: Suspect, other: Suspect) -> float:
    """Loss of likelihood from one size to another, if both were on one hill."""
    assert one.size is not None and other.size is not None
    away = other.size.x - one.size.x
    return float(away @ np.linalg.solve(step_of(likelihood, one)[1], away) / 2)
