# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A node in a process that was forked from one that has everything imported."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from multiprocessing.forkserver import ensure_running
import os
from pathlib import Path
import signal
import sys

FOLDER = Path(__file__).resolve().parents[3]


@cache
def forks() -> ForkServerContext:
    """Start the process that is forked."""
    before = os.environ.get('PYTHONPATH')
    os.environ['PYTHONPATH'] = os.pathsep.join([*sys.path, str(FOLDER)])
    context = get_context('forkserver')
    context.set_forkserver_preload(['ros.nodes.loaded_nodes'])
    ensure_running()
    if before is None:
        del os.environ['PYTHONPATH']
    else:
        os.environ['PYTHONPATH'] = before
    return context


def run_node(
    module: str, arguments: Sequence[str], log: Path, environment: dict[str, str],
) -> None:
    """Be a node from now on, as ``python -m`` of its module would."""
    be_alone(log, environment)
    sys.argv = [module, *arguments]
    sys.exit(import_module(f'dynid_ros.ros.nodes.{module}').main())


def be_alone(log: Path, environment: dict[str, str]) -> None:
    """Take another environment, and write to a file, as a process that a shell has started."""
    os.setsid()
    # Under nohup the test run ignores the end of its terminal, and so would the node.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(FOLDER)
    out = os.open(log, os.O_WRONLY | os.O_APPEND)
    for number in (1, 2):
        os.dup2(out, number)
    os.environ.clear()
    os.environ.update(environment)
