"""The moment from which the tool carries another load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.signal_suspects import LOAD_CHANGED, load_in_a_part
from dynid_ros.estimation.suspects.suspect import Suspect

#: Most searches for the moment among the samples: parameters and moment in turn.
SEARCHES = 8
#: Tolerance of the moment between samples, in periods of the cut-off.
TOLERANCE = 0.02


def with_best_moment(likelihood: Likelihood, suspect: Suspect) -> Suspect:
    """
    Move the moment of a changed load to where the residuals change, if that is the fault.

    For given parameters, the likeliest moment minimises a cumulative sum of differences of squared
    residuals (Hinkley 1970, Inference about the change-point in a sequence of random variables,
    Biometrika 57). Parameters and moment are found in turn, then the moment between samples.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    suspect : Suspect
        Any suspect.

    Returns
    -------
    Suspect
        The same fault at the likeliest moment.

    """
    rows, elapsed = suspect.rows, suspect.samples.elapsed
    if suspect.fault.code != LOAD_CHANGED or rows.presence is None:
        return suspect
    base = replace(suspect, rows=replace(rows, changed=rows.changed[:0], presence=None),
                   faults=suspect.faults[:-1])
    loaded_first, before = bool(rows.presence[0] > rows.presence[-1]), -1
    for _ in range(SEARCHES):
        first = _first_sample_after(likelihood, suspect, loaded_first)
        if first == before:
            break
        moment, before = float(elapsed[first - 1:first + 1].mean()), first
        suspect = load_in_a_part(base, moment, loaded_first)
    period = float(rows.samples.period[before])
    best = minimize_scalar(
        lambda late: -likelihood.unconstrained(load_in_a_part(base, moment + late, loaded_first)),
        bounds=(-period, period), method='bounded', options={'xatol': TOLERANCE * period})
    return load_in_a_part(base, moment + float(best.x), loaded_first)


def _first_sample_after(likelihood: Likelihood, suspect: Suspect, loaded_first: bool) -> int:
    """Return the first sample after the change, for the best parameters."""
    theta, variance = likelihood.fit(suspect)
    W, b = replace(suspect.rows, presence=None).regressor(), len(suspect.rows.columns)
    without, loaded = (
        (suspect.residual(W[:, :, :c], theta[:c], suspect.mixing)**2 / variance
         * suspect.samples.moving).sum(axis=1) for c in (b, W.shape[2]))
    cost = np.cumsum(loaded - without if loaded_first else without - loaded)
    return int(cost[:-1].argmin()) + 1
