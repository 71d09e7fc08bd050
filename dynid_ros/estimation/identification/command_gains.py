# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Identify unstated stiffnesses of drives from commands and position errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import BY_MASSES, OPEN, RELATIVE
from dynid_ros.arm.friction import friction_terms, PLAIN_TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import about
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import condition_recordings
from dynid_ros.estimation.calibration.gain_verdict import ROUGH_STD
from dynid_ros.estimation.calibration.log_gains import LogGains
from dynid_ros.estimation.identification.gain_recordings import relative_gains
from dynid_ros.estimation.identification.stated_parameters import base_of
from dynid_ros.estimation.identification.train_test_split import Division
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import several

Flags = NDArray[np.bool_]

#: Largest standard deviation of the logarithm of a gain that is used. A joint with a less certain
#: gain gets the torque of the least loaded other joint, since torque weights the joints when
#: friction is chosen.
GUESSED = 0.25
#: Findings: the stated masses give torque its unit, and torque has no unit.
SCALED, UNSCALED = 'torque_by_masses', 'torque_relative'
KP_REMEDY = ('state kp under "drive" in arm.yaml, or weigh it: "dynid gains" with --loaded, '
             '--mass and --write')


def relate_gains(
    division: Division, stated: ArmModel | None, friction: Sequence[str] | None,
) -> Division:
    """
    Find the gains of drives that follow commands if arm.yaml states none.

    Links that several joints carry determine ratios of gains, see `relative_gains`. The stated
    masses determine their common factor, and the gain of a joint whose ratio is undetermined. If
    neither determines the gain of a joint, all its parameters are relative to that gain.

    Parameters
    ----------
    division : Division
        Checked recordings.
    stated : ArmModel or None
        The same joints with stated inertias.
    friction : sequence of str, optional
        Friction terms; by default they are chosen.

    Returns
    -------
    Division
        With the gains; its findings state what they are relative to.

    """
    if division.arm.drive.scale != OPEN:
        return division
    with about(*division.paths):
        masses = StatedMasses(division.arm, division.train, stated)
        start = masses.logarithms(division.arm)
        arm = with_gains(division.arm, np.where(np.isfinite(start), start, 0.0))
        determined = np.zeros(arm.n, dtype=np.bool_)
        if arm.n > 1:
            ratios = relative_gains(arm, division.train, friction)
            determined = ratios.std <= ROUGH_STD
            arm = with_gains(arm, _applied(arm, division.train, ratios))
        corrections = masses.logarithms(arm)
    if (both := determined & np.isfinite(corrections)).any():
        # Masses may contradict the ratios: take the median.
        corrections[determined] = np.median(corrections[both])
    scaled = np.isfinite(corrections)
    arm = with_gains(arm, np.where(scaled, corrections, 0.0))
    if scaled.any():
        return _described(division, arm, BY_MASSES, scaled)
    # One gain alone has no ratio.
    return _described(division, arm, RELATIVE, determined & (determined.sum() > 1))


def with_gains(arm: ArmModel, logarithms: Array) -> ArmModel:
    """Return an arm with gains multiplied by the exponentials of logarithms (n,)."""
    return replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * np.exp(logarithms)))


def _applied(arm: ArmModel, recordings: Sequence[Recording], ratios: LogGains) -> Array:
    """Return log gains; a joint without one gets the torque of the least loaded other."""
    power = np.mean([np.nanmean(each.u**2, axis=0) for each in recordings], axis=0)
    size = np.log(np.abs(arm.drive.gain) * np.sqrt(power) + TINY)
    determined = ratios.std <= GUESSED
    if not determined.any():
        return np.zeros(arm.n)
    return np.where(determined, ratios.value, (size + ratios.value)[determined].min() - size)


