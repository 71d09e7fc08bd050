# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The moments between which the tool carries another load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.trial_samples import BREAK
from dynid_ros.estimation.suspects.best_size import FAULT_SIZE_STEPS
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.signal_suspects import load_between, LOAD_CHANGED
from dynid_ros.estimation.suspects.suspect import Suspect

#: Tolerance of a moment between samples, in periods of the cut-off.
TOLERANCE = 0.02


def with_best_moments(likelihood: Likelihood, suspect: Suspect) -> Suspect:
    """
    Move the moments of a changed load to where the residuals change, if that is the fault.

    For given parameters, the likeliest moment minimises a cumulative sum of differences of squared
    residuals (Hinkley 1970, Inference about the change-point in a sequence of random variables,
    Biometrika 57). Parameters and moments are found in turn, then each moment between samples.

    Parameters
    ----------
    likelihood : Likelihood
        Of the recording.
    suspect : Suspect
        Any suspect.

    Returns
    -------
    Suspect
        The same fault at the likeliest moments.

    """
    rows, before = suspect.rows, slice(0)
    if suspect.fault.code != LOAD_CHANGED or rows.presence is None:
        return suspect
    base = replace(suspect, rows=replace(rows, changed=rows.changed[:0], presence=None),
                   faults=suspect.faults[:-1])
    order = np.argsort(rows.samples.elapsed)
    elapsed = np.concatenate([[-np.inf], rows.samples.elapsed[order], [np.inf]])
    # The ends of recordings are moments at which loads change.
    natural = np.diff(elapsed) >= BREAK
    for _ in range(FAULT_SIZE_STEPS):
        part = _likeliest_part(likelihood, suspect, order, natural)
        if part == before:
            break
        before = part
        start, end = ((elapsed[k] + elapsed[k + 1]) / 2 for k in (part.start, part.stop))
        suspect = load_between(base, start, end)
    period = float(rows.samples.period.max())

    def between_samples(moment: float, other: float) -> float:
        from scipy.optimize import minimize_scalar

        if not period or natural[np.searchsorted(elapsed, moment) - 1]:
            return moment
        best = minimize_scalar(
            lambda late: -likelihood.unconstrained(
                load_between(base, *sorted((moment + late, other)))),
            bounds=(-period, period), method='bounded', options={'xatol': TOLERANCE * period})
        return moment + float(best.x)

    start = between_samples(start, end)
    return load_between(base, start, between_samples(end, start))


def _likeliest_part(
    likelihood: Likelihood, suspect: Suspect, order: NDArray[np.intp], natural: NDArray[np.bool_],
) -> slice:
    """
    Return the samples, in their order, that carry the load, for the best parameters.

    Natural ends (k + 1,) of a part remain, between whatever samples.
    """
    theta, variance = likelihood.fit(suspect)
    W, b = replace(suspect.rows, presence=None).regressor(), len(suspect.rows.columns)
    unloaded = theta.copy()
    unloaded[b:b + len(suspect.rows.changed)] = 0.0
    without, loaded = (
        (suspect.residual(W, values, suspect.mixing)**2 / variance
         * suspect.samples.moving).sum(axis=1) for values in (unloaded, theta))
    cost = np.append(0.0, np.cumsum((loaded - without)[order]))
    assert suspect.rows.presence is not None
    carried = np.flatnonzero(suspect.rows.presence[order] > 0.5)
    start, stop = int(carried[0]), int(carried[-1]) + 1
    if not natural[start]:
        start = 1 + int(cost[1:stop].argmax())
    if not natural[stop]:
        stop = start + 1 + int(cost[start + 1:-1].argmin())
    return slice(start, stop)
