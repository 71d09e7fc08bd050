# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The file of an exciting motion, excitation.yaml, written and read without loss."""

from __future__ import annotations

from dataclasses import dataclass
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dynid_ros import __version__
from dynid_ros.arm.description.schema import read_yaml, Section
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.motion.trajectory.fourier import FourierMotion, LONGEST_MOTION_SECONDS
from dynid_ros.motion.trajectory.motion_pair import Motion, MotionPair, parts
from dynid_ros.utilities.atomic_write import write_whole

MOTION_FORMAT = 'dynid_ros excitation'
VERSION = 1

_TOP = ('format', 'version', 'arm', 'arm_hash', 'made_by', 'design', 'motion', 'joints',
        'validation')
_VALIDATION = ('way', 'motion', 'joints')
_MOTION = ('period', 'harmonics', 'periods', 'ramp')
_SERIES = ('offset', 'sine', 'cosine')
_JOINT = (*_SERIES, 'limits')
_LIMITS = ('lower', 'upper', 'velocity', 'acceleration', 'effort')


@dataclass(frozen=True, eq=False)
class Excitation:
    """
    Content of an excitation file.

    Attributes
    ----------
    motion : FourierMotion or MotionPair
        The motion.
    joint_names : tuple of str
        Joints in the order of the motion's arrays.

    """

    motion: Motion
    joint_names: tuple[str, ...]


def arm_hash(arm: ArmModel) -> str:
    """
    Hash of an arm's joint names, kinematics and limits.

    Parameters
    ----------
    arm : ArmModel
        The arm; the hash ignores inertias, friction and drives.

    Returns
    -------
    str
        16 hexadecimal digits, the same on all machines: numbers count to nine decimals.

    """
    limits = (getattr(arm.motion_limits, name) for name in _LIMITS)
    digest = hashlib.sha256('\n'.join(arm.joint_names).encode())
    for values in (
        arm.parent, arm.rotation, arm.translation, arm.tree.prismatic, arm.axis, *limits,
        *([arm.tree.positions(np.eye(arm.n))] if arm.tree.followers else []),
    ):
        # Adding zero turns -0.0 into 0.0, which has other bytes.
        digest.update((np.round(np.asarray(values, dtype='<f8'), 9) + 0.0).tobytes())
    return digest.hexdigest()[:16]


def write_motion(
    path: Path, motion: Motion, arm: ArmModel, design: dict[str, Any] | None = None,
) -> None:
    """
    Write an excitation file.

    Parameters
    ----------
    path : Path
        File to write.
    motion : FourierMotion or MotionPair
        The motion.
    arm : ArmModel
        The arm that it was made for, whose limits it keeps.
    design : dict, optional
        Design settings, in plain values of YAML.

    Raises
    ------
    ResultError
        The file cannot be written.

    """
    series = _series_content(parts(motion)[0], arm)
    for joint, name in enumerate(arm.joint_names):
        limits = {key: float(getattr(arm.motion_limits, key)[joint]) for key in _LIMITS}
        series['joints'][name]['limits'] = {
            key: value for key, value in limits.items() if np.isfinite(value)}
    if isinstance(motion, MotionPair):
        series['validation'] = {
            'way': float(motion.way), **_series_content(motion.validation, arm)}
    content = {
        'format': MOTION_FORMAT,
        'version': VERSION,
        'arm': arm.name,
        'arm_hash': arm_hash(arm),
        'made_by': f'dynid_ros {__version__}',
        **({'design': design} if design else {}),
        **series,
    }
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=99)
    write_whole(Path(path), text.encode())


