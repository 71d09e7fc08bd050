# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Measure what verdict and possible links cost the stream beside which they are looked for.

    python benchmarks/live_verdict.py [--seconds 30] [--reports 2]

A simulated Panda's samples come at 1 kHz, by the clock. Delay of a block: from the moment at which
its last sample was due until its rows are fitted. The last run has the sign of one effort
reversed: the table of suspects then takes longest.
"""

import argparse
from dataclasses import replace
import time

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import numpy as np

from dynid_ros.applications.export.urdf import robot_description
from dynid_ros.arm import load_arm
from dynid_ros.estimation.online.live_verdict import Judge
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.online.row_pipeline import PROCESSED_TOGETHER
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

ARM = load_arm('panda')
RATE = 1000.0
#: Joint whose effort is reversed.
REVERSED = 3


def run(log, reports):
    """Return the delay of each block, s, links found, and the last robot description."""
    online = OnlineIdentifier(ARM, cutoff_hz=5.0, delay=0.0)
    judge = Judge(online, robot_description('panda'))
    stamps = np.rint(log.t * 1e9).astype(np.int64)
    delays, found, description = [], 0, None
    began = time.perf_counter()
    report = 0.0
    for first in range(0, len(stamps) - PROCESSED_TOGETHER, PROCESSED_TOGETHER):
        part = slice(first, first + PROCESSED_TOGETHER)
        due = began + log.t[part][-1]
        time.sleep(max(0.0, due - time.perf_counter()))
        online.push_ns(stamps[part], log.q[part], log.u[part])
        delays.append(time.perf_counter() - due)
        if reports and log.t[first] >= report:
            report += 1 / reports
            links = judge.update()
            found += links is not None
            if links is not None and links.description:
                description = links.description
    judge.stop()
    return np.array(delays), found, description


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=30.0)
    parser.add_argument('--reports', type=float, default=2.0, help='searches a second')
    args = parser.parse_args()
    log = simulate(ARM, random_motion(ARM, 0), rate_hz=RATE, seed=0).log
    log = log.part(0, min(len(log.t), int(args.seconds * RATE)))
    # Compiles the kernels, and nothing else.
    run(log.part(0, 20 * PROCESSED_TOGETHER), args.reports)
    print(f'{ARM.n} joints, {log.t[-1]:.0f} s at {RATE:.0f} Hz in blocks of {PROCESSED_TOGETHER}')
    wrong = replace(log, u=log.u * np.where(np.arange(ARM.n) == REVERSED, -1.0, 1.0))
    for name, samples, reports in (('alone', log, 0.0), ('judged', log, args.reports),
                                   ('doubted', wrong, args.reports)):
        cpu = time.process_time()
        delays, found, description = run(samples, reports)
        spent = (time.process_time() - cpu) / log.t[-1]
        p50, p99 = 1e3 * np.percentile(delays, [50, 99])
        print(f'{name:8s} delay of a block {p50:6.2f} ms in the median, {p99:6.2f} ms in '
              f'99 of 100, {1e3 * delays.max():6.2f} ms at most; {100 * spent:4.1f} % of a core; '
              f'{found} searches, {"with" if description else "without"} a robot description')


if __name__ == '__main__':
    main()
