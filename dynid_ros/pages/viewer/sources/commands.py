# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Requests of the buttons to the nodes, passed from one thread to another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from dynid_ros.pages.viewer.sources.live import IDENTIFIER, PUBLISHER


class Command(Enum):
    """A command: its service, and the flag that this takes, if any."""

    START = f'{PUBLISHER}/start', None
    STOP = f'{PUBLISHER}/stop', None
    FREEZE = f'{IDENTIFIER}/freeze', True
    LEARN = f'{IDENTIFIER}/freeze', False
    SAVE = f'{IDENTIFIER}/save', None


@dataclass(frozen=True)
class Request:
    """
    A command that was given.

    Attributes
    ----------
    command : Command
        Which one.
    answered : callable
        Takes whether it was done, and the answer of the node.

    """

    command: Command
    answered: Callable[[bool, str], None]


def taken(waiting: deque[Request]) -> list[Request]:
    """Take all waiting requests; a stop comes first, and revokes earlier starts."""
    requests: list[Request] = []
    while waiting:
        request = waiting.popleft()
        if request.command is not Command.STOP:
            requests.append(request)
            continue
        for each in requests:
            if each.command is Command.START:
                each.answered(False, 'revoked by the stop')
        requests = [request, *(each for each in requests if each.command is not Command.START)]
    return requests
