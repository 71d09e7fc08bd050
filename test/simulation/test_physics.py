# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The simulated arm obeys mechanics: energy, closed forms, stiction, limits."""

from dataclasses import replace

import numpy as np
from oracles import pinocchio_model, random_arm
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.arm.friction import FrictionShape, PRESLIDING_DISTANCE, WARM_SECONDS
from dynid_ros.errors import InputError
from dynid_ros.simulation.joint_friction import JointFriction
from dynid_ros.simulation.physics import SimulatedArm


def _with(arm, **friction):
    return replace(arm, friction_nominal={
        name: np.full(arm.n, value) for name, value in friction.items()})


def _pendulum():
    """Rod with 2 kg at 0.5 m and 0.8 kg m² about its axis along y, hanging at q = pi / 2."""
    return replace(
        random_arm(np.random.default_rng(0), 1, prismatic=False).with_tree(
            rotation=np.eye(3)[None], translation=np.zeros((1, 3)),
            axis=np.array([[0.0, 1.0, 0.0]])),
        gravity=np.array([0.0, 0.0, -9.81]),
        inertial=np.array([[2.0, 1.0, 0, 0, 0.1, 0, 0, 0.8, 0, 0.8]]))


@pytest.mark.parametrize('seed', range(3))
def test_motion_converges_to_an_independent_integration_with_the_step(seed):
    rng = np.random.default_rng(seed)
    arm = replace(random_arm(rng, 4), rotor_nominal=rng.uniform(0.5, 1.0, 4))
    arm = replace(_with(arm, viscous=0.8, coulomb_smooth=0.6, offset=0.2),
                  friction_shape=FrictionShape(smooth_speed=0.5))
    friction = JointFriction(arm)
    tau, q, qd = rng.normal(size=(3, 4))
    model = pinocchio_model(arm)
    model.armature = arm.rotor_nominal
    data = model.createData()

    def derivative(_, state):
        drive = tau - friction.torque(state[4:])
        return np.concatenate([state[4:], pin.aba(model, data, state[:4], state[4:], drive)])

    truth = solve_ivp(
        derivative, (0, 0.5), np.concatenate([q, qd]), rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for steps in (500, 1000):
        physics = SimulatedArm(arm, timestep=0.5 / steps)
        physics.reset(q, qd)
        state = physics.step(tau, steps)
        errors.append(np.linalg.norm(np.concatenate([state.q, state.qd]) - truth))
    # A method of first order: half the step leaves half the error.
    assert errors[1] < 0.02 * np.linalg.norm(truth)
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


def test_a_free_pendulum_keeps_its_energy():
    physics = SimulatedArm(_pendulum(), timestep=1e-3)
    state = physics.reset([0.0])
    energies = []
    for _ in range(5000):
        state = physics.step([0.0])
        energies.append(0.5 * 0.8 * state.qd[0] ** 2 - 9.81 * np.sin(state.q[0]))
    # The symplectic method's energy swings by the order of the step and does not drift.
    assert np.abs(energies).max() < 0.05
    assert abs(np.mean(energies[:2000]) - np.mean(energies[-2000:])) < 0.005


def test_coulomb_friction_holds_a_joint_below_its_level_and_lets_go_above():
    physics = SimulatedArm(
        _with(replace(_pendulum(), gravity=np.zeros(3)), coulomb=2.0), timestep=1e-3)
    physics.reset([0.0])
    # The smooth friction creeps at atanh(1.9 / 2) = 1.8 widths of 1 mrad/s.
    assert physics.step([1.9], 1000).q[0] < 0.002
    # Beyond friction: 0.4 Nm / 0.8 kg m² over 1 s.
    assert physics.step([2.4], 1000).qd[0] == pytest.approx(0.5, rel=0.01)


def test_stiff_friction_on_a_light_joint_does_not_chatter():
    light = replace(
        _pendulum(), gravity=np.zeros(3),
        inertial=np.array([[1e-3, 0, 0, 0, 1e-5, 0, 0, 1e-5, 0, 1e-5]]))
    physics = SimulatedArm(_with(light, coulomb=1.0), timestep=1e-3)
    physics.reset([0.0], [0.5])
    speeds = [float(physics.step([0.5]).qd[0]) for _ in range(50)]
    # Friction stops it at once, where an explicit step would overshoot to -50 rad/s; it then
    # creeps at atanh(0.5) widths.
    assert np.ptp(speeds[2:]) < 1e-9
    assert speeds[-1] == pytest.approx(1e-3 * np.arctanh(0.5), rel=1e-3)


def test_viscous_friction_and_offset_set_the_final_speed():
    physics = SimulatedArm(
        _with(replace(_pendulum(), gravity=np.zeros(3)), viscous=4.0, offset=1.0),
        timestep=1e-3)
    physics.reset([0.0])
    # After ten time constants of M / Fv = 0.2 s: (3 Nm - 1 Nm) / 4 Nm s.
    assert physics.step([3.0], 2000).qd[0] == pytest.approx(0.5, rel=1e-3)


def test_torque_beyond_the_effort_limit_is_cut_off():
    limits = replace(JointLimits.unknown(1), effort=np.array([2.0]))
    physics = SimulatedArm(
        replace(_pendulum(), gravity=np.zeros(3), limits=limits), timestep=1e-3)
    physics.reset([0.0])
    state = physics.step([-50.0], 400)
    assert state.tau[0] == -2.0
    assert state.qd[0] == pytest.approx(-2.0 * 0.4 / 0.8, rel=1e-9)
    assert state.t == pytest.approx(0.4, abs=1e-12)


def test_states_handed_out_do_not_change_afterwards():
    physics = SimulatedArm(_pendulum())
    state = physics.reset([0.0])
    physics.step([0.0], 100)
    assert state.q[0] == 0.0


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_a_torque_that_is_no_number_is_refused_by_joint(bad):
    physics = SimulatedArm(random_arm(np.random.default_rng(0), 3))
    with pytest.raises(InputError, match="'j2' of the simulated arm is commanded a torque of"):
        physics.step([0.0, bad, 0.0])


def test_an_effort_limit_of_zero_counts_as_unknown():
    limits = replace(JointLimits.unknown(1), effort=np.zeros(1))
    physics = SimulatedArm(replace(_pendulum(), limits=limits))
    assert physics.step([-50.0]).tau[0] == -50.0


def test_end_stops_hold_a_joint_that_is_driven_beyond_its_limits():
    limits = replace(
        JointLimits.unknown(1), lower=np.array([-1.0]), upper=np.array([1.0]))
    physics = SimulatedArm(replace(_pendulum(), limits=limits))
    physics.reset([0.0])
    # The torque of gravity at the stop is a third of the driving one.
    for tau, stop in ((-20.0, -1.1), (20.0, 1.1)):
        course = [physics.step([tau]).q[0] for _ in range(4000)]
        # 5 % of the range behind the limit; a stop gives way by some mrad.
        assert course[-1] == pytest.approx(stop, abs=0.01)
        assert np.abs(course).max() < 1.2


def test_stops_do_nothing_within_the_limits():
    limits = replace(JointLimits.unknown(1), lower=np.array([-4.0]), upper=np.array([4.0]))
    arms = _pendulum(), replace(_pendulum(), limits=limits)
    free, stopped = (SimulatedArm(arm) for arm in arms)
    for _ in range(1000):
        assert free.step([0.0]).q[0] == stopped.step([0.0]).q[0]


@pytest.mark.parametrize(('speed', 'tau'), [(1e12, 0.0), (0.0, 1e300)])
def test_an_arm_that_moves_too_fast_is_an_error_and_leaves_no_file(
        tmp_path, monkeypatch, speed, tau):
    monkeypatch.chdir(tmp_path)
    physics = SimulatedArm(_pendulum())
    physics.reset([0.0], [speed])
    with pytest.raises(InputError, match="simulated 'random' moves faster than its physics"):
        physics.step([tau], 1000)
    assert list(tmp_path.iterdir()) == []


def test_a_joint_breaks_away_above_its_stribeck_peak_and_slides_on_below_it():
    still = replace(_pendulum(), gravity=np.zeros(3))
    physics = SimulatedArm(_with(still, coulomb=1.0, stribeck=1.5))
    physics.reset([0.0])
    peak = JointFriction(physics.arm).torque(np.geomspace(1e-3, 1, 1000)[:, None]).max()
    # Below it the smooth friction creeps.
    assert physics.step([0.95 * peak], 4000).qd[0] < 0.05
    assert physics.step([1.1 * peak], 4000).qd[0] > 0.3
    # 1.1 Nm would not have broken it away, and beat the 1 Nm of Coulomb friction at 0.5 rad/s.
    physics.reset([0.0], [0.5])
    assert physics.step([1.1], 2000).qd[0] > 0.5


def test_load_brakes_a_pendulum_by_its_gravity_torque():
    # Level, the weight pulls by 9.81 Nm; friction of a tenth of it is left to the drive.
    physics = SimulatedArm(_with(_pendulum(), load=0.1))
    physics.reset([0.0], [1.0])
    before = physics.state
    after = physics.step([-9.81], 1)
    assert (after.qd - before.qd)[0] == pytest.approx(-0.981 / 0.8 * after.t, rel=1e-3)


@pytest.mark.slow
def test_a_warm_joint_slides_more_easily():
    still = replace(_pendulum(), gravity=np.zeros(3))
    physics = SimulatedArm(_with(still, viscous=4.0, viscous_warm=-1.0))
    physics.reset([0.0])
    # (4 - v) v = 3 Nm at v = 1 rad/s, once the joint is as warm as its speed.
    early = physics.step([3.0], 2000).qd[0]
    assert early < 0.93
    assert physics.step([3.0], int(5 * WARM_SECONDS / physics.timestep)).qd[0] == pytest.approx(
        1.0, rel=0.02)


def test_a_bent_contact_springs_back():
    still = replace(_pendulum(), gravity=np.zeros(3))
    physics = SimulatedArm(_with(still, presliding=2.0, viscous=20.0))
    # It slides upwards, turns round and comes to rest under 1.5 Nm less than it slides by.
    physics.reset([0.0], [1e-3])
    physics.step([3.0], 2000)
    end = physics.step([2.0 - 1.5], 8000)
    assert abs(end.qd[0]) < 1e-6
    course = physics.step([-1.0], 8000)
    # From z = 0.25 to -0.5 along dz = -(1 + z) dx / distance.
    assert (end.q - course.q)[0] == pytest.approx(
        PRESLIDING_DISTANCE * np.log(1.25 / 0.5), rel=0.05)
