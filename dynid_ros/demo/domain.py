"""A ROS domain on this machine that nobody uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import fcntl
import os
from pathlib import Path
import random
import socket
import tempfile

from dynid_ros.errors import InputError

#: Domains to choose from: above those that people set, below the ports that Linux hands out.
DOMAINS = range(60, 102)


@contextmanager
def own_domain() -> Iterator[int]:
    """
    Take a domain of this machine for this process and its children.

    Yields
    ------
    int
        Its number, which is in the environment too.

    Raises
    ------
    InputError
        All are in use.

    """
    for number in random.sample(DOMAINS, len(DOMAINS)):
        path = Path(tempfile.gettempdir()) / f'dynid_demo_{os.getuid()}_{number}.lock'
        with path.open('w') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            if _silent(number):
                os.environ['ROS_DOMAIN_ID'] = str(number)
                os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
                yield number
                path.unlink(missing_ok=True)
                return
    raise InputError('every ROS domain that a demonstration may use is in use on this machine')


def _silent(number: int) -> bool:
    """Whether no participant has the first port of a domain."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('127.0.0.1', 7410 + 250 * number))
        except OSError:
            return False
    return True
