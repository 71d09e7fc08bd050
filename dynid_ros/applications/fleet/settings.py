# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Settings that all bags of a fleet share: without them, their factors cannot be merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
import hashlib
import json
from pathlib import Path, PurePosixPath
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.fleet.bags import Bag, local_copy
from dynid_ros.arm.friction import TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.plain_values import arm_from_plain, arm_to_plain, from_plain, to_plain
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.errors import DynidError, RecordingError, ResultError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.utilities.atomic_write import read_whole, write_whole

SETTINGS_VERSION = 3
SETTINGS_FILE, SIDECARS = 'settings.json', 'sidecars'
#: Friction columns of a sidecar. Columns of the load depend on an estimate, which is unknown when
#: a bag is read, and columns of the history on motion before it.
SIDECAR_FRICTION = tuple(name for name, term in TERMS.items() if not term.state)
#: Bags that determine the conditioning, spread over all, and most tries to find as many.
SAMPLE, SAMPLE_TRIES = 7, 40


@dataclass(frozen=True)
class FleetSettings:
    """
    The arm, and how its recordings are read and conditioned.

    Attributes
    ----------
    arm : ArmModel
        The arm; the models have its friction terms, the sidecars all terms.
    conditioning : ConditioningSettings
        Cut-off, rate and delay of all bags.
    folder : Path
        Folder of the results.
    topic : str
        Joint-state topic of bags.
    received : bool
        Whether the times of reception are the stamps.

    """

    arm: ArmModel
    conditioning: ConditioningSettings
    folder: Path
    topic: str = 'joint_states'
    received: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text, from which `settings_of` makes one object for all bags of a worker."""
        return settings_of, (self.text, self.folder)

    @cached_property
    def text(self) -> str:
        """Write all settings but the folder as a line of JSON for `settings_of`."""
        return json.dumps({
            'format': SETTINGS_VERSION, 'topic': self.topic, 'received': self.received,
            'conditioning': to_plain(self.conditioning),
            'candidates': SIDECAR_FRICTION, 'arm': arm_to_plain(self.arm)})

    @cached_property
    def sha256(self) -> str:
        """Hash what a sidecar depends on: all but the friction terms of the model."""
        plain = json.loads(self.text)
        for name in ('friction', 'friction_nominal'):
            del plain['arm'][name]
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()

    def sidecar(self, bag: Bag) -> Path:
        """Return the path of the sidecar of a bag."""
        digest = hashlib.sha256(bag.name.encode(errors='surrogateescape')).hexdigest()[:16]
        stem = re.sub(r'[^\w.-]', '_', PurePosixPath(bag.place).stem)[:60]
        return self.folder / SIDECARS / f'{stem}-{digest}.npz'

    def read(self, bag: Bag, local: Path) -> Recording:
        """Read and check the local copy of a bag."""
        recording = read_recording(local, self.arm, topic=self.topic, received=self.received)
        return checked_recording(replace(recording, source=bag.name), self.arm)[0]

    def rows(
        self, motions: Sequence[ConditionedMotion], conditioning: ConditioningSettings,
    ) -> KeptRows:
        """Return the rows of a bag with all candidate columns."""
        return KeptRows(self.arm, motions, conditioning, SIDECAR_FRICTION)

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """Columns of the base parameters of the arm among the columns of the sidecars."""
        return self.rows([], self.conditioning).columns(self.arm)


@lru_cache(maxsize=4)
def settings_of(text: str, folder: Path) -> FleetSettings:
    """Read settings; equal ones are one object, which shares the base parameters of its arm."""
    try:
        plain: Any = json.loads(text)
        if plain['format'] != SETTINGS_VERSION or tuple(plain['candidates']) != SIDECAR_FRICTION:
            raise ValueError('another version of dynid_ros wrote them')
        return FleetSettings(
            arm_from_plain(plain['arm']),
            from_plain(plain['conditioning'], ConditioningSettings, 'conditioning'), folder,
            str(plain['topic']), bool(plain['received']))
    except (ValueError, KeyError, TypeError) as error:
        raise ResultError(
            f'the settings of the fleet cannot be read ({error}); remove '
            f'{folder / SETTINGS_FILE} to read all bags anew') from error


def fleet_settings(
    arm: ArmModel, bags: Sequence[Bag], folder: Path, topic: str, received: bool,
) -> FleetSettings:
    """
    Take the settings of an earlier run in the same folder, or choose them.

    Raises
    ------
    ResultError
        The earlier run had another arm description or read its bags in another way.
    RecordingError
        No bag that was tried is usable.

    """
    path = folder / SETTINGS_FILE
    if path.exists():
        try:
            stored = settings_of(read_whole(path).decode(), folder)
        except (OSError, UnicodeDecodeError) as error:
            raise ResultError(f'{path} cannot be read: {error}') from error
        settings = replace(stored, arm=arm, topic=topic, received=received)
        if settings.sha256 != stored.sha256:
            raise ResultError(
                f'{folder} holds sidecars that were made with another arm description or other '
                f'settings, and these cannot be mixed; give another folder, or remove {path} to '
                'read all bags anew')
    else:
        chosen = common_conditioning(_choices(arm, bags, topic, received))
        settings = FleetSettings(arm, chosen, folder, topic, received)
    write_whole(path, settings.text.encode())
    return settings


def _choices(
    arm: ArmModel, bags: Sequence[Bag], topic: str, received: bool,
) -> list[ConditioningSettings]:
    """Choose the conditioning of some good bags, spread over all of them."""
    arm.drive.check_scale()
    places = np.linspace(0, len(bags) - 1, min(SAMPLE_TRIES, len(bags))).round().astype(int)
    chosen: list[ConditioningSettings] = []
    # In strides, so that the first few are spread, too.
    for k in np.concatenate([places[first::SAMPLE] for first in range(SAMPLE)]).tolist():
        try:
            with local_copy(bags[k]) as local:
                recording, _ = checked_recording(
                    read_recording(local, arm, topic=topic, received=received), arm)
                chosen.append(choose_conditioning(arm.memoryless, [recording]))
        except DynidError as error:
            reason = str(error)
        if len(chosen) == SAMPLE:
            break
    if not chosen:
        raise RecordingError(f'none of {len(places)} bags that were tried is usable: {reason}')
    return chosen


def common_conditioning(chosen: Sequence[ConditioningSettings]) -> ConditioningSettings:
    """Take medians of the choices for single bags, which are robust to odd bags."""
    rate, cutoff, delay = (float(np.median([getattr(each, name) for each in chosen]))
                           for name in ('rate_hz', 'cutoff_hz', 'delay'))
    return replace(chosen[0], rate_hz=rate, delay=delay).at(cutoff)
