# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Threads of the BLAS: one within the calls of a user, and the user's setting after them."""

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import subprocess
import sys

import numpy as np
import pytest
from results import identification
from synthetic_recordings import coloured, recording, Waves
from threadpoolctl import threadpool_info, ThreadpoolController

import dynid_ros as dyn
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.utilities import one_thread as module
from dynid_ros.utilities.one_thread import one_thread

PACKAGE = str(Path(dyn.__file__).parent)
#: More than the test run itself has.
USERS = 3
ARM = dyn.load_arm('two_axis')


def log():
    theta = base_parameters(ARM).grouping @ nominal_parameters(ARM)
    noise = coloured(np.random.default_rng(0), 3000, 0.1 * np.ones(ARM.n), 0.9)
    return recording(ARM, Waves.random(ARM, seed=1), theta, noise)


def session():
    samples = log()
    online = dyn.OnlineIdentifier(ARM, cutoff_hz=5.0, delay=0.0)
    online.push(samples.t, samples.q, samples.u)
    return online


@pytest.fixture
def blas():
    """Give the pools of the BLAS the user's setting, which no thread holds."""
    pools = ThreadpoolController().select(user_api='blas')
    assert len(pools), 'the BLAS of this NumPy has no threads that threadpoolctl knows'
    limit = pools.limit(limits=USERS)
    with pools.limit():
        pass
    yield pools
    limit.restore_original_limits()
    with pools.limit():
        pass


def threads():
    return {pool['num_threads'] for pool in threadpool_info() if pool['user_api'] == 'blas'}


def within(blas, call):
    """Return the numbers of threads while functions of the package run that call enters."""
    seen = set()

    def look(frame, event, _):
        file = frame.f_code.co_filename
        if event == 'call' and file.startswith(PACKAGE) and file != module.__file__:
            seen.update(pool['num_threads'] for pool in blas.info())

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


CALLS = {
    'identify': lambda: (dyn.identify, ARM, [log()]),
    'estimate': lambda: (session().estimate,),
    'result': lambda: (session().result,),
    'standard_parameters': lambda: (identification(ARM).standard_parameters,),
    'torque_std': lambda: (identification(ARM).torque_std, *np.zeros((3, 5, ARM.n))),
    'design_excitation': lambda: (dyn.design_excitation, ARM),
}
SETTINGS = {'design_excitation': {'harmonics': 2, 'starts': 1, 'seconds': 0.1}}


@pytest.mark.slow
@pytest.mark.parametrize('name', CALLS)
def test_a_call_has_one_thread_and_the_user_the_same_as_before_after_it(blas, name):
    function, *arguments = CALLS[name]()
    assert within(blas, lambda: function(*arguments, **SETTINGS.get(name, {}))) == {1}
    assert threads() == {USERS}


@pytest.mark.usefixtures('blas')
def test_a_call_that_fails_gives_the_setting_back():
    with pytest.raises(dyn.DynidError):
        dyn.identify(ARM, [])
    assert threads() == {USERS}


@pytest.mark.usefixtures('blas')
def test_of_calls_in_several_threads_the_last_gives_the_setting_back():
    first, second = one_thread(), one_thread()
    with ThreadPoolExecutor(1) as other:
        other.submit(first.__enter__).result()
        second.__enter__()
        other.submit(first.__exit__, None, None, None).result()
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == {USERS}
        # The other thread may set it again, while this one lives on.
        third = one_thread()
        other.submit(third.__enter__).result()
        assert threads() == {1}
        other.submit(third.__exit__, None, None, None).result()
        assert threads() == {USERS}


def test_without_threadpoolctl_the_threads_stay_as_they_are(blas, monkeypatch):
    monkeypatch.setitem(sys.modules, 'threadpoolctl', None)
    module._pools.cache_clear()
    try:
        with one_thread():
            assert {pool['num_threads'] for pool in blas.info()} == {USERS}
    finally:
        module._pools.cache_clear()


def test_the_package_leaves_the_environment_of_its_user_alone():
    code = 'import os, dynid_ros; before = dict(os.environ); dynid_ros.identify; ' \
        'print(os.environ == before)'
    environment = {name: value for name, value in os.environ.items() if 'THREADS' not in name}
    done = subprocess.run([sys.executable, '-c', code], env=environment, text=True,
                          capture_output=True, check=True)
    assert done.stdout == 'True\n'
