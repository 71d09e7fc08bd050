# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""PD control in the publisher: proposed gains hold light arms, gains that swing are refused."""

from pathlib import Path
import shutil
import signal

from motion_rig import ARM, FINE_RATE, Rig, slow_file, slow_motion
import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.motion.execution.loop_stability import proposed_gains

RRBOT = Path(__file__).parents[3] / 'examples' / 'real_arms' / 'effort_arm'


# Twice the distance in lockstep, which is the same on every machine: 0.99, 23 and 0.14 mrad.
@pytest.mark.parametrize(('rate', 'ahead', 'lost'), [
    (125.0, 'model', 0.002), (500.0, 'gravity', 0.046), (500.0, 'model', 0.0003)])
def test_a_light_arm_without_gears_is_held_and_follows(
        start, talker, tmp_path, rate, ahead, lost):
    folder = tmp_path / 'rrbot'
    shutil.copytree(RRBOT, folder)
    with (folder / 'arm.yaml').open('a') as file:
        file.write('nominal: {rotor_inertia: [0, 0], viscous: [0, 0], coulomb: [0, 0]}\n')
    arm = load_arm(folder)
    rig = Rig(start, talker, slow_file(tmp_path, arm=arm), arm=str(folder), rate=rate,
              feedforward=ahead)
    assert rig.begin().success
    rig.wait_end()
    np.testing.assert_allclose(rig.wait_rest(), slow_motion(arm=arm).start, atol=0.02)
    status, printed = rig.end(signal.SIGINT)
    assert status == 0
    assert 'aborted' not in printed
    assert np.sqrt((rig.away()**2).mean()) < lost


def test_gains_that_the_rate_of_the_states_does_not_bear_are_refused(start, talker, tmp_path):
    gains = proposed_gains(ARM, 0.004)
    wild = gains.damping * np.where(np.arange(ARM.n) == 5, 40, 1)
    rig = Rig(start, talker, slow_file(tmp_path), rate=FINE_RATE,
              stiffness=gains.stiffness.tolist(), damping=wild.tolist())
    answer = rig.begin()
    assert not answer.success
    assert "joint 'fer_joint6' swings up at 250 states a second" in answer.message
    assert 'are proposed for it' in answer.message
    assert rig.commands == []


def test_gains_of_the_user_are_those_of_the_commands(start, talker, tmp_path):
    gains = proposed_gains(ARM, 0.004)
    softer = 0.25 * gains.stiffness
    rig = Rig(start, talker, slow_file(tmp_path), rate=FINE_RATE, stiffness=softer.tolist(),
              damping=gains.damping.tolist(), feedforward='none')
    rig.begin()
    rig.until(lambda: len(rig.commands) > 50, 'commands')
    stamps = {(s.header.stamp.sec, s.header.stamp.nanosec): s for s in rig.states}
    wanted = [w for w in rig.wanted if (w.header.stamp.sec, w.header.stamp.nanosec) in stamps][3:8]
    for each in wanted:
        state = stamps[each.header.stamp.sec, each.header.stamp.nanosec]
        tau = softer * np.subtract(each.position, state.position) + gains.damping * np.subtract(
            each.velocity, state.velocity)
        limit = ARM.limits.effort
        np.testing.assert_allclose(each.effort, np.clip(tau, -limit, limit), atol=1e-9)


def test_gains_for_another_number_of_joints_end_in_one_line(start, tmp_path):
    status, printed = start(
        'trajectory_publisher', arm='panda', excitation=slow_file(tmp_path), command='effort',
        stiffness=[1.0, 2.0]).end()
    assert status == 2
    assert "'stiffness' must hold a number for each of the 7 joints" in printed
