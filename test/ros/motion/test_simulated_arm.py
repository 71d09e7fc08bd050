# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The simulated arm in a process of its own: its topics, its timeout, its faults and its time."""

import re
import time

from motion_rig import inject
import numpy as np
import pytest
from ros.motion.pace import DEPTH, LED, Pace, SIMULATED, stamp
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from dynid_ros.arm import load_arm
from dynid_ros.motion.execution.tracking_control import RigidArm
from dynid_ros.simulation.plausible_drive import typical_torque

ARM = load_arm('panda')


def periods(states):
    """Time from each state to the next, ns."""
    return np.diff([s.header.stamp.sec * 10**9 + s.header.stamp.nanosec for s in states])


class Commanded(Pace):
    """An arm in lockstep with the test, which commands its torques."""

    def __init__(self, start, talker, **parameters):
        super().__init__(talker)
        self.process = start('simulated_arm', arm='panda', **{**LED, **parameters})
        self.torques = talker.node.create_publisher(Float64MultiArray, 'effort_commands', 10)
        self.until(lambda: self.states and self.torques.get_subscription_count(), 'the arm')

    def command(self, tau):
        self.torques.publish(Float64MultiArray(data=tau))
        return tau


def test_states_come_at_the_stated_rate_without_a_gap_and_hold_still(start, talker):
    arm = Commanded(start, talker, rate=1000.0)
    arm.until(lambda: len(arm.states) > 1000, '1000 states')
    states = arm.states
    # Nanoseconds of a period in floating point.
    np.testing.assert_allclose(periods(states), 10**6, atol=2)
    assert tuple(states[0].name) == ARM.joint_names
    np.testing.assert_allclose(states[-1].position, states[0].position, atol=1e-3)
    # Noise of 10 % of the spread. Of 7000 normal figures one is beyond 5.7 standard deviations
    # once in 10 000 runs; this seed is the same in all of them.
    away = np.array([s.effort for s in states]) - RigidArm(ARM).gravity(states[-1].position)
    assert (np.abs(away) < 0.6 * typical_torque(ARM)).all()


def test_real_time_is_that_of_the_computer_and_what_is_lost_of_it_is_said(start, talker):
    process = start('simulated_arm', arm='panda', rate=1000.0)
    heard = []
    talker.node.create_subscription(
        JointState, 'joint_states', lambda state: heard.append((time.time(), state)), DEPTH)
    # All of them wait for this process, if it is slower.
    talker.until(lambda: len(heard) > 500, '500 states')
    process.stop()
    # However slow the machine, no state is ahead of the clock (the last digits of a float apart),
    # and the stamps leave out just what the arm says it has lost.
    assert all(stamp(state) < now + 1e-6 for now, state in heard)
    period = periods([state for _, state in heard])
    lost = [float(s) for s in re.findall(r'the simulation lost (\d+\.\d) s', process.printed)]
    assert len(period[period > 1.5e6]) <= len(lost)
    assert (period > 0.5e6).all()


def test_time_that_nobody_leads_is_simulated_in_real_time(start, talker):
    start('simulated_arm', arm='panda', rate=100.0, **SIMULATED)
    clock = talker.listen(Clock, '/clock', 100)
    states = talker.listen(JointState, 'joint_states')
    began = time.monotonic()
    talker.until(lambda: len(states) > 20 and len(clock) > 20, 'states and clock')
    assert stamp(states[-1]) < 60.0
    # It began no earlier than the process did.
    assert stamp(states[-1]) < time.monotonic() - began
    told = [c.clock.sec + c.clock.nanosec * 1e-9 for c in clock]
    assert (np.diff(told) > 0).all()


def test_commands_move_the_joint_they_are_for_and_silence_holds_it(start, talker):
    order = ARM.joint_names[::-1]
    arm = Commanded(start, talker, rate=500.0, joints=list(order))
    tau = RigidArm(ARM).gravity(arm.states[-1].position)
    tau[6] += 1.0
    arm.until(lambda: abs(arm.states[-1].velocity[6]) > 0.3, 'motion of the last joint',
              act=lambda: arm.command(tau[::-1].tolist()))
    assert np.argmax(np.abs(arm.states[-1].velocity)) == 6
    begun = arm.time
    arm.until(lambda: arm.speed() < 0.01, 'standstill', 5.0)
    # The last command is in force for the command_timeout.
    assert arm.time - begun > 0.1
    status, printed = arm.process.stop()
    assert status == 0
    assert 'no commands: the arm is held' in printed


def test_wrong_commands_are_refused_by_name(start, talker):
    arm = Commanded(start, talker)
    for tau, refused in (
            ([1.0, 2.0], 'needs 7 torques'),
            ([0.0] * 6 + [float('nan')], "joint 'fer_joint7' is commanded a torque of nan")):
        # The log is throttled, in real time.
        talker.until(
            lambda tau=tau, refused=refused: arm.command(tau) and refused in arm.process.printed,
            refused)
    arm.after(0.2)
    assert arm.speed() < 0.01
    assert arm.process.stop()[0] == 0


def test_faults_are_injected_for_their_time(start, talker):
    arm = Commanded(start, talker, rate=500.0)
    assert inject(talker, 'nan 0.2').successful
    begun = arm.time
    arm.until(lambda: np.isnan(arm.states[-1].position[0]), 'a NaN position')
    arm.until(lambda: np.isfinite(arm.states[-1].position[0]), 'the end of the fault')
    assert arm.time - begun == pytest.approx(0.2, abs=0.0041)
    inject(talker, 'silent 0.3')
    before = len(arm.states)
    arm.until(lambda: len(arm.states) > before + 10, 'states again')
    # One state may be under way, and the next comes a period after the end.
    assert periods(arm.states).max() == pytest.approx(0.3e9, abs=4.1e6)
    inject(talker, 'reorder')
    arm.until(lambda: arm.states[-1].name[0] == 'fer_joint7', 'another order')
    refused = inject(talker, 'explode')
    assert not refused.successful
    assert "no fault 'explode'" in refused.reason


def test_voltage_arm_publishes_its_signal_apart(start, talker):
    start('simulated_arm', arm='two_axis')
    signals = talker.listen(JointState, 'drive_signal', DEPTH)
    talker.until(lambda: len(signals) > 10, 'drive signals')
    assert list(signals[0].name) == ['arm_joint', 'pendulum_joint']
    assert len(signals[0].effort) == 2


@pytest.mark.parametrize(('parameters', 'said'), [
    ({'arm': 'nowhere'}, 'nowhere'),
    ({'arm': 'panda', 'lockstep': ['talker']}, "'lockstep' needs use_sim_time: set it to true"),
])
def test_wrong_parameters_end_in_one_line(start, parameters, said):
    status, printed = start('simulated_arm', **parameters).end()
    assert status == 2
    assert '[simulated_arm]: ' in printed
    assert said in printed
    assert printed.count('\n') == 1
