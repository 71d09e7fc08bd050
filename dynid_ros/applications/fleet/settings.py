# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Settings that all bags of a fleet share: without them, their factors cannot be merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.plain_values import arm_from_plain, arm_to_plain, from_plain, to_plain
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.errors import ResultError
from dynid_ros.estimation.blocks.kept_rows import KeptRows

SETTINGS_VERSION = 2
#: Friction columns of a sidecar. Columns of the load depend on an estimate, which is unknown when
#: a bag is read, and columns of the history on motion before it.
SIDECAR_FRICTION = tuple(name for name, term in TERMS.items() if not term.state)


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
    topic : str
        Joint-state topic of bags.
    received : bool
        Whether the times of reception are the stamps.

    """

    arm: ArmModel
    conditioning: ConditioningSettings
    topic: str = 'joint_states'
    received: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text, from which `settings_of` makes one object for all bags of a worker."""
        return settings_of, (self.text,)

    @cached_property
    def text(self) -> str:
        """Write all settings as a line of JSON for `settings_of`."""
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
def settings_of(text: str) -> FleetSettings:
    """Read settings; equal ones are one object, which shares the base parameters of its arm."""
    try:
        plain: Any = json.loads(text)
        if plain['format'] != SETTINGS_VERSION or tuple(plain['candidates']) != SIDECAR_FRICTION:
            raise ValueError('another version of dynid_ros wrote them')
        return FleetSettings(
            arm_from_plain(plain['arm']),
            from_plain(plain['conditioning'], ConditioningSettings, 'conditioning'),
            str(plain['topic']), bool(plain['received']))
    except (ValueError, KeyError, TypeError) as error:
        raise ResultError(
            f'the settings of the fleet cannot be read ({error}); start again with --again'
        ) from error


def common_conditioning(chosen: Sequence[ConditioningSettings]) -> ConditioningSettings:
    """Take medians of the choices for single bags, which are robust to odd bags."""
    rate, cutoff, delay = (float(np.median([getattr(each, name) for each in chosen]))
                           for name in ('rate_hz', 'cutoff_hz', 'delay'))
    return replace(chosen[0], rate_hz=rate, delay=delay).at(cutoff)
