# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A test run that is killed leaves no process behind, wherever that has gone."""

import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import time

from left_behind import processes_of, VARIABLE
import pytest
from ros.nodes.forked import forks

HERE = Path(__file__).parent
#: Time that a busy machine is given, s.
PATIENCE = 60.0
#: A child, one in a session of its own that ignores all that it may, and a child of that.
STARTS = """
import subprocess
import sys
import time

STAYS = 'import time; time.sleep(600)'
DEAF = '''
import signal, subprocess, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
print(subprocess.Popen([sys.executable, '-c', sys.argv[1]]).pid, flush=True)
time.sleep(600)
'''


def test_that_is_killed():
    child = subprocess.Popen([sys.executable, '-c', STAYS])
    deaf = subprocess.Popen([sys.executable, '-c', DEAF, STAYS], start_new_session=True,
                            stdout=subprocess.PIPE, text=True)
    grandchild = deaf.stdout.readline().strip()
    with open('started', 'w') as file:
        file.write(f'{child.pid} {deaf.pid} {grandchild}\\n')
    time.sleep(END)
"""


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f'not within {PATIENCE} s'
        time.sleep(0.02)


def alive(process):
    """Whether a process runs; one that has ended may wait for somebody to ask how."""
    try:
        fields = Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[0] != 'Z'


@pytest.fixture
def run(tmp_path):
    """Start pytest with this conftest.py on a test that starts processes; return it and them."""
    def begin(seconds):
        for name in ('conftest.py', 'left_behind.py'):
            shutil.copy(HERE / name, tmp_path)
        (tmp_path / 'test_starts.py').write_text(STARTS.replace('END', str(seconds)))
        path = os.pathsep.join([str(HERE.parent), str(tmp_path)])
        pytest_itself = subprocess.Popen(
            [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', 'test_starts.py'],
            cwd=tmp_path, stdout=subprocess.DEVNULL,
            env={**os.environ, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1', 'PYTHONPATH': path})
        started = tmp_path / 'started'
        until(lambda: started.exists() and started.read_text().endswith('\n'))
        return pytest_itself, [int(each) for each in started.read_text().split()]

    return begin


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_killed_leaves_nothing(run, number):
    pytest_itself, started = run(seconds=600)
    assert len(started) == 3 and all(map(alive, started))
    pytest_itself.send_signal(number)
    assert pytest_itself.wait(PATIENCE) == -number
    until(lambda: not any(map(alive, started)))


def test_a_run_that_ends_leaves_nothing(run):
    pytest_itself, started = run(seconds=0)
    assert pytest_itself.wait(PATIENCE) == 0
    until(lambda: not any(map(alive, started)))


def test_forked_nodes_belong_to_this_run():
    # They are no children of this process, and their environment is set after the fork.
    forked = forks().Process(target=time.sleep, args=(600,))
    forked.start()
    try:
        assert forked.pid in set(processes_of(os.environ[VARIABLE].split()[-1]))
    finally:
        forked.kill()
        forked.join()
