# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Faults of every kind in the running chain: each ends safe, and users read what it was."""

import signal
import unittest

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from fault_chain import Chain
from fault_motion_rows import MotionRows
from fault_process_rows import ProcessRows
from fault_rig import Bench
from fault_stream_rows import StreamRows
from fault_traffic_rows import TrafficRows
from installed import compile_installed
import launch_testing
import pytest

UNPLUGGED = 'the pytest plugin of launch_testing is switched off'


@pytest.mark.launch_test
@pytest.mark.timeout(7200)
def generate_test_description():
    """Start the chain."""
    try:
        get_package_prefix('dynid_ros')
    except PackageNotFoundError:
        pytest.skip('dynid_ros is not built in a sourced workspace; colcon test does both')
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    compile_installed('panda')
    chain = Chain()
    return chain.description(), {'chain': chain}


class TestFaults(StreamRows, MotionRows, ProcessRows, TrafficRows, unittest.TestCase):
    """One fault after another, in the order of the names."""

    @classmethod
    def setUpClass(cls, chain=None, proc_info=None, proc_output=None):
        if chain is None:
            raise unittest.SkipTest(UNPLUGGED)
        cls.chain = chain
        cls.bench = Bench(chain, proc_info, proc_output)

    @classmethod
    def tearDownClass(cls):
        cls.bench.close()

    def run(self, result=None):
        """Let no row follow one that failed, as they share the chain."""
        result.failfast = True
        return super().run(result)

    def setUp(self):
        self.bench.begin()

    def test_99_every_row_was_met(self):
        self.bench.answers.check_complete()


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    """What is left when all is over."""

    def test_nodes_end_well(self, chain=None, proc_info=None, proc_output=None):
        if chain is None:
            self.skipTest(UNPLUGGED)
        codes = {node: proc_info[node].returncode for node in chain.nodes}
        assert codes.pop(chain.short) == codes.pop(chain.torque) == -signal.SIGKILL
        assert set(codes.values()) == {0}
        assert 'Traceback' not in ''.join(io.text.decode() for io in proc_output)
