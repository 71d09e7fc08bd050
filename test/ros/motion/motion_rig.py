# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Simulated arm and trajectory publisher in processes of their own, for tests of both."""

import re

import numpy as np
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from ros.motion.pace import DEPTH, Pace, SIMULATED
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from dynid_ros.arm import load_arm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion

ARM = load_arm('panda')
NODE = '/trajectory_publisher'
#: Joint states per second, each of which takes each node some milliseconds; and where more of them
#: matter.
RATE, FINE_RATE = 125.0, 250.0


def slow_motion(amplitude=0.1, periods=1, arm=ARM):
    """Around the position at which the simulated arm begins; all joints differ."""
    reduced = amplitude * np.linspace(0.5, 1.0, arm.n)[:, None] * np.ones(4)
    return FourierMotion.at_rest(2.0, planning_limits(arm).middle, reduced, periods)


def slow_file(folder, periods=1, amplitude=0.1, arm=ARM):
    """Write it."""
    path = folder / 'excitation.yaml'
    write_motion(path, slow_motion(amplitude, periods, arm), arm)
    return path


def inject(talker, fault):
    """Inject a fault into the simulated arm, and return its answer."""
    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=fault)
    answer = talker.call(
        SetParameters, '/simulated_arm/set_parameters',
        parameters=[Parameter(name='fault', value=value)])
    return answer.results[0]


class Rig(Pace):
    """Simulated arm and publisher in lockstep with the test, and what they say."""

    def __init__(
        self, start, talker, path, output='effort', real_time=False, arm='panda', rate=RATE,
        **parameters,
    ):
        super().__init__(talker)
        # In real time a busy machine answers the start late.
        self.soon = 30.0 if real_time else 3.0
        self.wanted = talker.listen(JointState, f'{NODE}/reference', DEPTH)
        self.commands = talker.listen(Float64MultiArray, 'effort_commands', DEPTH)
        led = {} if real_time else {**SIMULATED, 'lockstep': ['trajectory_publisher', 'talker']}
        self.arm = start('simulated_arm', arm=arm, rate=rate, **led)
        self.publisher = start(
            'trajectory_publisher', excitation=path, command=output,
            **{'arm': arm, **({} if real_time else SIMULATED), **parameters})
        self.until(lambda: self.states, 'states')

    def begin(self):
        """Ask for a start once it is ready, until there is one or a refusal that stays."""
        self.until(lambda: ']: ready' in self.publisher.printed, 'readiness')
        answer = None

        def begun():
            nonlocal answer
            answer = self.talker.call(Trigger, f'{NODE}/start')
            return answer.success or not any(
                wait in answer.message for wait in ('try again', 'stopping already'))

        self.until(begun, 'a start or its refusal')
        return answer

    def move(self):
        """Begin, and wait until the arm is well on the move."""
        answer = self.begin()
        assert answer.success, answer.message
        self.until_it_moves()

    def until_it_moves(self):
        self.until(lambda: self.speed() > 0.05, 'motion', self.soon)

    def stop(self):
        """Ask for a stop, and return what was said."""
        return self.talker.call(Trigger, f'{NODE}/stop').message

    def inject(self, fault):
        assert inject(self.talker, fault).successful

    def wait_refusal(self, said):
        """Wait until no start is possible for a reason, a regular expression; return it."""
        found = None

        def refused():
            nonlocal found
            found = re.search(said, self.talker.call(Trigger, f'{NODE}/start').message)
            return found

        self.until(refused, said)
        return found

    def wait_end(self):
        """Wait until a whole motion is over, by its reference."""
        self.until(
            lambda: self.wanted and not np.any(self.wanted[-1].velocity)
            and any(np.any(wanted.velocity) for wanted in self.wanted),
            'the end of the motion', 15.0)

    def end(self, number=None):
        """Wait for the end of the publisher, after a signal if one is given."""
        if number is not None:
            self.publisher.send(number)
        self.until(lambda: self.publisher.ended, 'the end of the process', 15.0)
        return self.publisher.end()

    def away(self):
        """Distances of measured from wanted positions (N, n), at the same stamps."""
        stamps = {(s.header.stamp.sec, s.header.stamp.nanosec): s.position for s in self.states}
        return np.array([
            np.subtract(stamps[key], w.position) for w in self.wanted
            if (key := (w.header.stamp.sec, w.header.stamp.nanosec)) in stamps])
