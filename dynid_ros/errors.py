"""Exceptions for users; the command line prints each as one line."""

from __future__ import annotations

import re

#: Characters of a word, and of a message, from which on their middle is left out. Names and paths
#: stay whole, a list of the joints of a humanoid too, and no message echoes a file.
LONGEST_WORD, LONGEST = 240, 1000
_CONTROL = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029]')


def one_line(text: str) -> str:
    """
    Make a message one line of limited length, whatever of the input it cites.

    Control characters are escaped: a name could hold a line break, or command a terminal.
    """
    plain = _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)
    return _cut(' '.join(_cut(word, LONGEST_WORD) for word in plain.split(' ')), LONGEST)


def _cut(text: str, longest: int) -> str:
    """Leave out the middle of a long text: a message ends with the remedy."""
    if len(text) <= longest:
        return text
    return f'{text[:longest // 3]}...({len(text)} characters)...{text[-longest // 3:]}'


class DynidError(Exception):
    """Base of everything that this package raises on purpose; its message is one line."""

    def __init__(self, message: str = '') -> None:
        super().__init__(one_line(message))


class InputError(DynidError):
    """Wrong use, or unreadable input: the message names the place and the remedy."""


class ArmError(InputError):
    """The description of the arm (URDF, DH table, arm.yaml) is unusable."""


class RecordingError(InputError):
    """A recording cannot be read or cannot be identified from."""


class ResultError(InputError):
    """A result folder or file is missing, damaged or cannot be written."""


class DynidWarning(UserWarning):
    """A doubt or a choice that a user should know; the command line prints each as one line."""


class ArmWarning(DynidWarning):
    """A description of an arm leaves something open, and a value is taken for it."""
