# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The demonstration: real node processes, from the motion to the comparison, and what ends it."""

from importlib.util import find_spec
import os
from pathlib import Path
import pty
import re
import signal
import subprocess
import sys
import time

from browsers import chromium, FewFrames, visit
import numpy as np
import pytest
from scipy.stats import chi2

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import DynidError
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.demo.processes import own_domain
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.motion.trajectory.motion_pair import MotionPair

pytestmark = pytest.mark.skipif(find_spec('mujoco') is None, reason='mujoco is not installed')
ARM = 'two_axis'


def processes_of(folder: Path) -> list[int]:
    """Find processes that have a folder on their command lines."""
    found = []
    for line in Path('/proc').glob('[0-9]*/cmdline'):
        try:
            words = line.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(folder).encode() in words:
            found.append(int(line.parent.name))
    return found


def until(condition, what: str, seconds: float = 180.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f'{what}: not within {seconds} s'
        time.sleep(0.05)


class Demo:
    """``dynid demo`` in a process of its own."""

    def __init__(self, folder: Path, *options: str, stdin: int = subprocess.DEVNULL) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'dynid_ros.interface.cli.main', 'demo', ARM, '-o', str(folder),
             *options],
            text=True, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            # A test run in the background of a shell ignores Ctrl-C, and so would the command.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def until_it_records(self) -> None:
        log = self.folder / 'logs' / 'recorder.log'
        until(lambda: log.is_file() and 'recording' in log.read_text(), 'a recording')

    def recorded(self) -> int:
        """Return the number of samples in the bag, which may still grow."""
        bag = next((self.folder / 'recordings').glob('*/bag'), None)
        try:
            return len(read_recording(bag, load_arm(ARM)).t) if bag else 0
        except DynidError:
            return 0

    def page(self) -> str:
        """Return the address of the live page once it is there."""
        log = self.folder / 'logs' / 'watch.log'
        found = None

        def told() -> bool:
            nonlocal found
            found = log.is_file() and re.search(r'http://\S+', log.read_text())
            return bool(found)

        until(told, 'the address of the page')
        return found[0]

    def node(self, name: str) -> int | None:
        """Process of a node."""
        return next((pid for pid in processes_of(self.folder)
                     if f'dynid_ros.ros.nodes.{name}'.encode()
                     in Path(f'/proc/{pid}/cmdline').read_bytes()), None)

    def domain(self, name: str) -> bytes:
        """Domain of a node."""
        environment = Path(f'/proc/{self.node(name)}/environ').read_bytes().split(b'\0')
        return next(each for each in environment if each.startswith(b'ROS_DOMAIN_ID='))

    def end(self) -> tuple[int, str]:
        printed, _ = self.process.communicate(timeout=180)
        until(lambda: not processes_of(self.folder), 'the end of all nodes')
        return self.process.returncode, printed


@pytest.fixture
def demo(tmp_path):
    """Start demonstrations that are gone after the test."""
    begun = []

    def begin(name: str = 'demo', *options: str, **streams: int) -> Demo:
        begun.append(Demo(tmp_path / name, *options, **streams))
        return begun[-1]

    yield begin
    for one in begun:
        if not one.process.stdout.closed:
            one.process.kill()
            # The reason, where a test waited in vain.
            print(one.process.communicate()[0])


@pytest.fixture
def terminal():
    """Return a terminal at which nobody types."""
    ours, theirs = pty.openpty()
    yield theirs
    os.close(ours)
    os.close(theirs)


