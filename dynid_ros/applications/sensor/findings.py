# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Verdict on a force-torque sensor: separation of mass and bias, and a held-out part."""

from __future__ import annotations

import numpy as np

from dynid_ros.applications.payload.body import LoadBody
from dynid_ros.applications.payload.findings import ERROR_BAR, FREE_KG
from dynid_ros.applications.sensor.wrench_fit import DRIFT, fit_wrenches, TURN_VALUES, WrenchFit
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import plain, within

#: Share at the end of a recording that is held out, and the probability of a finding on that of a
#: good recording.
HELD_OUT, CHANCE = 0.2, 1e-3
#: Error bar of the orientation, rad, beyond which all error bars, which assume small rotations,
#: are invalid.
LARGEST_TURN = 1.0
#: Names of the components of a wrench, and their units.
COMPONENTS = ('Tx', 'Ty', 'Tz', 'Fx', 'Fy', 'Fz')
UNITS = ('Nm',) * 3 + ('N',) * 3


def judge_sensor(
    load: Array, wrench: Array, u: Array, fit: WrenchFit, body: LoadBody,
) -> tuple[float, tuple[Finding, ...], tuple[str, ...]]:
    """
    Judge an estimate.

    Parameters
    ----------
    load, wrench, u
        The rows; see `fit_wrenches`.
    fit : WrenchFit
        Their fit.
    body : LoadBody
        The load.

    Returns
    -------
    held_out : float
        Mean square of the residual of the last part, relative to its expectation.
    findings : tuple of Finding
        Reasons against the estimate.
    remarks : tuple of str
        Further sentences.

    """
    findings, bar = [], ERROR_BAR * body.mass_std
    loose = ERROR_BAR * float(np.linalg.norm(np.sqrt(np.diag(fit.covariance))[TURN_VALUES]))
    if body.mass <= bar and bar > FREE_KG:
        findings.append(_undetermined(
            f'the mass of {plain(body.mass)} kg is within its error bar of {plain(bar)} kg', load))
    elif body.mass > bar and loose > LARGEST_TURN:
        findings.append(_undetermined(
            f'the orientation of the sensor is open to {plain(np.degrees(loose), 2)}°', load))
    held_out, freedom = _held_out(load, wrench, u)
    from scipy.special import fdtri

    allowed = float(fdtri(*freedom, 1 - CHANCE))
    if held_out > allowed and not findings:
        findings.append(Finding(
            'sensor_unexplained',
            f'the last {100 * HELD_OUT:g} % of the recording, which were not fitted, miss by '
            f'{plain(held_out**0.5, 2)} times the residual of the rest, where '
            f'{plain(allowed**0.5, 2)} times is the most that chance explains: something touched '
            'the tool, pulls at it, or moved on it, or the sensor drifts unevenly',
            'record again with nothing but the tool behind the sensor'))
    return held_out, tuple(findings), _remarks(fit, body)


def _undetermined(what: str, load: Array) -> Finding:
    most = plain(_turned(load[:, 3:, 0]), 2)
    return Finding(
        'sensor_undetermined',
        f'{what}: gravity turns by {most}° at most in the frame of the sensor, and the arm does '
        'not turn the sensor enough to separate mass and bias',
        'turn the sensor by 90° or more about two axes')


def _turned(accel: Array) -> float:
    """Return the largest angle between accelerations (N, 3) less gravity, degrees."""
    toward = accel / np.linalg.norm(accel, axis=1, keepdims=True)
    middle = toward.mean(axis=0)
    # From the one farthest from the middle to the one farthest from that.
    first = toward[np.argmin(toward @ middle)]
    return float(np.degrees(np.arccos(np.clip((toward @ first).min(), -1, 1))))


def _held_out(load: Array, wrench: Array, u: Array) -> tuple[float, tuple[float, float]]:
    """Fit all but the last part and predict that; return the ratio and both freedoms."""
    first = round((1 - HELD_OUT) * len(u))
    fit = fit_wrenches(load[:first], wrench[:first], u[:first])
    predicted, columns = fit.predicted(load[first:], u[first:])
    variance = fit.sigma**2 + np.einsum('kip,pq,kiq->ki', columns, fit.covariance, columns)
    ratio = float(((wrench[first:] - predicted)**2 / variance).mean())
    independent = wrench.size / fit.colour
    return ratio, (max(1.0, HELD_OUT * independent),
                   max(1.0, (1 - HELD_OUT) * independent - len(fit.values)))


def _remarks(fit: WrenchFit, body: LoadBody) -> tuple[str, ...]:
    std, remarks = np.sqrt(np.diag(fit.covariance)), []
    drifting = np.flatnonzero(np.abs(fit.values[DRIFT]) > INTERVAL * std[DRIFT])
    if len(drifting):
        remarks.append('the biases drift: in the course of the recording, ' + ', '.join(
            f'{COMPONENTS[k]} by '
            f'{within(2 * fit.values[DRIFT][k], 2 * INTERVAL * std[DRIFT][k], UNITS[k])}'
            for k in drifting.tolist()))
    angle, bar = np.degrees([np.linalg.norm(fit.values[TURN_VALUES]),
                             INTERVAL * np.linalg.norm(std[TURN_VALUES])])
    loaded = body.mass > ERROR_BAR * body.mass_std
    if loaded and angle > bar:
        remarks.append(f'the sensor is turned by {within(angle, bar, "°")} from the frame that is '
                       'stated for it; results and compensated wrenches are in the stated frame')
    if loaded and not body.from_data.all():
        names = [name for name, known in zip(INERTIAL, body.from_data, strict=True) if not known]
        remarks.append(f'not determined by this motion: {", ".join(names)}; a solid ball of this '
                       'mass stands for them')
    return tuple(remarks)
