"""Drive gains of whole recordings, whose conditioning and friction depend on the gains, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.calibration.drive_gains import estimate_gains
from dynid_ros.calibration.gain_verdict import DriveGains, with_reference
from dynid_ros.calibration.motor_rows import MotorRows
from dynid_ros.errors import InputError, RecordingError
from dynid_ros.identification.model_choice import fit_model
from dynid_ros.model.metrics import metrics
from dynid_ros.recordings.recording import Recording
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.preparation import (
    checked_recording,
    choose_conditioning,
    fitted_to,
    motions,
)
from dynid_ros.regression.row_methods import DIFFERENTIATED

Array = NDArray[np.float64]

#: Rounds at most, and the changes that end them: of a logarithm, and by its standard deviation.
ROUNDS, SETTLED, SETTLED_BY_STD = 5, 1e-4, 0.05
#: Standard deviation of a logarithm up to which the next round takes a gain for better than the
#: stated one. The choice of friction terms weighs joints by their torque, open gains too.
GUESSED = 1.0


def recorded_gains(
    arm: ArmModel, recordings: Iterable[Recording], *, loaded: Iterable[Recording] = (),
    mass: float | None = None, friction: Sequence[str] | None = None,
) -> DriveGains:
    """
    Find the drive gains of an arm from recordings.

    Delay, friction terms and outliers follow from a fit, and that from the gains: so they are
    found again with the gains of the round before, until these stay.

    Parameters
    ----------
    arm : ArmModel
        The arm, with its stated gains.
    recordings : iterable of Recording
        Recordings in which the arm carries nothing further.
    loaded : iterable of Recording
        Recordings of the same arm with a weighed load on its tool.
    mass : float, optional
        Mass of that load, kg; without it, only ratios of gains are found.
    friction : sequence of str, optional
        Friction terms; by default they are chosen by cross-validation.

    Returns
    -------
    DriveGains
        Gains with error bars, and which of those stated they refute.

    Raises
    ------
    InputError
        The arm has one joint, or the mass is not above zero, or is given without a loaded
        recording or the reverse.
    RecordingError
        A recording is unusable, too short, or does not show the load.

    """
    if mass is not None and not 0 < mass < np.inf:
        raise InputError(f'the mass of the load must be above zero, not {mass:g} kg')
    if arm.n < 2:
        raise InputError(f"'{arm.name}' has one joint, whose torque no other one contradicts: its "
                         'gain has no ratio to another')
    free = [checked_recording(recording, arm)[0] for recording in recordings]
    with_load = [checked_recording(recording, arm)[0] for recording in loaded]
    if not free:
        raise RecordingError('recordings must hold at least one Recording, but holds none')
    if bool(with_load) != (mass is not None):
        raise InputError('a loaded recording and the mass of its load belong together; give both')
    stated, applied = arm.drive.gain, np.zeros(arm.n)
    arm = arm.as_measured
    arm = arm if friction is None else arm.with_friction(tuple(friction))
    errors = []
    for _ in range(ROUNDS):
        known = replace(arm, drive=replace(arm.drive, gain=stated * np.exp(applied)))
        fit = _fit(known, free, with_load, choose=friction is None)
        errors.append(fit.error_percent)
        step = estimate_gains(fit.arm, fit.recorded, fit.rate_hz, mass)
        found = with_reference(replace(step, value=step.value + applied))
        guessed = found.std <= GUESSED
        before, applied = applied, np.where(guessed, found.value, 0.0)
        least = SETTLED_BY_STD * np.where(guessed, found.std, 0.0)
        if (np.abs(applied - before) <= np.maximum(SETTLED, least)).all():
            break
    return DriveGains(arm.joint_names, stated, found, errors[0], errors[-1], fit.arm.friction,
                      mass, fit.notes)


@dataclass(frozen=True, eq=False)
class _Fit:
    """A fit with the gains of one round."""

    arm: ArmModel
    recorded: list[MotorRows]
    rate_hz: float
    error_percent: float
    notes: tuple[str, ...]


def _fit(
    arm: ArmModel, free: Sequence[Recording], loaded: Sequence[Recording], *, choose: bool,
) -> _Fit:
    """Choose conditioning and friction terms, and leave outliers out."""
    settings = choose_conditioning(arm.without_load, free)
    prepared = [motion for recording in free for motion in motions(arm, recording, settings)]
    model = fit_model(
        arm, KeptRows(arm, prepared, settings), DIFFERENTIATED, 'recordings', choose=choose)
    recorded, notes = [MotorRows(model.rows)], [*model.notes]
    for recording in loaded:
        own = fitted_to(settings, recording)
        rows = KeptRows(arm, motions(arm, recording, own), own)
        with_load = fit_model(model.arm, rows, DIFFERENTIATED, recording.source, choose=False)
        recorded.append(MotorRows(with_load.rows, loaded=True))
        notes += with_load.notes
    error = metrics('recordings', False, arm.joint_names, model.own).relative_error_percent
    return _Fit(
        model.arm, recorded, settings.rate_hz / settings.decimation, error, tuple(notes))
