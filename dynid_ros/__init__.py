# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
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
    from dynid_ros.data.recordings.recording import Recording
    from dynid_ros.errors import DynidError
    from dynid_ros.interface.python.applications import (
        convert,
        export,
        monitor,
        payload,
        wrist_sensor,
    )
    from dynid_ros.interface.python.comparison import compare, Comparison
    from dynid_ros.interface.python.identification import (
        check_recording,
        gains,
        identify,
        load_model,
        read_recording,
        validate,
    )
    from dynid_ros.interface.python.live import OnlineIdentifier, Replay, replay
    from dynid_ros.interface.python.motions import design_excitation, feedforward, simulate
    from dynid_ros.interface.python.plots import (
        plot_contacts,
        plot_estimates,
        plot_friction,
        plot_motion,
        plot_recording,
        plot_rollouts,
        plot_torque,
    )
    from dynid_ros.interface.python.results import IdentifiedModel
    from dynid_ros.interface.python.statics import external_force, pose_error
    from dynid_ros.interface.python.validation import Validation

__version__: str

#: Names by the module that has them; the imports and the list are for type checkers, too.
_PLACES = {
    'arm.load': 'load_arm',
    'arm.model': 'ArmModel',
    'data.recordings.recording': 'Recording',
    'errors': 'DynidError',
    'interface.python.applications': 'convert export monitor payload wrist_sensor',
    'interface.python.comparison': 'Comparison compare',
    'interface.python.identification':
        'check_recording gains identify load_model read_recording validate',
    'interface.python.live': 'OnlineIdentifier Replay replay',
    'interface.python.motions': 'design_excitation feedforward simulate',
    'interface.python.plots':
        'plot_contacts plot_estimates plot_friction plot_motion plot_recording plot_rollouts '
        'plot_torque',
    'interface.python.results': 'IdentifiedModel',
    'interface.python.statics': 'external_force pose_error',
    'interface.python.validation': 'Validation',
}
_MODULES = dict(sorted(
    (name, module) for module, names in _PLACES.items() for name in names.split()))
__all__ = [
    'ArmModel', 'Comparison', 'DynidError', 'IdentifiedModel', 'OnlineIdentifier', 'Recording',
    'Replay', 'Validation', 'check_recording', 'compare', 'convert', 'design_excitation',
    'export', 'external_force', 'feedforward', 'gains', 'identify', 'load_arm',
    'load_model', 'monitor', 'payload', 'plot_contacts', 'plot_estimates', 'plot_friction',
    'plot_motion', 'plot_recording', 'plot_rollouts', 'plot_torque', 'pose_error',
    'read_recording', 'replay', 'simulate', 'validate', 'wrist_sensor']


def __getattr__(name: str) -> Any:
    if name == '__version__':
        return _version()
    if name not in _MODULES:
        # Names of commands among them: design stands for design_excitation.
        near = [known for known in __all__ if name in known.split('_')]
        hint = f'; did you mean {" or ".join(near)}?' if near else ''
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}{hint}')
    value = getattr(import_module(f'{__name__}.{_MODULES[name]}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, '__version__']


def _version() -> str:
    """Version of a checkout by its package.xml, which may be newer than what is installed."""
    from importlib.metadata import version
    from pathlib import Path
    import re

    manifest = Path(__file__).parents[1] / 'package.xml'
    found = manifest.is_file() and re.search(
        r'<name>dynid_ros</name>\s*<version>([^<]*)', manifest.read_text(encoding='utf-8'))
    return found[1] if found else version('dynid_ros')
