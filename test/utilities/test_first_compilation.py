"""The kernels are compiled once, and somebody hears of it."""

import os
import subprocess
import sys

import pytest

from dynid_ros.utilities.compiled import NOTICE

# Prints which kernels it compiled, and what it said; not those that it found in the cache.
COMPILE = """
from numba.core import event
import numpy as np
from dynid_ros.data.recordings.history import history_of
from dynid_ros.utilities.progress import listening
with listening(lambda stage, _: print(stage)), event.install_recorder('numba:compile') as found:
    history_of(np.arange(50.0), np.ones((50, 2)))
for _, each in found.buffer:
    kernel = each.data['dispatcher'].py_func
    if each.is_start and kernel.__module__.startswith('dynid_ros'):
        print(kernel.__name__)
"""

KERNELS = ['warm_up', 'follow']


@pytest.fixture
def fresh(tmp_path):
    """Environment of a machine on which nothing was compiled."""
    return {**os.environ, 'NUMBA_CACHE_DIR': str(tmp_path / 'cache')}


def start(environment):
    return subprocess.Popen(
        [sys.executable, '-c', COMPILE], env=environment, text=True, stdout=subprocess.PIPE)


@pytest.mark.slow
def test_the_first_run_says_so_and_the_second_is_silent(fresh):
    assert start(fresh).communicate()[0].splitlines() == [*len(KERNELS) * [NOTICE], *KERNELS]
    assert start(fresh).communicate()[0] == ''