def read_motion(path: Path, arm: ArmModel | None = None) -> Excitation:
    """
    Read an excitation file.

    Parameters
    ----------
    path : Path
        File to read.
    arm : ArmModel, optional
        The arm to move; it must be that of the motion.

    Returns
    -------
    Excitation
        The motion and its joints.

    Raises
    ------
    InputError
        The file is missing, is not an excitation file of a known version, or holds no motion; or
        the arm has other joints, other kinematics or other limits.

    """
    path = Path(path)
    content = read_yaml(path)
    if not isinstance(content, dict) or content.get('format') != MOTION_FORMAT:
        raise InputError(f"{path} is not an excitation file: it lacks 'format: {MOTION_FORMAT}'")
    if content.get('version') != VERSION:
        raise InputError(
            f'{path} has version {content.get("version")} of the excitation format, but only '
            f'version {VERSION} can be read; write it again with this release')
    top = Section(content, path, _TOP)
    names = _joint_names(top)
    joints = top.section('joints', names)
    sections = [joints.section(name, _JOINT) for name in names]
    try:
        motion = _read_motions(top, names, sections)
    except InputError as error:
        message = str(error)
        if str(path) in message:
            raise
        raise InputError(f'{path} holds no usable motion: {message}') from error
    made_for, made_hash = (top.needed(key, top.text(key)) for key in ('arm', 'arm_hash'))
    if arm is not None and names != arm.joint_names:
        raise InputError(
            f"{path} moves the joints {', '.join(names)}, but the arm '{arm.name}' has "
            f"{', '.join(arm.joint_names)}; choose the arm that it was made for")
    if arm is not None and made_hash != arm_hash(arm):
        raise InputError(
            f"{path} was made for '{made_for}' with other kinematics or limits than '{arm.name}' "
            'has now; design the motion again')
    return Excitation(motion, names)


def _series_content(motion: FourierMotion, arm: ArmModel) -> dict[str, Any]:
    return {
        'motion': {
            'period': float(motion.period), 'harmonics': motion.harmonics,
            'periods': int(motion.periods), 'ramp': float(motion.ramp)},
        'joints': {
            name: {'offset': float(motion.offset[joint]), 'sine': motion.sine[joint].tolist(),
                   'cosine': motion.cosine[joint].tolist()}
            for joint, name in enumerate(arm.joint_names)}}


def _joint_names(top: Section) -> tuple[str, ...]:
    joints = top.raw('joints')
    if not isinstance(joints, dict) or not joints:
        raise top.error('joints', 'must hold one entry for each joint')
    for name in joints:
        if not isinstance(name, str):
            raise top.error('joints', f'must have names as keys, not {name!r}')
    return tuple(joints)


def _read_motions(top: Section, names: tuple[str, ...], joints: list[Section]) -> Motion:
    first = _read_series(top.section('motion', _MOTION), joints)
    motion: Motion = first
    if top.raw('validation') is not None:
        section = top.section('validation', _VALIDATION)
        others = section.section('joints', names)
        second = _read_series(section.section('motion', _MOTION),
                              [others.section(name, _SERIES) for name in names])
        motion = MotionPair(first, second, section.needed('way', section.positive('way')))
    if motion.duration > LONGEST_MOTION_SECONDS * len(parts(motion)):
        raise InputError(
            f'it would last {motion.duration:g} s; keep periods times period and twice the ramp '
            f'within {LONGEST_MOTION_SECONDS:g} s')
    return motion


def _read_series(section: Section, joints: list[Section]) -> FourierMotion:
    harmonics = _count(section, 'harmonics')
    series = {
        key: np.array([joint.needed(key, joint.vector(key, harmonics)) for joint in joints])
        for key in ('sine', 'cosine')}
    return FourierMotion(
        section.needed('period', section.positive('period')),
        np.array([joint.needed('offset', joint.number('offset')) for joint in joints]),
        series['sine'], series['cosine'], _count(section, 'periods'),
        section.needed('ramp', section.number('ramp')))


def _count(section: Section, key: str) -> int:
    value = section.needed(key, section.positive(key))
    if value != int(value):
        raise section.error(key, f'must be a whole number, not {value:g}')
    return int(value)