def test_chain_of_processes_finds_the_parameters_of_the_simulation(tmp_path, monkeypatch):
    from dynid_ros.interface.demo.course import RATE, run_chain

    monkeypatch.setenv('ROS_DOMAIN_ID', '')
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', '')
    arm = load_arm(ARM)
    motion = MotionPair(random_motion(arm, 3, period=4.0, periods=1),
                        random_motion(arm, 4, period=3.5, periods=1), 1.0)
    write_motion(tmp_path / 'excitation.yaml', motion, arm)
    with own_domain():
        found = run_chain(ARM, tmp_path, tmp_path / 'excitation.yaml', 0)
    # The square of the root mean square of k errors in their standard deviations is chi-square
    # with k degrees of freedom, over k, where the error bars are honest. In simulated time it is
    # the same in all runs.
    k = found['parameters']
    furthest = float(np.sqrt(chi2.isf(1e-4, k) / k))
    # Eight seconds leave some percent; the error bars say how many.
    for each in (found['online'], found['batch']):
        assert each['off_percent'] < 10
        assert each['off_in_std'] < furthest
        assert each['torque_error_percent'] < 10
    assert found['apart_percent'] < 10
    bag = next((tmp_path / 'recordings').glob('*/bag'))
    log = read_recording(bag, arm)
    assert log.seconds > motion.duration
    result = read_result(tmp_path / 'result')
    assert result.validation.source.startswith('validation motion of bag') and not result.repeats
    (begin, end), = log.validation
    # The states are those after the commands.
    assert end - begin == pytest.approx(motion.way + 3.5, abs=0.02)
    assert log.q[log.t < begin][-1] == pytest.approx(motion.start, abs=0.02)
    np.testing.assert_allclose(np.diff(log.t), 1 / RATE, atol=1e-8)
    assert '</html>' in (tmp_path / 'result' / 'report.html').read_text()


def test_crash_ends_its_own_demonstration_only_and_ctrl_c_keeps_what_another_recorded(
        demo, terminal):
    pytest.importorskip('viser', reason='viser is not installed')
    with chromium() as browser:
        # With somebody at a terminal the page stays when the motion has ended, for a slow browser.
        crashed, other = demo('crashed'), demo('other', '--real-time', '--view', stdin=terminal)
        for one in (crashed, other):
            until(lambda one=one: one.node('trajectory_publisher'), 'the last node')
        assert crashed.domain('recorder') != other.domain('recorder')
        os.kill(crashed.node('identifier'), signal.SIGKILL)
        status, printed = crashed.end()
        assert status == 2
        assert 'Traceback' not in printed
        assert 'dynid demo: identifier was killed by signal 9' in printed
        assert all(other.node(name) for name in ('identifier', 'recorder', 'simulated_arm'))
        check_page(tab := visit(FewFrames(browser), other.page()))
        until(lambda: other.recorded() > 100, 'a hundred samples')
        before = other.recorded()
        other.process.send_signal(signal.SIGINT)
        status, printed = other.end()
        assert status == 130
        assert printed.splitlines()[-1] == 'dynid demo: interrupted'
        assert 'Traceback' not in printed
        assert other.recorded() >= before
        tab.locator('.no-news').wait_for()


def check_page(tab):
    """See the phase, estimates in their bands, and the error of torques before they were used."""
    # On a slow machine the motion may be further than that once the page is drawn.
    tab.get_by_text(re.compile('^(running|validating|holding)$')).first.wait_for()
    tab.get_by_text(re.compile(r'^-?[0-9.e-]+ ± [0-9.e-]+$')).first.wait_for()
    tab.get_by_text(re.compile(r'^[0-9.]+ % ± ')).first.wait_for()
    assert tab.complaints == []


PARENT = """
from pathlib import Path
import sys, time
from dynid_ros.interface.demo.processes import own_domain, Processes
with own_domain(), Processes(Path(sys.argv[1])) as running:
    running.start('recorder', arm='two_axis', output_folder=sys.argv[1])
    time.sleep(600)
"""


def test_a_killed_demonstration_leaves_no_node_behind(tmp_path):
    with subprocess.Popen([sys.executable, '-c', PARENT, str(tmp_path)]) as parent:
        until(lambda: len(processes_of(tmp_path)) == 2, 'a node')
        parent.kill()
    until(lambda: not processes_of(tmp_path), 'the end of the node')


def test_folder_that_exists_is_not_overwritten(demo, tmp_path):
    (tmp_path / 'demo').mkdir()
    (tmp_path / 'demo' / 'notes.txt').touch()
    status, printed = demo().end()
    assert status == 2
    assert 'exists already' in printed
