# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Traffic that no ROS 2 node sends."""

from contextlib import contextmanager
from importlib.util import find_spec
import os
from pathlib import Path
import subprocess
import sys

from fault_rows import ERROR, Rows, STREAMS

HOSTILE = Path(__file__).parents[1] / 'ros' / 'stand_in' / 'hostile.py'


class TrafficRows(Rows):
    """The chain lives through it, and goes on when it ends."""

    def test_90_malformed_traffic(self):
        self.lives_through('malformed DDS traffic', 'garbage', 200)

    def test_91_huge_sequences(self):
        self.lives_through('huge sequences', 'long', 3)

    def lives_through(self, fault, kind, least):
        """Send at least so much; see a report, all processes alive, and good data after it."""
        if not find_spec('cyclonedds'):
            self.bench.answers.skip(fault, 'cyclonedds is not installed, which makes it')
        since, alive = self.bench.now, self.bench.alive()
        with self.hostile(kind) as sent:
            self.bench.answers.time_by_graph(
                fault, since, 'recorder: stream', 'has 2 publishers: [^;]*')
            # The time of the arm may stand still: such messages push states out of short queues.
            self.bench.until(lambda: sent() >= least, 'hostile traffic')
        for name in STREAMS:
            self.bench.until(lambda n=name: self.bench.level(n) < ERROR, 'good data')
        self.bench.data_goes_on()
        assert self.bench.alive() == alive
        self.bench.begin()
        self.rides_through(lambda: None)

    @contextmanager
    def hostile(self, kind):
        """Run a participant that sends a kind of traffic, and count what it has sent."""
        file = self.chain.folder / f'{kind}.log'
        with file.open('wb') as log:
            process = subprocess.Popen(
                [sys.executable, HOSTILE, kind], stdout=log, stderr=subprocess.STDOUT,
                env={'ROS_DOMAIN_ID': '0', **os.environ})

        def sent():
            assert process.poll() is None, file.read_text()[-2000:]
            return file.read_text().count('\n')

        try:
            yield sent
        finally:
            process.kill()
            process.wait()
