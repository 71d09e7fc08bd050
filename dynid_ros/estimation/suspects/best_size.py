"""The best size of a fault that is a number, by variable projection, and others as good."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.suspect import sized, Suspect
from dynid_ros.utilities.arrays import Array

#: Steps at most in which the size of a fault settles, and the change that ends them.
STEPS, SETTLED = 8, 1e-3


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


def shown(likelihood: Likelihood, suspect: Suspect) -> Shown:
    """Return the size of a fault as a recording shows it."""
    step, covariance = likelihood.step(suspect)
    return Shown(suspect, step, _largest(covariance))


def interval(likelihood: Likelihood, suspect: Suspect) -> str | None:
    """Write the size of a fault with its interval of 95 %; None of one that is no number."""
    if suspect.size is None:
        return None
    x, spread = suspect.size.x, _largest(likelihood.step(suspect)[1])
    return suspect.size.words(float(x[0] if len(x) == 1 else np.linalg.norm(x)), 2 * spread)


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
    value = likelihood.free(suspect)
    for _ in range(STEPS):
        step = likelihood.step(suspect)[0]
        tried = moved(suspect, step)
        better = likelihood.free(tried)
        if better <= value:
            break
        suspect, value = tried, better
        if np.abs(step).max() < SETTLED:
            break
    return suspect


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
    return float(away @ np.linalg.solve(likelihood.step(one)[1], away) / 2)
