"""The ``dynid`` command: one subcommand a module."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
import os
import sys
from typing import TextIO
import warnings

from dynid_ros import __version__
from dynid_ros.errors import DynidError, DynidWarning

#: Names of the commands, in the order of the help; each has the module of its name.
COMMANDS = (
    'demo', 'init', 'design', 'simulate', 'check', 'identify', 'replay', 'validate', 'report',
    'export', 'external-force', 'pose-error', 'run')

GOOD, NOT_TRUSTWORTHY, UNUSABLE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


def build_parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """Build the parser of some of the commands, or of all of them."""
    parser = argparse.ArgumentParser(
        prog='dynid',
        description='Dynamic identification of robot arms, from recording to validated model.',
        epilog='Exit status: 0 good, 1 the data or the result is not trustworthy, '
               '2 wrong use or unreadable input.',
    )
    parser.add_argument('--version', action='version', version=f'dynid {__version__}')
    subparsers = parser.add_subparsers(
        title='commands', dest='command', required=True,
        # The usage lists all of them, whichever are built.
        metavar=None if commands == COMMANDS else f'{{{",".join(COMMANDS)}}}')
    for name in commands:
        import_module(f'dynid_ros.cli.{name.replace("-", "_")}').add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Of the command line; those of the process by default.

    Returns
    -------
    int
        Exit status.

    """
    given = sys.argv[1:] if arguments is None else arguments
    # A command needs the module of no other; the help shows all of them.
    commands = given[:1] if given and given[0] in COMMANDS else COMMANDS
    parsed = build_parser(commands).parse_args(given)
    try:
        with _plain_warnings():
            status: int = parsed.run(parsed)
        sys.stdout.flush()
    except DynidError as error:
        print(f'dynid {parsed.command}: {error}', file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print(f'dynid {parsed.command}: interrupted', file=sys.stderr)
        # CPython ends by the signal, whatever the status, if it came within exec() of a text, as
        # imports and rosbags do, unless another text was run since then.
        exec('')
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output, such as head, has closed it; Python would complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return status


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print each warning of this package once, as a line of its own."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], filename: str, lineno: int,
            file: TextIO | None = None, line: str | None = None,
        ) -> None:
            if issubclass(category, DynidWarning):
                print(f'warning: {message}', file=sys.stderr)
            else:
                others(message, category, filename, lineno, file, line)

        warnings.simplefilter('once', DynidWarning)
        warnings.showwarning = show
        yield


if __name__ == '__main__':
    sys.exit(main())
