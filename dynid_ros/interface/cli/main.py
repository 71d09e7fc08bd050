# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The ``dynid`` command: one subcommand a module, whose docstring is its help."""

from __future__ import annotations

from argparse import Action, ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
import io
import os
import re
import sys
from typing import Any, NoReturn
import warnings

from dynid_ros.errors import (
    DynidError,
    DynidWarning,
    InputError,
    missing_package,
    one_line,
    written_down,
)
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.output import add_answer, print_answer, shown_progress

#: Names of the commands, in the order of the help; each has the module of its name.
COMMANDS = (
    'demo', 'init', 'design', 'simulate', 'check', 'convert', 'identify', 'gains', 'fleet',
    'replay', 'validate', 'payload', 'sensor', 'monitor', 'report', 'view', 'export',
    'feedforward', 'external-force', 'pose-error', 'run', 'watch', 'doctor')
#: Those that run nodes, which speak for themselves.
WITHOUT_ANSWER = ('run', 'watch')

UNUSABLE, FAULT, INTERRUPTED, BROKEN_PIPE = 2, 70, 130, 141


class _Version(Action):
    """Print the version, for which most commands have no need to look."""

    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        from dynid_ros import __version__

        print(f'dynid {__version__}')
        parser.exit()


def build_parser(
    commands: Sequence[str] = COMMANDS, *, arguments: bool = True,
) -> ArgumentParser:
    """Build the parser of some of the commands, or of all of them, with their arguments or not."""
    class Parser(ArgumentParser):

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            # Python takes -1e-3 for an option.
            self._negative_number_matcher = re.compile(r'-(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$', re.I)

        def error(self, message: str) -> NoReturn:
            self.exit(UNUSABLE, one_line(f'{self.prog}: {message}; see {self.prog} --help') + '\n')

    parser = Parser(
        prog='dynid',
        description='Dynamic identification of robot arms, from recording to validated model.',
        epilog='Exit status: 0 good, 1 the data or the result is not trustworthy, '
               '2 wrong use or unreadable input, 70 a fault of dynid itself, 130 interrupted.',
    )
    parser.add_argument('--version', action=_Version, nargs=0, help='print the version')
    subparsers = parser.add_subparsers(
        title='commands', dest='command', required=True,
        # The usage lists all of them, whichever are built.
        metavar=None if commands == COMMANDS else f'{{{",".join(COMMANDS)}}}')
    for name in commands:
        module = import_module(f'dynid_ros.interface.cli.{name.replace("-", "_")}')
        title, _, about = (module.__doc__ or '').strip().partition('\n\n')
        command = subparsers.add_parser(
            name, help=title[:1].lower() + title[1:].rstrip('.'), description=about)
        if arguments:
            module.add_arguments(command)
            if name not in WITHOUT_ANSWER:
                add_answer(command)
            command.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Of the command line; the process's by default.

    Returns
    -------
    int
        Exit status.

    """
    given = sys.argv[1:] if arguments is None else arguments
    name = f'dynid {given[0]}' if given and given[0] in COMMANDS else 'dynid'
    # Python has no stream where a shell has closed it.
    sys.stdout, sys.stderr = sys.stdout or io.StringIO(), sys.stderr or io.StringIO()
    try:
        try:
            return _run(given)
        finally:
            # The help, too.
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _tell(f'{name}: interrupted', INTERRUPTED)
    except DynidError as error:
        return _tell(f'{name}: {error}', UNUSABLE)
    except OSError as error:
        # The output itself may be what cannot be written, or its reader, such as head, closed it.
        _end_output()
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        where = '' if error.filename is None else f'{error.filename}: '
        return _tell(f'{name}: {where}{(error.strerror or str(error)).lower()}', UNUSABLE)
    except Exception as error:
        # An import that fails in this package is a fault of its own.
        if isinstance(error, ImportError) and not str(error.name).startswith('dynid_ros'):
            return _tell(f'{name}: {missing_package(error)}', UNUSABLE)
        # A script must not take it for a result that is not trustworthy.
        return _tell(f'{name}: a fault of dynid: {written_down(error, given)}', FAULT)


def _run(given: Sequence[str]) -> int:
    for word in given:
        # NUL, or bytes of another encoding, which Python keeps as surrogates.
        if re.search('[\0\ud800-\udfff]', word):
            raise InputError(f'{word!a} is no text in UTF-8; give the file another name')
    # An ASCII terminal shows a question mark for each other character.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors='replace')
    if '_ARGCOMPLETE' in os.environ:
        import argcomplete

        argcomplete.autocomplete(build_parser())
    # A command needs the module of no other; the help shows the titles of all of them.
    given = given[1:] if given[:1] == ['--'] else given
    chosen = bool(given) and given[0] in COMMANDS
    commands = given[:1] if chosen else COMMANDS
    parsed = build_parser(commands, arguments=chosen).parse_args(given)
    # No command renders, and to look for a display takes longer than to import the rest of MuJoCo.
    os.environ['MUJOCO_GL'] = 'disable'
    with _plain_warnings():
        with shown_progress():
            found: Answer | int = parsed.run(parsed)
        return found if isinstance(found, int) else print_answer(found, parsed)


def _tell(line: str, status: int = 0) -> int:
    """Print a line for the user, if there is anywhere to print it; return the exit status."""
    with suppress(OSError):
        print(one_line(line), file=sys.stderr)
    return status


def _end_output() -> None:
    """Flush the output, or drop it: Python would complain at its exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print each warning of this package once, as a line of its own."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Any, category: Any, *place: Any, **named: Any) -> None:
            if issubclass(category, DynidWarning):
                _tell(f'warning: {message}')
            else:
                others(message, category, *place, **named)

        warnings.simplefilter('once', DynidWarning)
        warnings.showwarning = show
        yield


if __name__ == '__main__':
    sys.exit(main())
