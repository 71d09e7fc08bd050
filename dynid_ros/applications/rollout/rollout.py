# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Position errors of a simulated arm under the recorded torque."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dynid_ros.applications.export.format_friction import simple_arm
from dynid_ros.applications.rollout.batch import loaded, simulated
from dynid_ros.applications.rollout.restarts import Restarts
from dynid_ros.applications.rollout.stretches import (
    driven,
    HEADLINE_SECONDS,
    kept_rows,
    of_recording,
)
from dynid_ros.arm.drive import BY_MASSES
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.rigid_parameters import check_physical
from dynid_ros.errors import ArmError, InputError, RecordingError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.simulation.mjcf import has_servos, mjcf_of
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.one_thread import one_thread
from dynid_ros.utilities.summarised import Summarised
from dynid_ros.utilities.text import columns, plain, sentence

IDENTIFIED, STATED, FLOOR = 'identified', 'as stated', 'torque noise alone'
#: Position error of a joint beyond which a simulated arm is lost, rad: a turn.
LOST = 2 * np.pi


class Rollouts(Summarised):
    """
    Errors of simulations that start at the measured states of a recording.

    MuJoCo moves the exported MJCF, at its own step, under the recorded torque minus the identified
    offset; if drives follow recorded commands, its position actuators follow them.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    recording : Recording, optional
        The recording; only the held-out part of a fitted one counts. Without one, the held-out
        rows that the model keeps, at `HEADLINE_SECONDS` alone.
    others : mapping of str to ArmModel, optional
        Further arms of the same joints, with nominal parameters; by default `STATED`, the one that
        arm.yaml or the URDF states, if it is physical.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    source : str
        Name of the recording.
    held_out : bool
        Whether none of it was fitted.
    by_commands : bool
        Whether commands drive the arm, not torque.
    horizons : tuple of float
        Horizons for which the recording is long enough, s.
    counts : tuple of int
        Restarts of each.
    errors : dict of str to (H, n) ndarray
        Root mean square of the position error at each horizon, rad or m, by the simulated arm:
        `IDENTIFIED`, the others, and `FLOOR`, the noise of the recorded torque through the
        identified model. Infinite where a joint that turns is off by more than a turn, or the
        simulation broke down.
    curves : dict of str to (K, n) ndarray
        The same over the time since the restart, for the longest horizon.
    t : (K,) ndarray
        These times, s.

    Raises
    ------
    InputError
        MuJoCo is missing.
    RecordingError
        The recording is unusable, or too short for any horizon.

    """

    @one_thread()
    def __init__(
        self, model: IdentifiedModel, recording: Recording | None = None,
        others: Mapping[str, ArmModel] | None = None,
    ) -> None:
        given = kept_rows(model) if recording is None else of_recording(model, recording)
        arm = self.arm = model.arm
        exported = loaded(mjcf_of(simple_arm(model, rotor_inertia=True), servos=True))
        # If the signal lacks gravity, something else holds the arm, and the model, too.
        models = {IDENTIFIED: exported, **{
            name: loaded(mjcf_of(replace(other, drive=arm.drive).as_measured, servos=True))
            for name, other in (stated_peer(arm) if others is None else others).items()}}
        self.source, self.held_out, self.by_commands = (
            given.source, given.held_out, has_servos(arm))
        drive = driven(model, given.motions)
        noisy = [each + own for each, own in zip(drive, given.noise, strict=True)]
        errors: dict[str, list[Array]] = {}
        found: list[Restarts] = []
        for horizon in given.horizons:
            cut, beside = (given.restarts(each, horizon, exported.opt.timestep)
                           for each in (drive, noisy))
            if cut is None or beside is None:
                continue
            found.append(cut)
            moved = {name: simulated(each, arm, cut, commands=self.by_commands)
                     for name, each in models.items()}
            self.curves = {name: self._rms(q - cut.reached) for name, q in moved.items()}
            if not self.by_commands:
                self.curves[FLOOR] = self._rms(
                    simulated(exported, arm, beside) - moved[IDENTIFIED])
            for name, curve in self.curves.items():
                errors.setdefault(name, []).append(curve[-1])
        if not found:
            raise RecordingError(
                f'{self.source}: no motion{" that was held out" if given.spans else ""} is '
                f'as long as {given.horizons[0]:g} s, the shortest horizon of a rollout; give a '
                'longer recording')
        self.errors = {name: np.array(each) for name, each in errors.items()}
        self.horizons = tuple(each.horizon for each in found)
        self.counts = tuple(len(each.start) for each in found)
        self.t = found[-1].t + exported.opt.timestep

    @property
    def _headline_index(self) -> int:
        """Index of `HEADLINE_SECONDS` among the horizons, or of the longest one."""
        known = HEADLINE_SECONDS in self.horizons
        return self.horizons.index(HEADLINE_SECONDS) if known else len(self.horizons) - 1

    @property
    def headline(self) -> str:
        """State the errors at `HEADLINE_SECONDS`, or at the longest horizon."""
        k = self._headline_index
        first, *others = ((name, self.error_text(name, k)) for name in self.errors)
        return (f'moves to within {first[1]} over {self.horizons[k]:g} s'
                + ''.join(f'; {name} {error}' for name, error in others))

    def error_text(self, name: str, k: int) -> str:
        """State an error over all joints at a horizon, in degrees, or in mm where all slide."""
        return error_text(float(self.overall(name)[k]), sliding=bool(self.arm.prismatic.all()))

    def table(self) -> list[list[str]]:
        """Errors of each joint at the horizon of the headline: a column for each simulated arm."""
        k = self._headline_index
        return [[f'joint, {self.horizons[k]:g} s', *self.errors], *(
            [joint, *(error_text(float(own[k, j]), sliding=bool(self.arm.prismatic[j]))
                      for own in self.errors.values())]
            for j, joint in enumerate(self.arm.joint_names))]

    def lines(self) -> list[str]:
        """Return the errors of each simulated arm, and joint by joint, for a summary."""
        (_, name), *rows = self.facts()
        return [sentence(f'rollouts {name}'), *(
            sentence(f'{label}: {fact}') for label, fact in rows), *columns(self.table())]

    def as_dict(self) -> dict[str, Any]:
        """Return the errors under the keys that scripts rely on, rad or m."""
        return {
            'driven_by': 'commands' if self.by_commands else 'torque', 'held_out': self.held_out,
            'horizons': [{'seconds': horizon, 'restarts': count, 'rms': {
                name: dict(zip(self.arm.joint_names, own[k], strict=True))
                for name, own in self.errors.items()}}
                for k, (horizon, count) in enumerate(zip(
                    self.horizons, self.counts, strict=True))]}

    def facts(self) -> list[tuple[str, str]]:
        """Return the errors over all joints at each horizon, for a console."""
        kind = 'held-out' if self.held_out else 'in-sample'
        return [
            ('Rollouts', f'of {self.arm.name} on {self.source}, {kind}, driven by '
             + ('commands' if self.by_commands else 'torque')),
            *((name, ', '.join(f'{self.error_text(name, k)} over {horizon:g} s'
                               for k, horizon in enumerate(self.horizons)))
              for name in self.errors)]

    def overall(self, name: str) -> Array:
        """Return the root mean square over the joints that turn, (H,), rad; m if all slide."""
        return self._over_joints(self.errors[name])

    def over_time(self, name: str) -> Array:
        """Return the same for the curve of an arm, (K,)."""
        return self._over_joints(self.curves[name])

    def _rms(self, error: Array) -> Array:
        """Root mean square over the restarts of errors (B, K, n), infinite where one is lost."""
        rms = np.sqrt((error**2).mean(axis=0))
        return np.where(np.isfinite(rms) & (self.arm.prismatic | (rms <= LOST)), rms, np.inf)

    def _over_joints(self, errors: Array) -> Array:
        turning = ~self.arm.prismatic
        chosen = errors[:, turning if turning.any() else slice(None)]
        return np.asarray(np.sqrt((chosen**2).mean(axis=1)))


def error_text(value: float, *, sliding: bool) -> str:
    """Write a position error, rad or m, in degrees or mm."""
    if not np.isfinite(value):
        return 'lost' if sliding else f'more than {np.rad2deg(LOST):.0f}°'
    return plain(1000 * value, 2, 'mm') if sliding else f'{plain(np.rad2deg(value), 2)}°'


def stated_peer(arm: ArmModel) -> dict[str, ArmModel]:
    """
    Return the arm with its stated parameters, if they can be simulated.

    They must be possible, and the drive signal must have their unit.
    """
    if not arm.drive.in_newton_metres and arm.drive.scale != BY_MASSES:
        return {}
    try:
        check_physical(arm)
    except ArmError:
        return {}
    return {STATED: arm}


def kept_rollouts(model: IdentifiedModel) -> Rollouts | None:
    """Simulate along the held-out rows of a model; None without them, links or MuJoCo."""
    try:
        return Rollouts(model)
    except InputError:
        return None
