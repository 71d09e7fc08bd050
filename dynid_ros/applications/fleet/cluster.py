# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Distribute work over a Dask cluster, on this machine or others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import islice
import logging
import tempfile
from typing import Any

from dynid_ros.errors import DynidError, InputError
from dynid_ros.utilities.progress import progress

#: Run independent work, given the name of the stage, a function, and its arguments by key. Return
#: the results by key: None if each worker dies of the work.
Spread = Callable[[str, Callable[..., Any], Mapping[int, tuple[Any, ...]]], dict[int, Any]]

#: Most tasks that wait in the scheduler: a million would fill its memory.
WAITING = 2000
#: Deaths of workers after which their task counts as the cause.
RETRIES = 3
LOST_SCHEDULER = 'the Dask scheduler was lost; run the command again, finished sidecars are kept'


def one_by_one(
    stage: str, work: Callable[..., Any], arguments: Mapping[int, tuple[Any, ...]],
) -> dict[int, Any]:
    """Do the work in this process, for few and short bags."""
    results = ((key, work(*each)) for key, each in arguments.items())
    return _with_progress(stage, len(arguments), results)


@contextmanager
def cluster(scheduler: str | None) -> Iterator[Spread]:
    """
    Connect to a cluster, or make one with a process for each processor of this machine.

    Parameters
    ----------
    scheduler : str or None
        Address such as ``tcp://10.0.0.1:8786``; its workers need this package and the folders.

    Yields
    ------
    Spread
        Work on the cluster.

    Raises
    ------
    InputError
        Dask is not installed, or the scheduler cannot be reached.

    """
    try:
        import dask
        from distributed import Client
        from distributed.comm import CommClosedError
    except ModuleNotFoundError as error:
        raise InputError(
            "a fleet needs Dask; install it (pip install 'dask[distributed]' fsspec)"
        ) from error
    # Dask logs each worker that dies; the command reports the consequence.
    for name in ('distributed', 'distributed.client', 'distributed.utils'):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {'distributed.scheduler.allowed-failures': RETRIES,
                'distributed.comm.retry.count': 2, 'distributed.logging.distributed': 'critical'}
    with dask.config.set(settings), tempfile.TemporaryDirectory(prefix='dynid-dask-') as folder:
        own = {'threads_per_worker': 1, 'processes': True, 'dashboard_address': '127.0.0.1:0',
               'local_directory': folder, 'silence_logs': logging.CRITICAL}
        try:
            client = Client(**own) if scheduler is None else Client(scheduler, timeout='10s')
        except (OSError, ValueError) as error:
            raise InputError(
                f'no Dask scheduler answers at {scheduler}: {error}; start one with '
                '"dask scheduler"') from error
        with client:
            if scheduler is None:
                # Tornado logs a heartbeat during the close of the cluster as an error.
                client.run(logging.disable, logging.CRITICAL)
            try:
                yield lambda stage, work, arguments: _with_progress(
                    stage, len(arguments), _on_workers(client, work, arguments))
            except DynidError:
                raise
            except (Exception, asyncio.CancelledError) as error:
                # A client that loses its scheduler raises different exceptions at different times.
                if client.status == 'running' and not isinstance(
                        error, (asyncio.CancelledError, CancelledError, CommClosedError)):
                    raise
                raise InputError(LOST_SCHEDULER) from error


def _on_workers(
    client: Any, work: Callable[..., Any], arguments: Mapping[int, tuple[Any, ...]],
) -> Iterator[tuple[int, Any]]:
    """Yield keys and results in the order in which workers finish."""
    from distributed import as_completed, KilledWorker

    left = iter(arguments.items())
    while keys := {client.submit(work, *each, pure=False): key
                   for key, each in islice(left, WAITING)}:
        for future in as_completed(list(keys)):
            killed = future.status == 'error' and isinstance(future.exception(), KilledWorker)
            # A future of a scheduler that was lost is cancelled, and has no result.
            yield keys.pop(future), None if killed else future.result()


def _with_progress(
    stage: str, count: int, results: Iterable[tuple[int, Any]],
) -> dict[int, Any]:
    found = {}
    for key, result in results:
        found[key] = result
        progress(f'{stage}: {len(found)} of {count}', len(found) / count)
    return found
