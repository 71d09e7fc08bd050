"""
The demonstration's chain of processes in lockstep, on a free and on a busy machine.

Prints how long a motion of 30 s takes, with all processors free, with a busy process on each, and
with all nodes held to a third of their time by SIGSTOP, and whether the recordings and results
are the same bit for bit. Run it as ``python benchmarks/lockstep.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, ExitStack, suppress
import hashlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import threading
import time

from rosbags.rosbag2 import Reader

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.interface.cli.main import main as dynid
from dynid_ros.interface.demo.course import run_chain
from dynid_ros.interface.demo.processes import own_domain
import dynid_ros.ros.nodes  # noqa: F401 (brings rclpy where there is none)
from dynid_ros.ros.nodes.warm_up import compile_kernels

ARM = 'panda'
#: Validation motions have a shorter period than stated, here 7.7 s.
PERIOD, PERIODS = 10.0, 4
#: Times for which the nodes run and stand in the slowest condition, s.
RUN, STAND = 0.05, 0.1


@contextmanager
def free() -> Iterator[None]:
    yield


@contextmanager
def busy() -> Iterator[None]:
    """Keep each processor busy."""
    loops = [subprocess.Popen([sys.executable, '-c', 'while True: pass'])
             for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextmanager
def slowed() -> Iterator[None]:
    """Stop all nodes for two thirds of the time."""
    over = threading.Event()

    def hold() -> None:
        while not over.is_set():
            time.sleep(RUN)
            nodes = _nodes()
            for number, seconds in ((signal.SIGSTOP, STAND), (signal.SIGCONT, 0.0)):
                for pid in nodes:
                    with suppress(ProcessLookupError):
                        os.kill(pid, number)
                time.sleep(seconds)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _nodes() -> list[int]:
    """Process identifiers of the nodes."""
    found = []
    for path in Path('/proc').glob('[0-9]*/cmdline'):
        with suppress(OSError):
            if b'dynid_ros.ros.nodes.' in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def main() -> None:
    arm = load_arm(ARM)
    compile_kernels(arm, print)
    print(f'{"":10}{"wall, s":>9}{"motion, s":>11}{"held-out":>18}{"condition":>19}  recording')
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(own_domain())
        excitation = folder / 'excitation.yaml'
        dynid(['design', ARM, '--period', str(PERIOD), '--periods', str(PERIODS), '--starts', '1',
               '-o', str(excitation)])
        for condition in (free, busy, slowed):
            output = folder / condition.__name__
            with condition():
                found = run_chain(ARM, output, excitation, 0)
            bag = next((output / 'recordings').glob('*/bag'))
            log = read_recording(bag, arm)
            digest = hashlib.sha256(log.t.tobytes() + log.q.tobytes() + log.u.tobytes())
            with Reader(bag) as reader:
                # From the first to the last message, by the time at which they were received.
                wall = reader.duration * 1e-9
            print(f'{condition.__name__:10}{wall:9.1f}{log.seconds:11.1f}'
                  f'{found["batch"]["torque_error_percent"]:18.12g}'
                  f'{found["batch"]["condition_number"]:19.12g}  {digest.hexdigest()[:16]}')


if __name__ == '__main__':
    main()
