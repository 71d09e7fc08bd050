"""Simulated arm and trajectory publisher in processes of their own, for tests of both."""

import re

import numpy as np
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from dynid_ros.arm import load_arm
from dynid_ros.feasibility.planning_limits import planning_limits
from dynid_ros.trajectory.fourier import FourierMotion
from dynid_ros.trajectory.motion_file import write_motion

ARM = load_arm('panda')
DEPTH = 2000
NODE = '/trajectory_publisher'
#: Silence after which the arm is stopped, s; a busy machine is silent for longer than an arm.
LATE = 0.5


def slow_motion(amplitude=0.1, periods=1):
    """Around the position at which the simulated arm begins; all joints differ."""
    reduced = amplitude * np.linspace(0.5, 1.0, ARM.n)[:, None] * np.ones(4)
    return FourierMotion.at_rest(2.0, planning_limits(ARM).middle, reduced, periods)


def slow_file(folder, periods=1, amplitude=0.1):
    """Write it."""
    path = folder / 'excitation.yaml'
    write_motion(path, slow_motion(amplitude, periods), ARM)
    return path


class Rig:
    """Simulated arm and publisher, and what they say."""

    def __init__(self, start, talker, path, output='effort', **parameters):
        self.talker = talker
        self.spin = talker.spin
        self.states = talker.listen(JointState, 'joint_states', DEPTH)
        self.wanted = talker.listen(JointState, f'{NODE}/reference', DEPTH)
        self.commands = talker.listen(Float64MultiArray, 'effort_commands', DEPTH)
        self.arm = start('simulated_arm', arm='panda', rate=500.0)
        self.publisher = start(
            'trajectory_publisher', excitation=path, output=output,
            **{'arm': 'panda', 'state_timeout': LATE, **parameters})
        talker.until(lambda: len(self.states) > 100, 'states')

    def begin(self):
        answer = None

        def begun():
            nonlocal answer
            answer = self.talker.call(Trigger, f'{NODE}/start')
            return answer.success or not any(wait in answer.message for wait in (
                'no states', 'is not there', 'try again', 'stopping already'))

        self.talker.until(begun, 'a start or its refusal')
        return answer

    def move(self):
        """Begin, and wait until the arm is well on the move."""
        answer = self.begin()
        assert answer.success, answer.message
        self.talker.until(
            lambda: np.abs(self.states[-1].velocity).max() > 0.05, 'motion', 8.0)

    def inject(self, fault):
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=fault)
        self.talker.call(
            SetParameters, '/simulated_arm/set_parameters',
            parameters=[Parameter(name='fault', value=value)])

    def wait_refusal(self, said):
        """Wait until no start is possible for a reason, a regular expression."""
        def refused():
            self.spin(0.2)
            return re.search(said, self.begin().message)

        self.talker.until(refused, said)

    def wait_end(self):
        """Wait until a whole motion is over, by its reference."""
        self.talker.until(
            lambda: self.wanted and not np.any(self.wanted[-1].velocity)
            and any(np.any(wanted.velocity) for wanted in self.wanted),
            'the end of the motion', 20.0)

    def wait_rest(self):
        """Wait until the arm stands still, and not only turns round."""
        self.talker.until(
            lambda: all(np.abs(state.velocity).max() < 0.02 for state in self.states[-100:]),
            'standstill', 3.0)

    def at_rest(self):
        return np.abs(self.states[-1].velocity).max() < 0.02

    def away(self):
        """Distances of measured from wanted positions (N, n), at the same stamps."""
        stamps = {(s.header.stamp.sec, s.header.stamp.nanosec): s.position for s in self.states}
        return np.array([
            np.subtract(stamps[key], w.position) for w in self.wanted
            if (key := (w.header.stamp.sec, w.header.stamp.nanosec)) in stamps])