class StatedMasses:
    """
    Gains from the torque that stated masses require.

    Friction and rotor inertia of each joint are fitted together with its gain, since few
    descriptions state them.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : sequence of Recording
        Checked recordings.
    stated : ArmModel or None
        The same joints with stated inertias, if they are known.

    """

    def __init__(
        self, arm: ArmModel, recordings: Sequence[Recording], stated: ArmModel | None,
    ) -> None:
        self._arm = arm.with_friction(PLAIN_TERMS)
        self._theta = None if stated is None else base_of(
            self._arm, replace(stated.rigid, gravity=arm.gravity))
        self._recordings = recordings
        self._settings = choose_conditioning(self._arm, recordings)

    def logarithms(self, arm: ArmModel) -> Array:
        """
        Find the corrections of gains that the stated masses require.

        Parameters
        ----------
        arm : ArmModel
            The arm, with gains.

        Returns
        -------
        (n,) ndarray
            Logarithms of the factors to apply to its gains; NaN for a joint that these masses
            hardly load.

        """
        corrections = np.full(arm.n, np.nan)
        if self._theta is None:
            return corrections
        plain = replace(self._arm, drive=arm.drive)
        motions = condition_recordings(plain, self._recordings, self._settings)
        factors = KeptRows(plain, motions, self._settings).compressed(plain)
        grouping, layout = base_parameters(plain).grouping, plain.layout
        free = np.column_stack([
            *([layout.rotors] if layout.rotor_inertia else []),
            *(layout.friction_columns(term.symbol) for term in friction_terms(PLAIN_TERMS))])
        for joint, (rows, count) in enumerate(zip(factors.factors, factors.rows, strict=True)):
            W, tau = rows[:, :-1], rows[:, -1]
            A = np.column_stack([W @ self._theta, W @ grouping[:, free[joint]]])
            value, std = _first_of(A, tau, int(count))
            if value > 0 and std <= GUESSED * value:
                corrections[joint] = -np.log(value)
        return corrections


def _first_of(A: Array, y: Array, count: int) -> tuple[float, float]:
    """Return the first coefficient of a fit to `count` samples, and its standard deviation."""
    used = np.flatnonzero(A.any(axis=0))
    if not len(used) or used[0] or count <= len(used):
        return 0.0, np.inf
    x, _, rank, _ = np.linalg.lstsq(A[:, used], y, rcond=None)
    if rank < len(used):
        return 0.0, np.inf
    residual = y - A[:, used] @ x
    inverse = np.linalg.inv(A[:, used].T @ A[:, used])
    return float(x[0]), float(np.sqrt(inverse[0, 0] * (residual @ residual) / (count - len(used))))


def _described(division: Division, arm: ArmModel, scale: str, known: Flags) -> Division:
    """Describe the gains, and the unit of torque, in notes and findings."""
    names = np.array(arm.joint_names)
    gains = ', '.join(f'{name} {gain:.4g}' for name, gain in zip(
        names[known], np.abs(arm.drive.gain[known]), strict=True))
    own_unit = '' if known.all() else (
        f'that of {several(names[~known])} is relative to the unknown stiffness of the same joint')
    if scale == BY_MASSES:
        code, note = SCALED, f'stiffness kp by the masses that the description states: {gains}'
        text = 'torque is in Nm by the masses that the description states, since no kp is stated'
    else:
        code, note = UNSCALED, f'ratios of the stiffness kp by the data: {gains}' if gains else ''
        text = ('torque is relative, not in Nm, since neither kp nor masses are stated'
                + (f'; that of {several(names[known])} has one unit' if gains else ''))
    finding = Finding(code, '; '.join(filter(None, (text, own_unit))), KP_REMEDY,
                      tuple(names[~known].tolist()), severity='warning')
    drive = replace(arm.drive, scale=scale)
    # Bounds in kg do not apply to links in another unit.
    bounds = arm.link_bounds if scale == BY_MASSES and known.all() else None
    return replace(
        division, arm=replace(arm, drive=drive, friction=division.arm.friction,
                              link_bounds=bounds),
        notes=(*division.notes, *filter(None, [note])), findings=(finding,))
