"""Faults of every kind in the running chain: each ends safe, and users read what it was."""

from contextlib import suppress
import re
import signal
import unittest

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from diagnostic_msgs.msg import DiagnosticStatus
from fault_rig import ARM, Bench, Chain, motion, MOVING, speed_of
from installed import compile_installed
import launch_testing
import numpy as np
import pytest
from sensor_msgs.msg import JointState

from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.storage.recording_reader import read_recording
from dynid_ros.storage.result_file import read_result

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
STALE = r'no usable joint state has come for \d+ ms'
STREAMS = 'identifier: stream', 'recorder: stream'
UNPLUGGED = 'the pytest plugin of launch_testing is switched off'
HELD = '; the arm is held, ~/stop resets'


@pytest.mark.launch_test
@pytest.mark.timeout(1200)
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


class TestFaults(unittest.TestCase):
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

    def rides_through(self, fault):
        """See the motion go on under a fault."""
        self.bench.move('goal')
        fault()
        self.bench.data_goes_on()
        self.bench.later(0.5)
        assert 'aborted' not in self.bench.printed()
        assert max(map(speed_of, self.bench.states[-125:])) > MOVING
        assert self.bench.call('/goal/stop').message == 'stopping'
        self.bench.until_at_rest()

    def aborts(self, publisher, reason):
        """See one abort that says why, a safe end, and that data still comes in."""
        self.bench.until_printed(f'{publisher}]: aborted: {reason}{re.escape(HELD)}')
        self.bench.until_at_rest()
        self.bench.data_goes_on()
        assert len(re.findall('aborted: ', self.bench.printed())) == 1
        refused = self.bench.call(f'/{publisher}/start')
        assert not refused.success
        assert re.search(reason, refused.message), refused.message

    def reset(self, publisher):
        """Allow another start, once nothing else is in its way."""
        self.bench.until(lambda: 'aborted because' in self.bench.call(
            f'/{publisher}/start').message, 'the end of the cause')
        assert self.bench.call(f'/{publisher}/stop').message == 'reset after the abort'

    def test_01_controller_ends_its_trajectory_when_the_publisher_is_killed(self):
        self.bench.move('short')
        self.bench.kill(self.chain.short)
        self.bench.data_goes_on()
        self.bench.until_at_rest()
        # The whole way was one goal of the controller, to rest at its end.
        np.testing.assert_allclose(
            self.bench.states[-1].position, motion(0.5, 1).start, atol=5e-3)

    def test_02_torques_without_states_for_a_second_are_an_abort(self):
        self.bench.move('torque')
        self.bench.inject('silent 1.0')
        self.aborts('torque', STALE)
        self.reset('torque')

    def test_03_second_publisher_of_states_is_an_abort_that_names_both(self):
        self.bench.move('torque')
        other = self.bench.node.create_publisher(JointState, 'joint_states', 10)
        both = '/bench, /simulated_arm'
        for name in STREAMS:
            self.bench.until_diagnosed(name, f'/joint_states has 2 publishers: {both}', ERROR)
        self.aborts('torque', f'/joint_states has several publishers: {both}')
        self.bench.node.destroy_publisher(other)
        self.reset('torque')

    def test_04_arm_is_held_when_the_publisher_of_its_torques_is_killed(self):
        self.bench.move('torque')
        self.bench.kill(self.chain.torque)
        self.bench.until_printed('no commands: the arm is held')
        self.bench.until_at_rest()
        self.bench.data_goes_on()

    def test_05_pause_of_50_ms_is_ridden_through(self):
        def pause():
            self.bench.inject('silent 0.05')
            self.bench.until_diagnosed('identifier: stream', 'longer pause', WARN)
            self.bench.until_diagnosed('recorder: stream', 'gaps', WARN)

        self.rides_through(pause)

    def test_06_other_order_of_the_joints_and_a_gripper_are_ridden_through(self):
        def change():
            for fault in ('reorder 0.5', 'gripper 0.5'):
                before = {name: self.bench.count(name, 'order_changed') for name in STREAMS}
                self.bench.inject(fault)
                # To another order and back.
                self.bench.until(lambda b=before: all(
                    self.bench.count(name, 'order_changed') == b[name] + 2 for name in STREAMS),
                    'changes of the order')
            self.bench.until_diagnosed('identifier: stream', 'changes of the order', WARN)

        self.rides_through(change)

    def test_07_clock_that_steps_back_is_named_and_the_motion_goes_on(self):
        def step_back():
            self.bench.inject('clock 1.0')
            self.bench.until_diagnosed('identifier: stream', 'clock stepped back', WARN)
            self.bench.until_diagnosed('recorder: stream', 'back', WARN)

        self.rides_through(step_back)

    def test_08_full_disk_is_named_and_the_chain_goes_on(self):
        if not self.chain.mounted:
            self.skipTest('may not mount a small tmpfs here')
        self.rides_through(self.fill_disk)

    def fill_disk(self):
        """Fill the disk; see what is said, that the bag can be read, and another be made."""
        filler = self.chain.disk / 'filler'
        with suppress(OSError), filler.open('wb') as file:
            while True:
                file.write(bytes(65536))
        self.bench.until_diagnosed('recorder: bag', 'the disk is full', ERROR)
        self.bench.until_more('identifier: stream', 'samples')
        answer = self.bench.call('/recorder/stop')
        assert not answer.success and 'the disk is full' in answer.message, answer.message
        filler.unlink()
        read = read_recording(min(self.chain.disk.glob('panda_*')) / 'bag', ARM)
        assert len(read.t) > 2500
        assert self.bench.call('/recorder/start').success
        self.bench.until_diagnosed('recorder: bag', 'recording', OK)

    def test_09_pause_of_200_ms_is_an_abort(self):
        self.bench.move('goal')
        self.bench.inject('silent 0.2')
        self.aborts('goal', STALE)
        self.reset('goal')

    def test_10_position_that_is_no_number_is_an_abort(self):
        self.bench.move('goal')
        self.bench.inject('nan 0.1')
        self.bench.until_diagnosed('identifier: stream', 'NaN', WARN)
        self.aborts(
            'goal', "joint 'fer_joint1' reports a NaN or infinite position or velocity")
        self.reset('goal')

    def test_11_killed_identifier_goes_on_from_its_saved_state(self):
        self.rides_through(self.kill_identifier)
        samples_in(self.bench.call('/identifier/save'))
        result = read_result(self.chain.folder / 'result')
        true = base_parameters(ARM).grouping @ nominal_parameters(ARM)
        # Half a minute with the usual torque noise leaves a deviation of some 5 %.
        assert np.linalg.norm(result.theta - true) < 0.2 * np.linalg.norm(true)

    def kill_identifier(self):
        """Kill it and see that it goes on, and learns from what comes."""
        saved = samples_in(self.bench.call('/identifier/save'))
        self.bench.kill(self.chain.identifier)
        self.bench.until_printed(f'resumed after {saved} samples')
        self.bench.until(
            lambda: self.bench.count('identifier: stream', 'samples') > saved + 2500, 'samples')

    def test_12_effort_beyond_the_limit_is_an_abort(self):
        self.bench.move('goal')
        self.bench.inject('strain 0.1')
        self.aborts('goal', r"joint 'fer_joint1' is measured to bear 1e\+04, more than its "
                            'effort limit of 87')
        self.reset('goal')


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


def samples_in(answer):
    """Return the number of samples that were saved."""
    assert answer.success, answer.message
    return int(answer.message.split()[0])
