# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
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

KERNELS = ['find_steps', 'update_mean_squares', 'integrate_bends']


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


# Prints whether Numba registered what it can compile, then the results of a kernel that calls
# another one, allocates, and calls functions of C.
LOADED = """
import sys
from numba.core.registry import cpu_target
import numpy as np
from dynid_ros.utilities.compiled import kernel

@kernel
def inner(x):
    return np.exp(np.sin(x)) + np.cbrt(x) + np.tanh(x) + np.floor(x)

@kernel
def outer(x):
    found = np.empty(x.size)
    for k in range(x.size):
        found[k] = inner(x[k]) / x[k]
    return found

x = np.linspace(-2.0, 2.0, 5)
for x in (x, x.astype(np.float32))[:int(sys.argv[1])]:
    with np.errstate(all='ignore'):
        known = (np.exp(np.sin(x)) + np.cbrt(x) + np.tanh(x) + np.floor(x)) / x
    print(np.allclose(outer(x), known, 1e-6), bool(cpu_target.target_context._registries))
"""


def test_machine_code_is_loaded_without_what_compilation_needs(fresh, tmp_path):
    (tmp_path / 'loaded.py').write_text(LOADED)
    # The last one loads a kernel and then compiles it for other numbers.
    for types, registered in ((1, [True]), (1, [False]), (2, [False, True])):
        done = subprocess.run([sys.executable, str(tmp_path / 'loaded.py'), str(types)],
                              env=fresh, check=True, text=True, stdout=subprocess.PIPE)
        assert done.stdout.splitlines() == [f'True {each}' for each in registered]


STALE = """
import sys
sys.path.insert(0, sys.argv[1])
from outer import outer
print(outer(1.0))
"""


def test_machine_code_is_made_anew_when_what_it_uses_changes(tmp_path):
    (tmp_path / 'outer.py').write_text(
        'from dynid_ros.utilities.compiled import kernel\nfrom inner import FACTOR, inner\n\n\n'
        '@kernel\ndef outer(x):\n    return FACTOR * inner(x)\n')
    inner = ('from dynid_ros.utilities.compiled import kernel\nFACTOR = {}\n\n\n'
             '@kernel\ndef inner(x):\n    return x + {}\n')
    for factor, summand in ((2, 1), (3, 1), (3, 2)):
        (tmp_path / 'inner.py').write_text(inner.format(factor, summand))
        # Python would keep the bytecode of a file of the same second and size.
        done = subprocess.run([sys.executable, '-B', '-c', STALE, str(tmp_path)], check=True,
                              text=True, stdout=subprocess.PIPE)
        assert float(done.stdout) == factor * (1.0 + summand)
