# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Result folders, written completely and read back, with the saved state of a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import hashlib
import io
from pathlib import Path
from typing import Any, TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np
import yaml

from dynid_ros.arm.description.yaml_source import parse_yaml, YamlError
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import parameter_units
from dynid_ros.data.files.plain_values import (
    arm_from_plain,
    arm_to_plain,
    field_hints,
    from_plain,
    optional_fields,
    to_plain,
)
from dynid_ros.data.tables.array_table import npz_bytes
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import ArmError, InputError, ResultError
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.estimate.possible_parameters import source_of
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_matrices import (
    check_clocks,
    check_finite,
    check_treatment,
    symmetric,
    symmetric_rows,
    upper_triangle,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import read_whole, write_together, write_whole

if TYPE_CHECKING:
    from dynid_ros.estimation.online.online_identifier import OnlineIdentifier


RESULT_VERSION = 3
RESULT = 'result.yaml'
PREDICTION = 'prediction.npz'
_HEADER = """\
# Identified dynamics of a robot arm, written by dynid_ros.
# parameters: each value stands for its group; value ± 1.96 std is its 95 % interval. Where source
# is "prior" the motion shows little, and value and std follow from arm.yaml or the link's length.
# std comes from a jackknife over groups of samples, widened by the root of dispersion (model
# errors that the groups have in common); std_white assumes white residuals.
# friction_strength: width of the prior of friction coefficients, relative to the prior of the arm.
# covariance: of the parameters in the same order, row by row up to the diagonal.
# standard_parameters: physically possible, as near to the data as they allow.
# root_information: upper triangle R, with RᵀR the information of the samples alone, and as last
# entry of each row the torque z: the samples alone give the parameters theta of R theta = z.
"""
# No line is broken, so that each parameter and each defect has a line of its own.
_ONE_LINE = 10**6
_ARRAYS = ('t', 'q', 'qd', 'tau', 'tau_hat')
# Stored in a shape of their own; every other field of an IdentifiedModel follows its type hint.
_OWN = ('arm', 'theta', 'covariance', 'root_information', 'root_torque', 'std_white',
        'predictions')
STATE = 'state.npz'


def write_result(result: IdentifiedModel, folder: Path) -> None:
    """
    Write ``result.yaml`` and ``prediction.npz``; numbers keep every bit.

    Parameters
    ----------
    result : IdentifiedModel
        The identified model.
    folder : Path
        Folder; made where it is missing, and an earlier result in it is replaced.

    Raises
    ------
    ResultError
        The folder cannot be made or written.

    """
    write_together(result_contents(result, folder))


def result_contents(result: IdentifiedModel, folder: Path) -> dict[Path, bytes]:
    """Make the content of each file that `write_result` writes."""
    stored = npz_bytes(**{
        f'{name}{i}': getattr(each, name) for i, each in enumerate(result.predictions)
        for name in _ARRAYS}) if result.predictions else None
    predictions = {} if stored is None else {folder / PREDICTION: stored}
    return {**predictions, folder / RESULT: _HEADER.encode() + _dump(_record(result, stored))}


def is_result(path: str | Path) -> bool:
    """Whether a path is the folder of a result, or the file in it."""
    return Path(path).name == RESULT or (Path(path) / RESULT).is_file()


def read_result(folder_or_file: Path) -> IdentifiedModel:
    """
    Read a result.

    Parameters
    ----------
    folder_or_file : Path
        Folder of the result, or the ``result.yaml`` itself. Without a
        ``prediction.npz`` beside it, there are no predictions.

    Returns
    -------
    IdentifiedModel
        Equal to the written one, bit for bit.

    Raises
    ------
    ResultError
        The file is missing, damaged or of another version.

    """
    path = folder_or_file / RESULT if folder_or_file.is_dir() else folder_or_file
    record = _load(path)
    found = record.pop('format', None)
    if found != RESULT_VERSION:
        raise ResultError(
            f'{path} has the format {found!r} and this version of dynid_ros reads '
            f'{RESULT_VERSION}; identify again')
    try:
        return _identification(_with_later_fields(record), path.with_name(PREDICTION))
    except (ValueError, KeyError, TypeError, ArmError) as error:
        reason = f'{error} is missing' if isinstance(error, KeyError) else error
        raise ResultError(f'{path} is damaged: {reason}; identify again') from error


def _with_later_fields(record: dict[str, Any]) -> dict[str, Any]:
    """Fill in fields that results of earlier versions lack."""
    record = {'data_share': [1.0] * len(record.get('parameters', ())), **record}
    validation = record.get('validation')
    if isinstance(validation, dict):
        record = {'held_out': validation.get('source'), **record}
    return record


def _record(result: IdentifiedModel, stored: bytes | None) -> dict[str, Any]:
    plain = {
        name: to_plain(getattr(result, name))
        for name in field_hints(IdentifiedModel) if name not in _OWN
    }
    predictions = None if stored is None else {
        'sha256': hashlib.sha256(stored).hexdigest(),
        'sets': [{'source': p.source, 'held_out': bool(p.held_out)} for p in result.predictions],
    }
    return {
        'format': RESULT_VERSION,
        'verdict': plain.pop('verdict'),
        'uses': [dict(vars(use)) for use in result.uses],
        **plain,
        'parameters': _parameter_list(result),
        'standard_parameters': _standard_list(result),
        'predictions': predictions,
        'arm': arm_to_plain(result.arm),
        'covariance': symmetric_rows(result.covariance),
        'root_information': [[*row[k:], z] for k, (row, z) in enumerate(zip(
            result.root_information.tolist(), result.root_torque.tolist(), strict=True))],
    }


def _identification(record: dict[str, Any], prediction: Path) -> IdentifiedModel:
    arm = arm_from_plain(record['arm'])
    theta, std_white = _parameters(record['parameters'], arm)
    optional = optional_fields(IdentifiedModel)
    root, torque = upper_triangle(record['root_information'], len(theta))
    model = IdentifiedModel(
        arm=arm,
        theta=theta,
        covariance=symmetric(record['covariance'], base_parameters(arm).names),
        root_information=root, root_torque=torque,
        std_white=std_white,
        predictions=_predictions(record['predictions'], prediction),
        **{name: from_plain(record[name], hint, name)
           for name, hint in field_hints(IdentifiedModel).items()
           if name not in _OWN and (name in record or name not in optional)},
    )
    _check_shapes(model)
    check_treatment(model.treatment)
    check_clocks(model.clocks)
    return model


def _check_shapes(model: IdentifiedModel) -> None:
    """Make sure that fields of joints and parameters have a value for each."""
    of_joints = {'fit': model.fit, 'validation': model.validation, 'consistent': model.consistent,
                 **{f'stated.{how}': found for how, found in model.stated.items()}}
    for name, metrics in of_joints.items():
        if metrics is not None and len(metrics.joints) != model.arm.n:
            raise ValueError(f'{name} holds {len(metrics.joints)} joints instead of {model.arm.n}')
    joints, parameters = (model.arm.n,), model.theta.shape
    for name, shape in (('sigma', joints), ('widening', joints), ('unrepeated', joints),
                        ('data_share', parameters)):
        found = getattr(model, name)
        if found is not None and np.shape(found) != shape:
            raise ValueError(f'{name} has the shape {np.shape(found)} instead of {shape}')
    for term, strength in model.friction_strength.items():
        if not 0 < strength < np.inf:
            raise ValueError(f'friction_strength.{term} is not a positive number')
    for k, prediction in enumerate(model.predictions):
        rows = len(prediction.t)
        if any(getattr(prediction, name).shape != (rows, model.arm.n) for name in _ARRAYS[1:]):
            raise ValueError(f'the arrays of prediction {k} differ in shape')


def _parameter_list(result: IdentifiedModel) -> list[dict[str, Any]]:
    base = base_parameters(result.arm)
    units = parameter_units(result.arm)
    return _rows({
        'name': base.names, 'value': result.theta.tolist(), 'std': result.std.tolist(),
        'std_white': result.std_white.tolist(), 'unit': [units[c] for c in base.columns],
        'source': map(source_of, result.from_data), 'group': base.groups})


def _standard_list(result: IdentifiedModel) -> list[dict[str, Any]]:
    try:
        found = result.standard_parameters()
    except InputError:
        # Nothing else is lost where nothing follows for single links.
        return []
    return _rows({
        'parameter': found.names, 'value': found.values.tolist(), 'std': found.std.tolist(),
        'unit': parameter_units(result.arm), 'source': map(source_of, found.from_data)})


def _rows(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _parameters(rows: Any, arm: ArmModel) -> tuple[Array, Array]:
    names = tuple(row['name'] for row in rows)
    if names != base_parameters(arm).names:
        raise ValueError('its parameters are not the base parameters of its arm')
    theta, std_white = (
        np.array([from_plain(row[key], float, row['name']) for row in rows])
        for key in ('value', 'std_white'))
    check_finite(theta, names, 'value')
    check_finite(std_white, names, 'std_white')
    return theta, std_white


def _predictions(listed: Any, path: Path) -> tuple[Prediction, ...]:
    if listed is None or not path.is_file():
        return ()
    data = _bytes(path)
    if hashlib.sha256(data).hexdigest() != listed['sha256']:
        raise ValueError(f'{path.name} beside it was changed or belongs to another result')
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return tuple(
            Prediction(**entry, **{name: arrays[f'{name}{i}'] for name in _ARRAYS})
            for i, entry in enumerate(listed['sets'])
        )


def _dump(record: dict[str, Any]) -> bytes:
    # libyaml is ten times faster, but not every build of PyYAML has it.
    dumper = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)
    text: bytes = yaml.dump(
        record, Dumper=dumper, sort_keys=False, default_flow_style=None, width=_ONE_LINE,
        allow_unicode=True, encoding='utf-8')
    return text


def _load(path: Path) -> dict[str, Any]:
    try:
        record = parse_yaml(_bytes(path))
    except YamlError as error:
        raise ResultError(f'{path} is damaged: {error}; identify again') from error
    if not isinstance(record, dict):
        raise ResultError(f'{path} is not a result of dynid identify')
    return record


def _bytes(path: Path) -> bytes:
    try:
        return read_whole(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ResultError(
            f'{path} cannot be read: {reason}; name the folder that dynid identify -o wrote'
        ) from error


def write_state(online: OnlineIdentifier, folder: Path) -> None:
    """Write a session to `STATE` in a folder."""
    write_whole(folder / STATE, npz_bytes(**online.state()))


def read_state(online: OnlineIdentifier, folder: Path) -> bool:
    """
    Go on from the state in a folder, if there is one.

    Returns
    -------
    bool
        False if there is no state, which is no error at the first start.

    Raises
    ------
    ResultError
        The state is damaged or belongs to other settings.

    """
    path = folder / STATE
    if not path.is_file():
        return False
    try:
        with np.load(path, allow_pickle=False) as arrays:
            online.restore(dict(arrays))
    except (BadZipFile, OSError, ValueError, KeyError, EOFError) as error:
        raise ResultError(
            f'{path} is damaged: {error}; remove it, or start without resuming') from error
    except ResultError as error:
        raise ResultError(f'{path}: {error}') from error
    return True
