# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drive gains by variable projection: their ratios, and with a weighed load their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.calibration.gain_verdict import DriveGains, ratios_of
from dynid_ros.estimation.calibration.log_gains import by_mass
from dynid_ros.estimation.suspects.best_size import refined, with_error_bars
from dynid_ros.estimation.suspects.fitted_rows import with_recordings
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.signal_suspects import other_gains
from dynid_ros.estimation.suspects.suspect import Suspect
from dynid_ros.utilities.arrays import Array


def estimate_gains(
    free: Suspect, loaded: Sequence[Suspect] = (), mass: float | None = None, *,
    own_friction: bool = True,
) -> DriveGains:
    """
    Estimate the drive gains together with the dynamics.

    Inertial parameters act on several joints, so a wrong ratio of two gains leads to
    contradictions; friction and rotor inertia act on one joint and add no information. All gains
    together are the size of a suspect. Its likelihood refers to the recorded signals, so that
    small gains do not win by scaling all torque down. The common factor of gains and parameters is
    undetermined unless a load of known mass fixes it.

    Parameters
    ----------
    free : Suspect
        Rows of the recordings without a load, with the torque of the stated gains.
    loaded : sequence of Suspect
        Rows of each recording with the load.
    mass : float, optional
        Mass of the load, kg.
    own_friction : bool
        Whether friction may differ from that in the recordings without the load.

    Returns
    -------
    DriveGains
        Gains with error bars, and which of those stated they refute.

    Raises
    ------
    RecordingError
        There are fewer rows than parameters, or the rows do not show the load.

    References
    ----------
    Gautier and Briot 2014, Global identification of joint drive gains and dynamic parameters of
    robots, ASME J. Dyn. Sys. Meas. Control 136(5).

    """
    arm, n, base = free.arm, free.arm.n, free
    if loaded:
        base = with_recordings(free, loaded, _changed(arm, own_friction=own_friction))
    rows = int(base.rows.counts.sum())
    p = len(base.rows.columns) + len(base.rows.changed)
    if rows <= p + n:
        raise RecordingError(
            f'{rows} rows are left after filtering, without joints at rest: too few for '
            f'{p} parameters and {n} gains; record a longer motion, or more rests')
    likelihood = Likelihood(base)
    best = refined(likelihood, other_gains(base, list(range(n))))
    assert best.size is not None
    estimated = with_error_bars(likelihood, best)
    ratios = ratios_of(estimated)
    if mass is not None:
        # The mass of the load follows the parameters of the arm.
        load_mass = len(base.rows.columns)
        chosen = np.ix_(*2 * [np.append(np.arange(n) - n, load_mass)])
        ratios = by_mass(ratios, best.size.x, float(estimated.theta[load_mass]), mass,
                         estimated.covariance[chosen], estimated.from_prior[chosen])
    if loaded and own_friction:
        assert base.rows.presence is not None
        sets = base.rows.presence.astype(np.intp)
        ratios = replace(ratios, disagreement=likelihood.residual_ratios(best, sets).max(axis=0))
    return DriveGains(
        arm.joint_names, arm.drive.gain, ratios, _error_percent(base, likelihood.fit(base)[0]),
        _error_percent(best, estimated.theta), arm.friction, mass)


def _changed(arm: ArmModel, *, own_friction: bool) -> NDArray[np.intp]:
    """Return the standard parameters that change with the load: its own, and friction."""
    load = arm.layout.inertial(arm.tool_link).start + np.arange(len(INERTIAL))
    friction = base_parameters(arm).columns[friction_places(arm)]
    return np.append(load, friction) if own_friction else load


def _error_percent(suspect: Suspect, theta: Array) -> float:
    """Relative residual of the torque according to the stated gains, %."""
    samples = suspect.samples
    residual = suspect.residual(suspect.rows.regressor(), theta, np.eye(suspect.arm.n))
    return float(100 * np.linalg.norm(residual * samples.moving)
                 / np.linalg.norm(samples.tau * samples.moving))
