# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A simulated session: a completed arm, a motion, and the recording as data or as a bag."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
import warnings

from dynid_ros.arm.drive import COMMAND
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.bag_writer import check_bag, write_joint_states
from dynid_ros.data.files.recording_reader import at_joints
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import ArmWarning, InputError
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_file import read_motion
from dynid_ros.motion.trajectory.motion_pair import Motion
from dynid_ros.simulation.plausible_drive import assumptions, with_plausible_drives
from dynid_ros.simulation.record import simulate, simulation_notes, Trace
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedRecording(Recording):
    """
    A recording with known truth.

    Attributes
    ----------
    arm : ArmModel or None
        The simulated arm; its nominal values are the truth behind the recording.
    truth : Trace or None
        True course at the stamps.
    assumed : dict of str to (n,) ndarray
        Nominal values that the arm did not state, see `with_plausible_drives`.

    """

    arm: ArmModel | None = None
    truth: Trace | None = None
    assumed: dict[str, Array] = field(default_factory=dict)


def simulated_recording(
    arm: ArmModel, motion: Motion | str | Path | None = None, *, seed: int = 0,
    out: str | Path | None = None,
) -> SimulatedRecording:
    """
    Record a simulated arm, with plausible links and drives where it states none.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motion : FourierMotion, MotionPair, str or Path, optional
        The motion, or the file of one; by default a random one within the limits.
    seed : int
        Of the noise, and of the random motion.
    out : str or Path, optional
        Folder of a bag to write; an earlier bag of dynid's own is replaced.

    Raises
    ------
    InputError
        The motion is not for the arm, or the arm has a topic of its own for the drive signal.
    ResultError
        Something else is at its place, or it cannot be written.

    Warns
    -----
    ArmWarning
        Values are assumed, or couplings are left out.

    """
    if arm.drive.topic is not None:
        raise InputError(
            f"'{arm.name}': simulations hold the drive signal in the joint states; simulate an "
            'arm without drive.topic')
    if out is not None and arm.drive.signal == COMMAND:
        raise InputError(f"'{arm.name}': joint states of a bag hold no commands; simulate the arm "
                         'with drive: {signal: effort}')
    if out is not None:
        check_bag(Path(out))
    if arm.coupling:
        lost = ', '.join(column.name for column in arm.coupling)
        warnings.warn(f"the simulation has no couplings; '{arm.name}' loses {lost}", ArmWarning,
                      stacklevel=2)
    arm, assumed = with_plausible_drives(arm)
    if assumed:
        warnings.warn(assumptions(arm, assumed), ArmWarning, stacklevel=2)
    if motion is None:
        motion = random_motion(arm, seed)
    elif isinstance(motion, (str, Path)):
        motion = read_motion(Path(motion), arm).motion
    found = simulate(arm, motion, seed=seed)
    log, source = found.log, found.log.source if out is None else str(out)
    if out is not None:
        write_joint_states(
            out, log.joint_names, log.t, log.q, log.qd, log.u,
            sidecar=simulation_notes(arm, assumed, found, seed))
    return SimulatedRecording(**vars(at_joints(log, arm)) | {
        'source': source, 'arm': arm, 'truth': found.truth, 'assumed': assumed})
