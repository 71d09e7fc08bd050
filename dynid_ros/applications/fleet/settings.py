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
SIDECARS = 'sidecars'
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
        return settings_of, (json.dumps([
            arm_to_plain(self.arm), to_plain(self.conditioning), str(self.folder), self.topic,
            self.received]),)

    @cached_property
    def key(self) -> str:
        """Hash of all that a sidecar depends on."""
        return _key(self.arm, self.topic, self.received, to_plain(self.conditioning))

    def sidecar(self, bag: Bag) -> Path:
        """Return the path of the sidecar of a bag; each settings have one of their own."""
        stem = re.sub(r'[^\w.-]', '_', PurePosixPath(bag.place).stem)[:60]
        name = hashlib.sha256(f'{self.key} {bag.name}'.encode(errors='surrogateescape'))
        return self.folder / SIDECARS / f'{stem}-{name.hexdigest()[:16]}.npz'

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


def _key(arm: ArmModel, *others: Any) -> str:
    """Hash how bags are read, without the friction terms of the model."""
    plain = arm_to_plain(arm)
    for name in ('friction', 'friction_nominal'):
        del plain[name]
    text = json.dumps([SETTINGS_VERSION, SIDECAR_FRICTION, plain, *others], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@lru_cache(maxsize=4)
def settings_of(text: str) -> FleetSettings:
    """Read pickled settings; equal ones are one object, with the base parameters of its arm."""
    arm, conditioning, folder, topic, received = json.loads(text)
    return FleetSettings(
        arm_from_plain(arm), from_plain(conditioning, ConditioningSettings, 'conditioning'),
        Path(folder), topic, received)


def fleet_settings(
    arm: ArmModel, bags: Sequence[Bag], folder: Path, topic: str, received: bool,
) -> FleetSettings:
    """
    Take the conditioning of an earlier run that read the bags in this way, or choose one.

    Raises
    ------
    ResultError
        The file of the conditioning is damaged.
    RecordingError
        No bag that was tried is usable.

    """
    path = folder / f'conditioning-{_key(arm, topic, received)}.json'
    if path.exists():
        try:
            chosen: ConditioningSettings = from_plain(
                json.loads(read_whole(path)), ConditioningSettings, 'conditioning')
        except (OSError, ValueError) as error:
            raise ResultError(
                f'{path} cannot be read: {error}; remove it to read all bags anew') from error
    else:
        chosen = common_conditioning(_choices(arm, bags, topic, received))
        write_whole(path, json.dumps(to_plain(chosen)).encode())
    return FleetSettings(arm, chosen, folder, topic, received)


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
