# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Convert any recording to a rosbag2, with its own joint names if no arm is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from dynid_ros.arm.description.tree import JointLimits, KinematicTree
from dynid_ros.arm.drive import COMMAND, Drive
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.bag_writer import check_bag, START_NS, write_joint_states
from dynid_ros.data.files.bags import JointStates
from dynid_ros.data.files.recording_reader import from_messages, read_messages
from dynid_ros.data.recordings.clock import with_one_clock
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.tables.column_choice import joints_in
from dynid_ros.data.tables.read import read_table
from dynid_ros.data.tables.table_files import open_table
from dynid_ros.errors import RecordingError


def convert(
    path: Path, target: Path, arm: ArmModel | None = None, *, topic: str = 'joint_states',
    received: bool = False,
) -> Recording:
    """
    Write a recording as a rosbag2 of joint states, as recorded: positions where they are measured.

    Parameters
    ----------
    path : Path
        Recording, see `read_recording`.
    target : Path
        Folder to be made.
    arm : ArmModel or None
        Arm whose joints and table settings apply; by default, the recording determines the joints.
    topic : str
        Joint-state topic of a bag.
    received : bool
        Use the times of reception in a bag as stamps.

    Returns
    -------
    Recording
        What was written.

    Raises
    ------
    RecordingError, ResultError
        The recording cannot be read, or the bag cannot be written.

    """
    check_bag(target)
    states = read_messages(path, topic)
    known, arm = arm is not None, arm or _chain(_joints(path, states))
    recording = (read_table(path, arm) if states is None
                 else from_messages(states, path, arm, received))
    if recording.signal == COMMAND:
        raise RecordingError(f'{path} holds commands, and joint states of a bag hold none; give '
                             'the recording itself to the other commands')
    recording = with_one_clock(recording)
    if not known:
        # An unknown arm has no kind of signal.
        recording = replace(recording, defects=tuple(
            defect for defect in recording.defects if defect.code != 'signal_kind'))
    shift = START_NS * 1e-9
    spans = [[begin + shift, end + shift] for begin, end in recording.validation]
    write_joint_states(
        target, recording.joint_names, recording.t, recording.q, recording.qd, recording.u,
        sidecar={'validation': spans} if spans else None)
    return recording


def _joints(path: Path, states: JointStates | None) -> tuple[str, ...]:
    """Name the joints that a recording holds."""
    if states is None:
        found = joints_in(open_table(path).names)
    else:
        whole = [block for block in states.blocks
                 if len(block.names) == block.position.shape[1] == block.effort.shape[1]]
        found = max(whole, key=lambda block: len(block.index)).names if whole else ()
    if not found:
        raise RecordingError(f'{path} holds no positions and drive signals of the same joints by '
                             'the names in it; give the arm with --arm')
    return found


def _chain(joints: tuple[str, ...]) -> ArmModel:
    """Make an arm with joints of these names, and nothing else."""
    n = len(joints)
    tree = KinematicTree.chain(
        joints, np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)), np.zeros(n, dtype=np.bool_))
    return ArmModel(name='the recording', tree=tree, gravity=np.zeros(3),
                    limits=JointLimits.unknown(n), drive=Drive.joint_torque(n))
