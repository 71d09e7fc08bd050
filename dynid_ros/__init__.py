"""
Data collection and dynamic identification of robot arms.

The names below are the public face of the package, which stays as it is between versions; each
is imported when it is first used. ``docs/python.md`` shows them at work.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from dynid_ros.arm.load import load_arm
    from dynid_ros.arm.model import ArmModel
    from dynid_ros.errors import DynidError
    from dynid_ros.excitation.design import design_excitation
    from dynid_ros.export.urdf import export_urdf
    from dynid_ros.identification.identify import identify
    from dynid_ros.model.identified_model import IdentifiedModel
    from dynid_ros.online.online_identifier import OnlineIdentifier
    from dynid_ros.recordings.quality import check_recording
    from dynid_ros.recordings.recording import Recording
    from dynid_ros.storage.recording_reader import read_recording

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
    'IdentifiedModel': 'model.identified_model',
    'OnlineIdentifier': 'online.online_identifier',
    'Recording': 'recordings.recording',
    'check_recording': 'recordings.quality',
    'design_excitation': 'excitation.design',
    'export_urdf': 'export.urdf',
    'identify': 'identification.identify',
    'load_arm': 'arm.load',
    'read_recording': 'storage.recording_reader',
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(import_module(f'{__name__}.{_MODULES[name]}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, '__version__']
