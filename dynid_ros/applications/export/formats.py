# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The formats of an exported model, and the file in one of them."""

from __future__ import annotations

from pathlib import Path

from dynid_ros.applications.export.c_header import header_of
from dynid_ros.applications.export.file_error import LOADERS, statements, WORTH
from dynid_ros.applications.export.format_friction import simple_arm
from dynid_ros.applications.export.maker_tables import maker_table
from dynid_ros.applications.export.standalone import python_of, table_of
from dynid_ros.applications.export.urdf import export_urdf
from dynid_ros.arm.drive import BY_MASSES, COMMAND, RELATIVE
from dynid_ros.errors import InputError
from dynid_ros.estimation.identification.command_gains import SCALED, UNSCALED
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.simulation.mjcf import has_servos, mjcf_of
from dynid_ros.utilities.atomic_write import write_whole

#: Formats by the suffix of a file.
FORMAT_OF_SUFFIX = {'.urdf': 'urdf', '.xml': 'mjcf', '.yaml': 'yaml', '.py': 'python', '.h': 'c'}


def export_model(
    model: IdentifiedModel, out: Path, robot: Path | None = None, form: str | None = None,
) -> tuple[str, ...]:
    """
    Write a model in a format.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    out : Path
        File to write.
    robot : Path, optional
        URDF, or maker's YAML, of which the parameters are replaced.
    form : str, optional
        One of the values of `FORMAT_OF_SUFFIX`; by default the one of the suffix.

    Returns
    -------
    tuple of str
        What was changed, the torque error of the file, and the parts that it cannot hold, a
        sentence each.

    Raises
    ------
    InputError
        There is no such format, or the robot has other joints than the arm.
    ResultError
        The file cannot be written.

    """
    form = format_of(out) if form is None else form
    if form not in FORMAT_OF_SUFFIX.values():
        known = ', '.join(FORMAT_OF_SUFFIX.values())
        raise InputError(f"form must be one of {known}, not '{form}'")
    if robot is not None and form not in ('urdf', 'yaml'):
        raise InputError('robot (--robot) is for the formats urdf and yaml only, not for '
                         f'{form}')
    notes = [] if model.verdict.trustworthy else [headline(model)]
    if form == 'urdf':
        notes += export_urdf(model, robot, out=out)
    else:
        write_whole(out, _text(model, form, robot).encode())
    if form in LOADERS:
        notes += statements(model, out.read_text(encoding='utf-8'), form)
    else:
        notes += _as_possible(model)
    if robot is not None and form == 'yaml':
        notes.append("the maker's YAML holds links alone: rotor inertia and friction are missing "
                     'in it; for friction, export a URDF (-o FILE.urdf)')
    return (*notes, *_of_commands(model, form))


def _as_possible(model: IdentifiedModel) -> list[str]:
    """State the torque error of the possible parameters, if they predict worse than the model."""
    possible, own = model.consistent, model.validation
    if possible is None or own is None or not (
            possible.relative_error_percent > (1 + WORTH) * own.relative_error_percent):
        return []
    return [f'these parameters have {possible.relative_error_percent:.3g} % torque error on '
            f'{model.held_out}, and the model {own.relative_error_percent:.3g} %; only the result '
            'itself, as dynid feedforward uses it, has that of the model']


def _of_commands(model: IdentifiedModel, form: str) -> list[str]:
    """State where the gains of commands come from, and which values are sums."""
    arm, drive = model.arm, model.arm.drive
    if drive.signal != COMMAND:
        return []
    origin = {'': 'that arm.yaml states',
              BY_MASSES: 'that follows from the masses of the description',
              RELATIVE: 'in the relative unit of masses, armature, damping and friction loss'}
    notes = [f'the position actuators have a stiffness kp {origin[drive.scale]}'
             if form == 'mjcf' and has_servos(arm) else
             f'masses, inertias and friction follow from a stiffness kp {origin[drive.scale]}']
    notes += [each.text for each in model.verdict.findings if each.code in (SCALED, UNSCALED)]
    if drive.damping is None:
        notes.append('damping is the sum of the viscous friction of a joint and of the kd of its '
                     'drive, which commands do not tell apart')
    return notes


def format_of(out: Path) -> str:
    """Choose the format by the name of a file."""
    form = FORMAT_OF_SUFFIX.get(out.suffix.lower())
    if form is None:
        known = ', '.join(f'{suffix} ({name})' for suffix, name in FORMAT_OF_SUFFIX.items())
        raise InputError(f"'{out}' has no suffix of a format: give it one of {known}, or give "
                         '--format (form= in Python)')
    return form


def _text(model: IdentifiedModel, form: str, robot: Path | None) -> str:
    """Write a model in a format other than URDF."""
    if form == 'mjcf':
        return mjcf_of(simple_arm(model, rotor_inertia=True), servos=True)
    if form == 'python':
        return python_of(model.possible_arm)
    if form == 'c':
        return header_of(model.possible_arm)
    return table_of(model) if robot is None else maker_table(model.possible_arm, robot)
