"""What the buttons of a page ask of the nodes, on its way from one thread to another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from threading import Lock

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
        self._lock = Lock()

    def give(self, request: Request) -> None:
        """Hand on a request; a stop comes first, and revokes the starts that wait."""
        revoked: list[Request] = []
        with self._lock:
            if request.command is Command.STOP:
                revoked = [each for each in self._waiting if each.command is Command.START]
                for each in revoked:
                    self._waiting.remove(each)
                self._waiting.appendleft(request)
            else:
                self._waiting.append(request)
        for each in revoked:
            each.answered(False, 'revoked by the stop')

    def take(self) -> list[Request]:
        """Return what waits, the most urgent first."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken
