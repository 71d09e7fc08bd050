# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drive gains by the weight of a load, from rests whose friction holds a part of it."""

from dataclasses import replace
from functools import cache

import numpy as np
from synthetic_recordings import recording, Waves

from dynid_ros.arm import load_arm
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import load_columns
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.calibration.gain_verdict import NOT_DETERMINED
from dynid_ros.estimation.identification.gain_recordings import recorded_gains
from dynid_ros.estimation.identification.gain_rests import rests_of
from dynid_ros.estimation.suspects.signal_suspects import GAIN_STD
from dynid_ros.interface.answers.gains import gain_joints, gain_table

RATE, MOVE, CYCLE, APART = 100, 1.0, 2.0, 0.1
MASS = 3.0
LOAD = inertial_from_com(MASS, [0.02, 0.01, 0.08], np.diag([0.01, 0.01, 0.006]))
FACTORS = np.array([0.7, 0.8, 1.25, 0.6, 1.5, 1.1, 0.9])


@cache
def panda():
    arm = load_arm('panda')
    return replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0, delay=0.0))


@cache
def theta():
    return base_parameters(panda()).grouping @ nominal_parameters(panda())


def rests(load, seed, poses=8, still=slice(0)):
    """Hold poses, each approached from both sides, with a share of the friction."""
    arm, rng = panda(), np.random.default_rng(seed)
    middle, half = (arm.limits.upper + arm.limits.lower) / 2, (
        arm.limits.upper - arm.limits.lower) / 2
    points = []
    for pose in rng.uniform(middle - 0.8 * half, middle + 0.8 * half, (poses, arm.n)):
        way = APART * np.where(rng.random(arm.n) < 0.5, -1, 1)
        points += [pose - way, pose, pose + way, pose]
    points = np.array([points[0] + APART, *points])
    points[:, still] = points[0, still]
    t = np.arange(round((len(points) - 1) * CYCLE * RATE)) / RATE
    number = (t / CYCLE).astype(int)
    s = np.clip((t - CYCLE * number) / MOVE, 0, 1)[:, None]
    step = points[number + 1] - points[number]
    q = points[number] + step * (10 * s**3 - 15 * s**4 + 6 * s**5)
    qd = step / MOVE * (30 * s**2 - 60 * s**3 + 30 * s**4)
    W = regressor(arm, q, qd, 0 * q)[:, :, base_parameters(arm).columns]
    tau = W @ (theta() + load_columns(arm) @ load)
    names = base_parameters(arm).names
    coulomb = theta()[[names.index(f'Fc{j + 1}') for j in range(arm.n)]]
    share = rng.uniform(-0.2, 0.8, (len(points), arm.n))[number]
    tau += (s >= 1) * np.sign(step) * coulomb * share
    tau += 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
    return Recording(t, q, tau, arm.joint_names, source=f'rests {seed}')


def stated():
    arm = panda()
    return replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * FACTORS))


def test_gains_follow_from_the_weight_of_a_load():
    found = recorded_gains(
        stated(), [rests(0 * LOAD, 1)], loaded=[rests(LOAD, 2)], mass=MASS)
    logarithms = found.logarithms
    error = logarithms.value + np.log(FACTORS)
    # Gravity does not load the joint of an upright arm that turns about it.
    assert found.verdicts[0] == NOT_DETERMINED and found.gain[0] == found.stated[0]
    # Beside its own prior stands that of the common factor of the six others.
    assert GAIN_STD <= logarithms.std[0] < np.sqrt(1 + 1 / 6) * GAIN_STD
    np.testing.assert_array_equal(logarithms.from_data, np.arange(7) > 0)
    joints = gain_joints(found)
    assert any(row[0] == panda().joint_names[0] and 'not determined' in ' '.join(row)
               for row in gain_table(stated(), joints))
    assert [joint['source'] for joint in joints] == ['prior', *6 * ['data']]
    assert all(np.isfinite([joint['ratio'], joint['ratio_std']]).all() for joint in joints)
    assert (np.abs(error[1:]) < 4 * logarithms.std[1:]).all()
    assert (logarithms.std[1:4] < 0.02).all()
    assert found.objection == ''
    assert found.notes == ('32 rests without the load and 32 with it, by gravity alone',)


def test_a_joint_that_does_not_come_from_both_sides_is_noted():
    found = recorded_gains(
        stated(), [rests(0 * LOAD, 1)], loaded=[rests(LOAD, 2, still=[2])], mass=MASS)
    assert found.notes[-1].startswith(f'{panda().joint_names[2]} did not come to rest from both')


def test_a_motion_holds_no_rests():
    waves = Waves.random(panda(), seed=1)
    log = recording(panda(), waves, theta(), np.zeros((3000, panda().n)))
    assert rests_of(panda(), [log]) is None
    assert len(rests_of(panda(), [rests(LOAD, 2)]).q) == 32


def test_a_load_gives_the_stiffness_that_nobody_states():
    arm, kp = panda(), np.array([900.0, 800.0, 700.0, 600.0, 300.0, 200.0, 100.0])
    servo = replace(arm, drive=replace(arm.drive, signal='command', scale='open'))
    told = [replace(each, signal='command', u=each.q + each.u / kp)
            for each in (rests(np.zeros(10), 1), rests(LOAD, 2))]
    found = recorded_gains(servo, told[:1], loaded=told[1:], mass=MASS)
    # The first axis is vertical.
    assert found.verdicts[0] == NOT_DETERMINED and found.known[1:6].all()
    off = np.abs(np.log(found.gain / kp))
    assert (off < 4 * found.logarithms.std)[found.known].all()
    rows = gain_table(servo, gain_joints(found))
    assert rows[2][3].endswith(' Nm/rad')
