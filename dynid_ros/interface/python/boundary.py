# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Convert arguments of users for the rooms below, and results to tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Any, TYPE_CHECKING, TypeAlias

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.settings import LEAST_CUTOFF, LONGEST_DELAY
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.files.sidecar import check_same_arm
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import is_result, read_result
from dynid_ros.utilities.inputs import (
    as_flag,
    as_path,
    as_text,
    one_number,
    Range,
    wrong_type,
)

if TYPE_CHECKING:
    from pandas import DataFrame

#: A name or path, or the object itself.
Arm: TypeAlias = str | Path | ArmModel
Model: TypeAlias = str | Path | IdentifiedModel
Log: TypeAlias = str | Path | Recording
#: One recording, or several.
Logs: TypeAlias = Log | Iterable[Log]
#: Names of friction terms: one, several joined by commas, or a sequence.
Friction: TypeAlias = str | Sequence[str] | None

CUTOFF_RANGE = Range(float, f'a frequency of {LEAST_CUTOFF:g} Hz or more',
                     lambda value: LEAST_CUTOFF <= value < inf)
DELAY_RANGE = Range(float, f'a delay from {-LONGEST_DELAY:g} to {LONGEST_DELAY:g} s',
                    lambda value: abs(value) <= LONGEST_DELAY)
#: Without an end, nothing is forgotten.
MEMORY_RANGE = Range(float, 'a number above zero', lambda value: value > 0)
Cutoff: TypeAlias = Annotated[float, CUTOFF_RANGE]
Delay: TypeAlias = Annotated[float, DELAY_RANGE]
Memory: TypeAlias = Annotated[float, MEMORY_RANGE]


def as_arm(arm: Any, name: str = 'arm') -> ArmModel:
    """Take an arm by its name or path, or as it is; see `load_arm`."""
    if isinstance(arm, ArmModel):
        return arm
    if isinstance(arm, (str, Path)):
        return load_arm(arm)
    raise wrong_type(name, 'a name, a path or an ArmModel', arm)


def as_arm_or_model(arm: Any, name: str = 'arm') -> ArmModel | IdentifiedModel:
    """Take an arm, or a result, or the folder of one."""
    if isinstance(arm, (str, Path)) and is_result(arm):
        return read_result(as_path(name, arm))
    return arm if isinstance(arm, IdentifiedModel) else as_arm(arm, name)


def as_simulated_arm(arm: Any) -> ArmModel:
    """Take an arm, or the arm of a result or its folder, with possible parameters."""
    known = as_arm_or_model(arm)
    return known.possible_arm if isinstance(known, IdentifiedModel) else known


def as_model(model: Any, name: str = 'model') -> IdentifiedModel:
    """Take a model from the folder of its result, or as it is."""
    if isinstance(model, IdentifiedModel):
        return model
    if isinstance(model, (str, Path)):
        return read_result(as_path(name, model))
    raise wrong_type(name, 'the folder of a result or an IdentifiedModel', model)


def as_models(models: Any, name: str) -> list[IdentifiedModel]:
    """Take one model or several."""
    one = isinstance(models, (str, Path)) or not isinstance(models, Iterable)
    return [as_model(each, name) for each in ([models] if one else models)]


def as_recording(
    recording: Any, arm: ArmModel, *, topic: str = 'joint_states', received: bool = False,
    of_model: bool = False, name: str = 'recording',
) -> Recording:
    """
    Take a recording from its path, or as it is.

    Parameters
    ----------
    recording : str, Path or Recording
        As the user gave it.
    arm : ArmModel
        Its arm.
    topic, received
        As for `read_recording`.
    of_model : bool
        Whether the arm belongs to a model, with which a sidecar must agree.
    name : str
        Argument, for the message.

    """
    as_text('topic', topic)
    as_flag('received', received)
    if isinstance(recording, Recording):
        if set(recording.joint_names) != set(arm.joint_names):
            raise InputError(
                f"{name} must be of the joints {', '.join(arm.joint_names)} of '{arm.name}', but "
                f'is of {", ".join(recording.joint_names)}')
        if recording.joint_names == arm.joint_names:
            return recording
        order = [recording.joint_names.index(each) for each in arm.joint_names]
        qd = None if recording.qd is None else recording.qd[:, order]
        return replace(recording, joint_names=arm.joint_names, q=recording.q[:, order],
                       u=recording.u[:, order], qd=qd)
    if not isinstance(recording, (str, Path)):
        raise wrong_type(name, 'a path or a Recording', recording)
    path = as_path(name, recording)
    if of_model:
        check_same_arm(path, arm)
    return read_recording(path, arm, topic=topic, received=received)


