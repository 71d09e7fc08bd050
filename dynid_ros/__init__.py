"""
Data collection and dynamic identification of robot arms.

The names below are the public face of the package, which stays as it is between versions; each
is imported when it is first used. ``docs/python.md`` shows them at work.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from dynid_ros.applications.export.urdf import export_urdf
    from dynid_ros.arm.load import load_arm
    from dynid_ros.arm.model import ArmModel
    from dynid_ros.data.files.recording_reader import read_recording
    from dynid_ros.data.recordings.quality import check_recording
    from dynid_ros.data.recordings.recording import Recording
    from dynid_ros.errors import DynidError
    from dynid_ros.estimation.identification.identify import identify
    from dynid_ros.estimation.model.identified_model import IdentifiedModel
    from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
    from dynid_ros.motion.excitation.design import design_excitation

__version__ = '0.1.0'

__all__ = [
    'ArmModel',
    'DynidError',
    'IdentifiedModel',
    'OnlineIdentifier',
    'Recording',
    'check_recording',
    'design_excitation',
    'export_urdf',
    'identify',
    'load_arm',
    'read_recording',
]

_MODULES = {
    'ArmModel': 'arm.model',
    'DynidError': 'errors',
    'IdentifiedModel': 'estimation.model.identified_model',
    'OnlineIdentifier': 'estimation.online.online_identifier',
    'Recording': 'data.recordings.recording',
    'check_recording': 'data.recordings.quality',
    'design_excitation': 'motion.excitation.design',
    'export_urdf': 'applications.export.urdf',
    'identify': 'estimation.identification.identify',
    'load_arm': 'arm.load',
    'read_recording': 'data.files.recording_reader',
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(import_module(f'{__name__}.{_MODULES[name]}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, '__version__']
