# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Exceptions for users; the command line prints each as one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import re
import sys

#: Characters of a word, and of a message, above which the middle is left out. Names, paths and a
#: list of the joints of a humanoid stay complete, but no message echoes a file.
LONGEST_WORD, LONGEST_MESSAGE = 240, 1000
#: Most characters of an unexpected error in a message.
LONGEST_FAULT = 300
#: Names on PyPI of the packages that are imported by another name, or come with another package.
PYPI = {'yaml': 'pyyaml', 'pinocchio': 'pin', 'coal': 'pin', 'trimesh': 'viser'}
_CONTROL = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029]')


def one_line(text: str) -> str:
    """
    Make a message one line of limited length, whatever input it cites.

    Control characters are escaped: a name could contain a line break, or commands to a terminal.
    """
    plain = _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)
    return _cut(' '.join(_cut(word, LONGEST_WORD) for word in plain.split(' ')), LONGEST_MESSAGE)


def _cut(text: str, longest: int) -> str:
    """Leave out the middle of a long text: a message ends with the remedy."""
    if len(text) <= longest:
        return text
    return f'{text[:longest // 3]}...({len(text)} characters)...{text[-longest // 3:]}'


def written_down(error: Exception, given: Sequence[str] = ()) -> str:
    """
    Write an unexpected error to a file, and return it in one line with its place.

    Parameters
    ----------
    error : Exception
        The error.
    given : sequence of str
        Arguments that have led to it, for the file.

    Returns
    -------
    str
        The line.

    """
    import tempfile
    import traceback

    from dynid_ros import __version__

    line = ' '.join(f'{type(error).__name__}: {error}'.split())[:LONGEST_FAULT]
    text = '\n'.join([f'dynid {__version__}, Python {sys.version}', ' '.join(given),
                      *traceback.format_exception(error)])
    try:
        with tempfile.NamedTemporaryFile(
                'w', prefix='dynid-', suffix='.txt', delete=False, encoding='utf-8',
                errors='replace') as file:
            file.write(text)
    except OSError:
        return f'{line}; it could not be written down'
    return f'{line}; please report it with {file.name}'


def missing_package(error: ImportError) -> str:
    """Return the sentence for a package that is not installed or unfit, with the remedy."""
    if not isinstance(error, ModuleNotFoundError):
        return (f'cannot use a Python package beside the others here: {reason_of(error)}; '
                'install versions that fit (dynid doctor lists those that are there)')
    package = str(error.name).partition('.')[0]
    return (f'needs the Python package {package}, which is not installed; install it '
            f'(pip install {PYPI.get(package, package)})')


def reason_of(error: Exception) -> str:
    """Return the message of an error of a library in one line; its type where it has none."""
    return ' '.join(str(error).split()) or type(error).__name__


def listed(names: Sequence[str], most: int = 5) -> str:
    """List names, or the first few and how many more there are."""
    more = f' and {len(names) - most} more' if len(names) > most else ''
    return ', '.join(names[:most]) + more


class DynidError(Exception):
    """Base of all intended exceptions of this package; its message is one line."""

    def __init__(self, message: str = '') -> None:
        super().__init__(one_line(message))


class InputError(DynidError):
    """Wrong use, or unreadable input: the message names the place and the remedy."""


class ArmError(InputError):
    """The description of the arm (URDF, DH table, arm.yaml) is unusable."""


class RecordingError(InputError):
    """A recording cannot be read or cannot be identified from."""


@contextmanager
def about(*sources: str) -> Iterator[None]:
    """Add the names of files to a `RecordingError` from code that knows only samples."""
    try:
        yield
    except RecordingError as error:
        if str(error).startswith(tuple(f'{source}:' for source in sources)):
            raise
        raise RecordingError(f'{listed(sources)}: {error}') from error


class ResultError(InputError):
    """A result folder or file is missing, damaged or cannot be written."""


class DynidWarning(UserWarning):
    """A doubt or a choice that a user should know; the command line prints each as one line."""


class ArmWarning(DynidWarning):
    """A description of an arm is incomplete, and a default is taken."""
