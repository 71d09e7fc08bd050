"""
Time of `dyn.identify` by who imports NumPy first, idle and on busy processors.

    python benchmarks/import_order.py [--arm panda] [--rounds 5]

A recording of 30 s at 200 Hz is simulated. Each time is taken from a process of its own, which has
identified it once before, so that no kernel is compiled or loaded in it. The orders take turns;
printed are medians, and the medians of the ratios to a process in which NumPy has one thread from
its start, by the environment. Beside busy processors, one more process for each of them counts.
With another version in PYTHONPATH, that one is measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile

import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

RATE, SECONDS = 200.0, 30.0
ONE = 'one thread by the environment'
ORDERS = {
    ONE: 'import numpy, dynid_ros as dyn',
    'import numpy first': 'import numpy, dynid_ros as dyn',
    'import dynid_ros first': 'import dynid_ros as dyn; dyn.identify; import numpy',
}
ONCE = """
import json, sys, time, warnings
warnings.simplefilter('ignore')
arm = dyn.load_arm(sys.argv[1])
log = dyn.Recording(**numpy.load(sys.argv[2]), joint_names=arm.joint_names)
for _ in range(2):
    wall, processor = time.perf_counter(), time.process_time()
    dyn.identify(arm, [log])
    spent = time.process_time() - processor, time.perf_counter() - wall
print(json.dumps(spent))
"""
#: An interpreter that counts until its standard input ends, as it does with this process.
BUSY = """
import os, threading
threading.Thread(target=lambda: (os.read(0, 1), os._exit(0))).start()
while True:
    pass
"""


def once(order: str, arm: str, recording: Path) -> list[float]:
    """Return processor time and wall time of one identification, s."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.endswith('_NUM_THREADS')}
    if order == ONE:
        environment['OPENBLAS_NUM_THREADS'] = environment['MKL_NUM_THREADS'] = '1'
    done = subprocess.run([sys.executable, '-c', ORDERS[order] + ONCE, arm, recording], check=True,
                          stdout=subprocess.PIPE, text=True, env=environment)
    return list(json.loads(done.stdout))


@contextmanager
def busy_processors(count: int) -> Iterator[None]:
    """Run a process that only counts for each processor."""
    running = [subprocess.Popen([sys.executable, '-c', BUSY], stdin=subprocess.PIPE)
               for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--arm', default='panda', help='shipped arm')
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    arm = load_arm(args.arm)
    log = simulate(arm, random_motion(arm, 0), rate_hz=RATE, seed=0).log
    log = log.part(0, int(SECONDS * RATE))
    processors = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder, 'recording.npz')
        np.savez(recording, t=log.t, q=log.q, u=log.u)
        once(ONE, args.arm, recording)  # Compiles the kernels.
        for name, busy in (('idle', 0), (f'{processors} busy processes', processors)):
            with busy_processors(busy):
                spent = np.array([[once(order, args.arm, recording) for order in ORDERS]
                                  for _ in range(args.rounds)])
            ratios = np.median(spent / spent[:, :1], axis=0)
            print(f'{name}, {processors} processors, {args.rounds} rounds:')
            for order, seconds, ratio in zip(
                    ORDERS, np.median(spent, axis=0), ratios, strict=True):
                print(f'  {order:30s} processor time {seconds[0]:6.2f} s ({ratio[0]:5.2f}), '
                      f'wall time {seconds[1]:6.2f} s ({ratio[1]:5.2f})', flush=True)


if __name__ == '__main__':
    main()
