"""The kernels are compiled once, whichever processes need them first, and somebody hears of it."""

import fcntl
import importlib.util
import os
from pathlib import Path
import subprocess
import sys

from numba.core.errors import TypingError
import pytest

from dynid_ros.first_compilation import FolderLock, LOCK, NOTICE

# Prints which kernels it compiled, and what it said; not those that it found in the cache.
COMPILE = """
from numba.core import event
import numpy as np
from dynid_ros.signals.filters import differentiate
from dynid_ros.signals.butterworth import butterworth
from dynid_ros.first_compilation import announced
with announced(print), event.install_recorder('numba:compile') as found:
    butterworth(differentiate(np.ones((50, 2)), 100.0), 100.0, 5.0)
for _, each in found.buffer:
    kernel = each.data['dispatcher'].py_func
    if each.is_start and kernel.__module__.startswith('dynid_ros'):
        print(kernel.__name__)
"""

KERNELS = ['five_points', 'filter_part']

TWICE = """
from dynid_ros.compiled import kernel

@kernel
def twice(x):
    return x + x.sum()
"""


@pytest.fixture
def fresh(tmp_path):
    """Environment of a machine on which nothing was compiled."""
    return {**os.environ, 'NUMBA_CACHE_DIR': str(tmp_path / 'cache')}


def start(environment):
    return subprocess.Popen(
        [sys.executable, '-c', COMPILE], env=environment, text=True, stdout=subprocess.PIPE)


@pytest.mark.slow
def test_processes_that_start_at_once_compile_each_kernel_once(fresh):
    processes = [start(fresh) for _ in range(3)]
    lines = [line for process in processes for line in process.communicate()[0].splitlines()]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sorted(set(lines)) == sorted({*KERNELS, NOTICE})
    assert [lines.count(kernel) for kernel in KERNELS] == [1, 1]


@pytest.mark.slow
def test_the_first_run_says_so_once_and_the_second_is_silent(fresh):
    assert start(fresh).communicate()[0].splitlines() == [NOTICE, *KERNELS]
    assert start(fresh).communicate()[0] == ''


def test_a_compilation_that_fails_keeps_no_other_process_waiting(tmp_path):
    (tmp_path / 'twice.py').write_text(TWICE)
    spec = importlib.util.spec_from_file_location('twice', tmp_path / 'twice.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(TypingError):
        module.twice('text')
    with (Path(module.twice._cache.cache_path) / LOCK).open('ab') as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_folder_that_cannot_be_written_needs_no_lock(tmp_path):
    file = tmp_path / 'file'
    file.touch()
    lock = FolderLock(file)
    with lock.given_back():
        lock.take()
    assert not (tmp_path / LOCK).exists()