def as_recordings(logs: Any, arm: ArmModel, name: str, **reading: Any) -> Iterator[Recording]:
    """Take one recording or several, read one by one: a long one fills memory."""
    if isinstance(logs, (str, Path, Recording)):
        logs = [logs]
    if not isinstance(logs, Iterable):
        raise wrong_type(name, 'a path, a Recording, or a list of these', logs)
    return (as_recording(each, arm, name=name, **reading) for each in logs)


def as_friction(friction: Any) -> tuple[str, ...] | None:
    """Take names of friction terms; None to choose their strengths."""
    if friction is None or (isinstance(friction, str) and friction == 'auto'):
        return None
    if isinstance(friction, str):
        friction = [each.strip() for each in friction.split(',')]
    if not isinstance(friction, Sequence) or not all(isinstance(each, str) for each in friction):
        raise wrong_type(
            'friction', 'a name, names joined by commas, or a list of names', friction)
    names = tuple(filter(None, friction))
    friction_terms(names)
    return names


def check_once(
    logs: Any, others: Any = (), refusal: str = 'is used for fitting, so it cannot validate; give '
    'another recording, or none to hold out the last part of each',
) -> None:
    """Refuse a path given twice, or in both of two lists, which would count double."""
    names, apart = ([path.resolve() for path in _paths(each)] for each in (logs, others))
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'{name} is given twice and would count double; give it once')
    both = set(names) & set(apart)
    if both:
        raise InputError(f'{both.pop()} {refusal}')


def with_cutoff(arm: ArmModel, cutoff_hz: Cutoff | None) -> ArmModel:
    """Return the arm with another cut-off of its filters, Hz, if one is given."""
    if cutoff_hz is None:
        return arm
    cutoff_hz = CUTOFF_RANGE.take('cutoff_hz', cutoff_hz)
    return replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=cutoff_hz))


def online_settings(
    cutoff_hz: Cutoff | None, delay: Delay | None, memory: Memory,
) -> dict[str, Any]:
    """Check the settings of a session; see `OnlineIdentifier`."""
    return {'cutoff_hz': CUTOFF_RANGE.take_given('cutoff_hz', cutoff_hz),
            'delay': DELAY_RANGE.take_given('delay', delay),
            'memory': MEMORY_RANGE.take('memory', memory)}


def quantile(level: float) -> float:
    """Return the standard deviations in half of an interval of a level between 0 and 1."""
    level = one_number('level', level)
    if not 0 < level < 1:
        raise InputError(f'level must be between 0 and 1, such as 0.95, not {level:g}')
    return NormalDist().inv_cdf((1 + level) / 2)


def data_frame(columns: dict[str, Any], names: Iterable[str]) -> DataFrame:
    """Make a pandas table; only this function needs pandas."""
    try:
        from pandas import DataFrame as Table
        from pandas import Index
    except ModuleNotFoundError as error:
        raise InputError('a table needs pandas, which is not installed; install it (pip install '
                         'pandas), or use parameters, std and conf_int') from error
    return Table(columns, index=Index(list(names), name='parameter'))


def _paths(logs: Any) -> list[Path]:
    """Find the paths among recordings, except in iterators."""
    several = logs if isinstance(logs, (list, tuple)) else [logs]
    return [as_path('recording', each) for each in several if isinstance(each, (str, Path))]
