"""What the buttons of a page ask of the nodes, on its way from one thread to another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

#: Commands that may wait.
MOST = 100


class Command(Enum):
    """What is asked for, in the words of the page."""

    START = 'start'
    STOP = 'stop'
    FREEZE = 'freeze'
    LEARN = 'learn'
    SAVE = 'save'


@dataclass(frozen=True)
class Request:
    """
    A command that was given.

    Attributes
    ----------
    command : Command
        Which one.
    answered : callable
        Takes whether it was done, and what the node said.

    """

    command: Command
    answered: Callable[[bool, str], None]


class Commands:
    """Requests of the threads of a page, which the thread of a node takes."""

    def __init__(self) -> None:
        self._waiting: deque[Request] = deque(maxlen=MOST)

    def give(self, request: Request) -> None:
        """Hand on a request."""
        self._waiting.append(request)

    def take(self) -> list[Request]:
        """Return what waits; a stop comes first, and revokes the starts given before it."""
        taken: list[Request] = []
        while self._waiting:
            request = self._waiting.popleft()
            if request.command is Command.STOP:
                for each in taken:
                    if each.command is Command.START:
                        each.answered(False, 'revoked by the stop')
                taken = [request, *(each for each in taken if each.command is not Command.START)]
            else:
                taken.append(request)
        return taken
