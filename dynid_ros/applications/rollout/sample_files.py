# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Samples of an arm as files: a model each, one table, ranges, and the torque beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dynid_ros.applications.export.urdf import replaced_urdf, SIGNED, urdf_of
from dynid_ros.applications.rollout.posterior import MOST_SAMPLE_FILES, SAMPLE_FILES
from dynid_ros.applications.rollout.samples import Samples
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_to_com
from dynid_ros.data.tables.array_table import npz_bytes
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.simulation.mjcf import mjcf_of
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import check_output, whole_folder

#: Suffixes of the models by format; with ``yaml``, the table and the ranges stand alone.
SAMPLE_SUFFIXES = {'mjcf': '.xml', 'urdf': '.urdf', 'yaml': ''}
TABLE_FILE, RANGES_FILE, TORQUE_FILE = 'samples.csv', 'ranges.yaml', 'torque_error.npz'
#: Length and rate of the torque beside each sample, s and Hz.
TORQUE_SECONDS, TORQUE_HZ = 10.0, 100.0
#: Share of the samples within a range.
RANGE_SHARE = 0.95
LINK_COLUMNS = (
    'mass', 'com_x', 'com_y', 'com_z', 'inertia_xx', 'inertia_yy', 'inertia_zz', 'inertia_xy',
    'inertia_xz', 'inertia_yz')
JOINT_COLUMNS = {'armature': 'rotor', 'damping': 'viscous', 'frictionloss': 'coulomb'}
_HEADER = f"""\
# Ranges of {100 * RANGE_SHARE:.0f} % of the samples of {{name}}, by parameter, by dynid_ros.
# SI units, in the frame of the joint that moves the link; inertia is about the centre of mass.
# value is that of the exported model; scale is low and high divided by it, add less it.
# MuJoCo, MJX: low and high of body_mass, body_ipos, dof_armature, dof_damping, dof_frictionloss.
# Isaac Lab: scale is mass_distribution_params of randomize_rigid_body_mass (operation='scale');
#   add of com_x to com_z is com_range of randomize_rigid_body_com;
#   low and high are armature_distribution_params of randomize_joint_parameters (operation='abs').
# Parameters are correlated: drawn one by one from these ranges, arms differ by more than the
# samples do, which are in {TABLE_FILE}.
"""


def export_samples(
    model: IdentifiedModel, folder: Path, count: int, form: str = 'mjcf',
    robot: Path | None = None, seed: int = 0,
) -> tuple[str, ...]:
    """
    Write a folder of samples of a model.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    folder : Path
        Folder, which is replaced.
    count : int
        Number of samples.
    form : str
        One of `SAMPLE_SUFFIXES`.
    robot : Path, optional
        URDF with inertias and friction to replace.
    seed : int
        Of the random numbers.

    Returns
    -------
    tuple of str
        What the files hold, a sentence each.

    Raises
    ------
    ArmError
        The URDF is not the arm's; the message names the difference.
    InputError
        There is no such format, the number is out of its range, or the result keeps no torque.
    ResultError
        The folder holds other files, or cannot be written.

    """
    if form not in SAMPLE_SUFFIXES:
        known = ', '.join(SAMPLE_SUFFIXES)
        raise InputError(f'samples are written as one of {known}, not as {form}')
    count = SAMPLE_FILES.take('count', count)
    if robot is not None and form != 'urdf':
        raise InputError(f'robot (--robot) is for samples as urdf only, not as {form}')
    check_output(folder, holding={TABLE_FILE, RANGES_FILE, TORQUE_FILE, *(
        _name(k, suffix) for k in range(MOST_SAMPLE_FILES)
        for suffix in SAMPLE_SUFFIXES.values())})
    samples = Samples(model, count, seed, rotor_inertia=form != 'urdf')
    table = np.array([values_of(arm) for arm in samples.arms])
    times = np.arange(round(TORQUE_SECONDS * TORQUE_HZ)) / TORQUE_HZ
    rows = [','.join(column_names(samples.centre)), *(
        ','.join(map(repr, row)) for row in table.tolist())]
    contents = {
        TABLE_FILE: '\n'.join([*rows, '']).encode(),
        RANGES_FILE: (_HEADER.format(name=model.arm.name) + yaml.safe_dump(
            ranges(samples, table), sort_keys=False)).encode(),
        TORQUE_FILE: npz_bytes(
            t=times, torque=samples.torque(times), joints=np.array(model.arm.joint_names)),
        **{_name(k, SAMPLE_SUFFIXES[form]): _text(arm, form, robot).encode()
           for k, arm in enumerate(samples.arms) if SAMPLE_SUFFIXES[form]}}
    with whole_folder(folder) as place:
        place.mkdir()
        for name, data in contents.items():
            (place / name).write_bytes(data)
    return (*([] if model.verdict.trustworthy else [headline(model)]),
            f'{TABLE_FILE} holds the parameters of the samples, {RANGES_FILE} the range of each, '
            f'and {TORQUE_FILE} torque beside each sample that the model leaves unexplained')


def _text(arm: ArmModel, form: str, robot: Path | None) -> str:
    if form == 'mjcf':
        return mjcf_of(arm, servos=True)
    return (urdf_of(arm) if robot is None else replaced_urdf(arm, robot)[0]) + SIGNED


def column_names(arm: ArmModel) -> list[str]:
    """Return the columns of the table: of each link, and of each joint with a drive."""
    own = [name for name, term in JOINT_COLUMNS.items() if _has(arm, term)]
    return [f'{joint}.{name}' for k, joint in enumerate(arm.tree.link_names)
            for name in (*LINK_COLUMNS, *(own if k < arm.n else ()))]


def values_of(arm: ArmModel) -> Array:
    """Return the values of an arm in the order of `column_names`."""
    assert arm.inertial is not None
    row: list[float] = []
    for k, link in enumerate(arm.inertial):
        mass, center, inertia = inertial_to_com(link)
        row += [mass, *center, *np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        if k < arm.n:
            row += [float(_values(arm, term)[k])
                    for term in JOINT_COLUMNS.values() if _has(arm, term)]
    return np.array(row)


def ranges(samples: Samples, table: Array) -> dict[str, Any]:
    """Return the range of each parameter by joint, and the torque that is left unexplained."""
    centre = values_of(samples.centre)
    low, high = np.quantile(table, [(1 - RANGE_SHARE) / 2, (1 + RANGE_SHARE) / 2], axis=0)
    found: dict[str, Any] = {}
    for name, value, least, most in zip(
            column_names(samples.centre), centre.tolist(), low.tolist(), high.tolist(),
            strict=True):
        joint, _, own = name.rpartition('.')
        found.setdefault(joint, {})[own] = {
            'value': value, 'low': least, 'high': most,
            # Products of inertia and places have either sign.
            **({'add': [least - value, most - value]} if own.startswith('com_') else
               {'scale': [least / value, most / value]} if least >= 0 and value > 0 else {})}
    error = samples.error.rows.std(axis=0)
    for joint, value in zip(samples.model.arm.joint_names, error.tolist(), strict=True):
        found[joint]['torque_error_std'] = value
    return found


def _has(arm: ArmModel, term: str) -> bool:
    return arm.rotor_nominal is not None if term == 'rotor' else term in arm.friction_nominal


def _values(arm: ArmModel, term: str) -> Array:
    found = arm.rotor_nominal if term == 'rotor' else arm.friction_nominal[term]
    assert found is not None
    return found


def _name(number: int, suffix: str) -> str:
    return f'sample_{number:03}{suffix}'
