"""The stiffness of drives of which nobody states it, from their commands and deviations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import BY_MASSES, OPEN, RELATIVE
from dynid_ros.arm.friction import friction_terms, PLAIN
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

#: Standard deviation of a logarithm up to which a gain is used. An open one gives a joint the
#: torque of the least loaded one that is known, as the choice of friction weighs joints by torque.
GUESSED = 0.25
#: Findings of torque that is in Nm by the stated masses alone, and of torque in no unit.
SCALED, UNSCALED = 'torque_by_masses', 'torque_relative'
REMEDY = ('state kp under "drive" in arm.yaml, or weigh it: "dynid gains" with --loaded, --mass '
          'and --write')


def relate_gains(
    division: Division, stated: ArmModel | None, friction: Sequence[str] | None,
) -> Division:
    """
    Find the gains of drives that follow commands, where arm.yaml states none.

    Links that several joints carry give ratios of gains, as `relative_gains` finds them. The
    masses that a description states give their common factor, and the gain of a joint whose ratio
    to the others is open. A joint that neither of these reaches keeps a gain of its own, to which
    all of its parameters are relative.

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
        With the gains found, and what they are relative to among its findings.

    """
    if division.arm.drive.scale != OPEN:
        return division
    with about(*division.paths):
        masses = StatedMasses(division.arm, division.train, stated)
        start = masses.logarithms(division.arm)
        arm = with_gains(division.arm, np.where(np.isfinite(start), start, 0.0))
        known = np.zeros(arm.n, dtype=np.bool_)
        if arm.n > 1:
            found = relative_gains(arm, division.train, friction)
            known = found.std <= ROUGH_STD
            arm = with_gains(arm, _applied(arm, division.train, found))
        left = masses.logarithms(arm)
    if (both := known & np.isfinite(left)).any():
        # The middle one of masses that contradict the ratios.
        left[known] = np.median(left[both])
    scaled = np.isfinite(left)
    arm = with_gains(arm, np.where(scaled, left, 0.0))
    if scaled.any():
        return _described(division, arm, BY_MASSES, scaled)
    # A reference alone makes no ratio.
    return _described(division, arm, RELATIVE, known & (known.sum() > 1))


def with_gains(arm: ArmModel, logarithms: Array) -> ArmModel:
    """Return an arm of which the gains are multiplied by exponentials (n,)."""
    return replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * np.exp(logarithms)))


def _applied(arm: ArmModel, recordings: Sequence[Recording], found: LogGains) -> Array:
    """Let a joint whose ratio is open have the torque of the least loaded one of the others."""
    power = np.mean([np.nanmean(each.u**2, axis=0) for each in recordings], axis=0)
    size = np.log(np.abs(arm.drive.gain) * np.sqrt(power) + TINY)
    guessed = found.std <= GUESSED
    if not guessed.any():
        return np.zeros(arm.n)
    return np.where(guessed, found.value, (size + found.value)[guessed].min() - size)


class StatedMasses:
    """
    Gains by the torque that stated masses need.

    Friction and rotor inertia are fitted joint by joint beside it, since they share the gain, and
    few descriptions state them.

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
        self._arm = arm.with_friction(PLAIN)
        self._theta = None if stated is None else base_of(
            self._arm, replace(stated.rigid(), gravity=arm.gravity))
        self._recordings = recordings
        self._settings = choose_conditioning(self._arm, recordings)

    def logarithms(self, arm: ArmModel) -> Array:
        """
        Find by how much the gains of an arm miss the stated masses.

        Parameters
        ----------
        arm : ArmModel
            The arm, with gains.

        Returns
        -------
        (n,) ndarray
            Logarithms of the factors that its gains lack; NaN for a joint that these masses hardly
            load.

        """
        found = np.full(arm.n, np.nan)
        if self._theta is None:
            return found
        plain = replace(self._arm, drive=arm.drive)
        motions = condition_recordings(plain, self._recordings, self._settings)
        factors = KeptRows(plain, motions, self._settings).compressed(plain)
        grouping, layout = base_parameters(plain).grouping, plain.layout
        free = np.column_stack([
            *([layout.rotors] if layout.rotor_inertia else []),
            *(layout.friction_columns(term.symbol) for term in friction_terms(PLAIN))])
        for joint, (rows, count) in enumerate(zip(factors.factors, factors.rows, strict=True)):
            W, tau = rows[:, :-1], rows[:, -1]
            A = np.column_stack([W @ self._theta, W @ grouping[:, free[joint]]])
            value, std = _first_of(A, tau, int(count))
            if value > 0 and std <= GUESSED * value:
                found[joint] = -np.log(value)
        return found


def _first_of(A: Array, y: Array, count: int) -> tuple[float, float]:
    """First coefficient of a fit to so many samples, and its standard deviation."""
    used = np.flatnonzero(A.any(axis=0))
    if not len(used) or used[0] or count <= len(used):
        return 0.0, np.inf
    x, _, rank, _ = np.linalg.lstsq(A[:, used], y, rcond=None)
    if rank < len(used):
        return 0.0, np.inf
    left = y - A[:, used] @ x
    inverse = np.linalg.inv(A[:, used].T @ A[:, used])
    return float(x[0]), float(np.sqrt(inverse[0, 0] * (left @ left) / (count - len(used))))


def _described(division: Division, arm: ArmModel, scale: str, known: Flags) -> Division:
    """State the gains, and what torque is relative to."""
    names = np.array(arm.joint_names)
    gains = ', '.join(f'{name} {gain:.4g}' for name, gain in zip(
        names[known], np.abs(arm.drive.gain[known]), strict=True))
    alone = '' if known.all() else (
        f'that of {several(names[~known])} is relative to the unknown stiffness of the same joint')
    if scale == BY_MASSES:
        code, note = SCALED, f'stiffness kp by the masses that the description states: {gains}'
        text = 'torque is in Nm by the masses that the description states, since no kp is stated'
    else:
        code, note = UNSCALED, f'ratios of the stiffness kp by the data: {gains}' if gains else ''
        text = ('torque is relative, not in Nm, since neither kp nor masses are stated'
                + (f'; that of {several(names[known])} has one unit' if gains else ''))
    finding = Finding(code, '; '.join(filter(None, (text, alone))), REMEDY,
                      tuple(names[~known].tolist()), severity='warning')
    drive = replace(arm.drive, scale=scale)
    # Bounds in kg bind no link of another unit.
    bounds = arm.link_bounds if scale == BY_MASSES and known.all() else None
    return replace(
        division, arm=replace(arm, drive=drive, friction=division.arm.friction,
                              link_bounds=bounds),
        notes=(*division.notes, *filter(None, [note])), findings=(finding,))
