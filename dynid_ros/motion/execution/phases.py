# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The state machine of a motion: one table of phases and events."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class Phase(Enum):
    """Phase of the execution; users read the values."""

    IDLE = 'idle'
    MOVING = 'moving to the start'
    RUNNING = 'running'
    VALIDATING = 'validating'
    STOPPING = 'stopping'
    HOLDING = 'holding'
    ABORTED = 'aborted'


class Event(Enum):
    """Cause of a change of phase; the documentation shows the values."""

    START = 'start is asked for'
    ARRIVED = 'the start of the motion is reached'
    EXCITED = 'the exciting motion ends'
    ENDED = 'the last motion ends'
    STOP = 'stop is asked for'
    RESTED = 'the arm has slowed down'
    VIOLATION = 'a bound is broken'


#: Next phase by phase and event; other events have no effect.
TRANSITIONS: Mapping[tuple[Phase, Event], Phase] = {
    (Phase.IDLE, Event.START): Phase.MOVING,
    (Phase.MOVING, Event.ARRIVED): Phase.RUNNING,
    (Phase.MOVING, Event.STOP): Phase.STOPPING,
    (Phase.MOVING, Event.VIOLATION): Phase.ABORTED,
    (Phase.RUNNING, Event.EXCITED): Phase.VALIDATING,
    (Phase.RUNNING, Event.ENDED): Phase.HOLDING,
    (Phase.RUNNING, Event.STOP): Phase.STOPPING,
    (Phase.RUNNING, Event.VIOLATION): Phase.ABORTED,
    (Phase.VALIDATING, Event.ENDED): Phase.HOLDING,
    (Phase.VALIDATING, Event.STOP): Phase.STOPPING,
    (Phase.VALIDATING, Event.VIOLATION): Phase.ABORTED,
    (Phase.STOPPING, Event.RESTED): Phase.HOLDING,
    (Phase.STOPPING, Event.VIOLATION): Phase.ABORTED,
    (Phase.HOLDING, Event.START): Phase.MOVING,
    (Phase.HOLDING, Event.VIOLATION): Phase.ABORTED,
    (Phase.ABORTED, Event.STOP): Phase.HOLDING,
}

#: Phases in which the arm follows a reference, and those in which bounds apply.
ACTIVE = frozenset({Phase.MOVING, Phase.RUNNING, Phase.VALIDATING, Phase.STOPPING})
WATCHED = frozenset(phase for phase, event in TRANSITIONS if event is Event.VIOLATION)
