# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The formats of an exported model, and the file in one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dynid_ros.applications.export.c_header import header_of
from dynid_ros.applications.export.file_error import (
    LossyFormat,
    MJCF,
    statements,
    URDF,
    WORTH,
)
from dynid_ros.applications.export.format_friction import simple_arm
from dynid_ros.applications.export.maker_tables import maker_table
from dynid_ros.applications.export.standalone import python_of, table_of
from dynid_ros.applications.export.urdf import signed_urdf
from dynid_ros.arm.drive import BY_MASSES, COMMAND, RELATIVE
from dynid_ros.errors import InputError
from dynid_ros.estimation.identification.command_gains import SCALED, UNSCALED
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.simulation.mjcf import has_servos, mjcf_of
from dynid_ros.utilities.atomic_write import write_whole


@dataclass(frozen=True)
class Format:
    """
    A format of an exported model.

    Attributes
    ----------
    suffix : str
        Of its files. Of two formats with one suffix, a file name chooses the first.
    write : callable
        Returns the content of a file, and what was changed beside the parameters, from a model
        and the user's own file, None without one.
    lossy : LossyFormat or None
        How to find its torque error; None for a format of all friction terms.
    takes_robot : bool
        Whether the user's own file may be given.

    """

    suffix: str
    write: Callable[[IdentifiedModel, Path | None], tuple[str, list[str]]]
    lossy: LossyFormat | None = None
    takes_robot: bool = False


def _mjcf(model: IdentifiedModel, _robot: Path | None) -> tuple[str, list[str]]:
    return mjcf_of(simple_arm(model, rotor_inertia=True), servos=True), []


def _yaml(model: IdentifiedModel, robot: Path | None) -> tuple[str, list[str]]:
    if robot is None:
        return table_of(model), []
    return maker_table(model.possible_arm, robot), [
        "the maker's YAML holds links alone: rotor inertia and friction are missing in it; for "
        'friction, export a URDF (-o FILE.urdf)']


def _python(model: IdentifiedModel, _robot: Path | None) -> tuple[str, list[str]]:
    return python_of(model.possible_arm), []


def _c(model: IdentifiedModel, _robot: Path | None) -> tuple[str, list[str]]:
    return header_of(model.possible_arm), []


#: Formats by name; ``--format`` of ``dynid export`` lists the same names.
FORMATS = {
    'urdf': Format('.urdf', signed_urdf, URDF, takes_robot=True),
    'mjcf': Format('.xml', _mjcf, MJCF),
    'yaml': Format('.yaml', _yaml, takes_robot=True),
    'python': Format('.py', _python),
    'c': Format('.h', _c),
}


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
        URDF, or maker's YAML, with parameters to replace.
    form : str, optional
        One of `FORMATS`; by default the one of the suffix.

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
    name = format_of(out) if form is None else form
    if name not in FORMATS:
        raise InputError(f"form must be one of {', '.join(FORMATS)}, not '{name}'")
    chosen = FORMATS[name]
    if robot is not None and not chosen.takes_robot:
        able = ' and '.join(other for other, each in FORMATS.items() if each.takes_robot)
        raise InputError(f'robot (--robot) is for the formats {able} only, not for {name}')
    notes = [] if model.verdict.trustworthy else [headline(model)]
    text, changes = chosen.write(model, robot)
    write_whole(out, text.encode())
    lossy = chosen.lossy
    return (*notes, *changes,
            *(_as_possible(model) if lossy is None else statements(model, text, lossy)),
            *_of_commands(model, name))


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
                     'drive, which commands cannot separate')
    return notes


def format_of(out: Path) -> str:
    """Choose the format by the name of a file."""
    suffix = out.suffix.lower()
    form = next((name for name, each in FORMATS.items() if each.suffix == suffix), None)
    if form is None:
        known = ', '.join(f'{each.suffix} ({name})' for name, each in FORMATS.items())
        raise InputError(f"'{out}' has no suffix of a format: give it one of {known}, or give "
                         '--format (form= in Python)')
    return form
