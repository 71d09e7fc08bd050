"""Drive gains of complete recordings, whose conditioning and friction depend on the gains, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.errors import about, InputError, RecordingError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    fitted_to,
    take_motions,
)
from dynid_ros.estimation.blocks.row_methods import DIFFERENTIATED
from dynid_ros.estimation.calibration.drive_gains import estimate_gains
from dynid_ros.estimation.calibration.gain_verdict import DriveGains, with_reference
from dynid_ros.estimation.calibration.log_gains import LogGains
from dynid_ros.estimation.calibration.motor_rows import MotorRows, without_reversals
from dynid_ros.estimation.identification.gain_rests import gains_at_rest, rests_of
from dynid_ros.estimation.identification.model_choice import fit_model, FittedModel
from dynid_ros.estimation.model.metrics import metrics, TINY
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.progress import progress

#: Friction as rich as in geared arms.
RICHEST = ('viscous', 'coulomb', 'offset', 'stribeck', 'viscous_cuberoot', 'load')
#: Rounds at most, and the changes that end them: of a logarithm, and by its standard deviation.
ROUNDS, SETTLED, SETTLED_BY_STD = 5, 1e-4, 0.05
#: Standard deviation of a logarithm up to which the next round uses a gain. The choice of friction
#: terms weighs joints by their torque; an open gain gives a joint the torque of the least loaded
#: one that is known, so that the gain that is stated does not matter.
GUESSED = 0.25


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
        Recordings of the same arm with a weighed load on its tool. If these and those without it
        are of rests, the weight alone gives the gains.
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
    free, burdened = ([checked_recording(recording, arm)[0] for recording in each]
                      for each in (recordings, loaded))
    if not free:
        raise RecordingError('recordings must hold at least one Recording, but holds none')
    data = _Data(choose_conditioning(arm.memoryless, free), free, burdened, mass)
    if bool(data.loaded) != (mass is not None):
        raise InputError('a loaded recording and the mass of its load belong together; give both')
    if mass is not None:
        rests, held = rests_of(arm, data.free), rests_of(arm, data.loaded)
        if rests is not None and held is not None:
            with about(*data.sources):
                return gains_at_rest(arm, rests, held, mass)
    arm, found, _ = _settled_gains(arm.as_measured, data, friction)
    # Open gains are those stated in both figures, so that the same torque counts.
    corrected = with_gains(arm, np.where(found.std <= GUESSED, found.value, 0.0))
    (before, _), (after, with_load) = data.fit(arm), data.fit(corrected)
    stated, error = (metrics(arm.joint_names, each.own).relative_error_percent
                     for each in (before, after))
    return DriveGains(
        arm.joint_names, arm.drive.gain, found, stated, error, arm.friction, mass,
        tuple(note for each in (after, *with_load) for note in each.notes))


def relative_gains(
    arm: ArmModel, recordings: Sequence[Recording], friction: Sequence[str] | None = None,
) -> tuple[LogGains, Array]:
    """
    Find the ratios of gains of which none is stated.

    Parameters
    ----------
    arm : ArmModel
        The arm, with gains to begin with.
    recordings : sequence of Recording
        Checked recordings.
    friction : sequence of str, optional
        As for `recorded_gains`.

    Returns
    -------
    found : LogGains
        Logarithms of the gains by those of the arm, the reference's as it was.
    applied : (n,) ndarray
        Logarithms of the gains to use: found ones, and for a joint whose ratio is open one that
        gives it the torque of the least loaded joint of the others.

    """
    data = _Data(choose_conditioning(arm.memoryless, recordings), [*recordings], [], None)
    return _settled_gains(arm, data, friction)[1:]


def _settled_gains(
    arm: ArmModel, data: _Data, friction: Sequence[str] | None,
) -> tuple[ArmModel, LogGains, Array]:
    """Return an arm with its friction terms, its gains, and those to apply."""
    start = np.zeros(arm.n)
    if friction is None:
        # Terms that were chosen by gains which follow from these terms would confirm themselves.
        rich = arm.with_friction(RICHEST)
        start = _settled(rich, start, data)[1]
        friction = data.fit(with_gains(rich, start), choose=True)[0].arm.friction
    arm = arm.with_friction(tuple(friction))
    return arm, *_settled(arm, start, data)


@dataclass(frozen=True, eq=False)
class _Data:
    """Recordings without and with the load, its mass, and how they are conditioned."""

    settings: ConditioningSettings
    free: list[Recording]
    loaded: list[Recording]
    mass: float | None

    def fit(
        self, arm: ArmModel, *, choose: bool = False,
    ) -> tuple[FittedModel, list[FittedModel]]:
        """Fit without and with the load, after a choice of friction terms if asked."""
        settings = self.settings
        rows = _rows(arm, self.free, settings)
        with about(*(recording.source for recording in self.free)):
            free = fit_model(arm, rows, DIFFERENTIATED, 'recordings', choose=choose)
        loaded = []
        for recording in self.loaded:
            rows = _rows(free.arm, [recording], fitted_to(settings, recording))
            with about(recording.source):
                loaded.append(fit_model(
                    free.arm, rows, DIFFERENTIATED, recording.source, choose=False))
        return free, loaded

    @property
    def sources(self) -> list[str]:
        """Return where all recordings were read from."""
        return [recording.source for recording in (*self.free, *self.loaded)]

    def signal_size(self, gain: Array) -> Array:
        """Logarithm of the torque of each motor by given gains, (n,)."""
        power = np.mean([np.nanmean(each.u**2, axis=0) for each in self.free], axis=0)
        return np.asarray(np.log(np.abs(gain) * np.sqrt(power) + TINY))


def _settled(arm: ArmModel, applied: Array, data: _Data) -> tuple[LogGains, Array]:
    """Estimate gains by those stated until they stay, and return those to begin with again."""
    size = data.signal_size(arm.drive.gain)
    for number in range(ROUNDS):
        progress('gains', number / ROUNDS)
        free, loaded = data.fit(with_gains(arm, applied))
        recorded = [MotorRows(free.rows), *(MotorRows(each.rows, loaded=True) for each in loaded)]
        with about(*data.sources):
            step = estimate_gains(free.arm, recorded, -applied, data.mass)
        found = with_reference(replace(step, value=step.value + applied))
        guessed = found.std <= GUESSED
        if not guessed.any():
            break
        smallest = np.where(guessed, size + found.value, np.inf).min()
        before, applied = applied, np.where(guessed, found.value, smallest - size)
        same = SETTLED_BY_STD * np.where(guessed, found.std, GUESSED)
        if (np.abs(applied - before) <= np.maximum(SETTLED, same)).all():
            break
    return found, applied


def with_gains(arm: ArmModel, logarithms: Array) -> ArmModel:
    """Return an arm of which the gains are multiplied by exponentials (n,)."""
    return replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * np.exp(logarithms)))


def _rows(
    arm: ArmModel, recordings: Sequence[Recording], settings: ConditioningSettings,
) -> KeptRows:
    motions = take_motions(arm, recordings, settings)
    return KeptRows(arm, without_reversals(arm, motions, settings), settings)
