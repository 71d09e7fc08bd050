# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The monitor on a Panda: contact, load, rest and defects, with the truth from elsewhere."""

import copy
from dataclasses import replace
from functools import cache

from contact_rig import exact, free_torque, moving, PANDA, RATE, residuals
import mujoco
import numpy as np
from oracles import pinocchio_model
import pinocchio as pin
import pytest

from dynid_ros.applications.contact.monitor import Monitor
from dynid_ros.applications.contact.tool_wrench import tool_wrench
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.rigid_body import geometric_jacobian
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.tracking_control import ComputedTorque, RigidArm
from dynid_ros.simulation.physics import SimulatedArm

SIGMA = 0.05


@cache
def known():
    """Return the true model, with the residuals of a good identification."""
    rng = np.random.default_rng(0)
    return exact(PANDA, SIGMA, 1e-4, predictions=(residuals(PANDA, rng, 60, SIGMA),))


@cache
def course():
    """Return 20 s of free motion, with noise."""
    t, q, qd, qdd = moving(PANDA, 1, 20.0)
    noise = np.random.default_rng(1).normal(size=q.shape)
    return t, q, free_torque(PANDA, q, qd, qdd) + 0.2 * noise


def watched(monitor, t, q, u):
    """All that a monitor says of samples that come one by one."""
    return [new for k in range(len(t)) for new in monitor.push(t[k:k + 1], q[k:k + 1], u[k:k + 1])]


@cache
def learned():
    """Return the noise of the free motion, and whether it was quiet."""
    monitor = Monitor(known(), portion=0.2)
    quiet = not any(new.contact.any() for new in monitor.push(*course()))
    assert monitor.age.finding is None
    return monitor.noise, quiet


def test_a_push_is_found_within_50_ms_at_the_right_joint_and_free_motion_is_quiet():
    noise, quiet = copy.deepcopy(learned())
    assert quiet
    t, q, u = course()
    part, start = slice(4000, 4400), 8.4
    force = np.array([0, 0, 0, 0, 20.0, 0])
    push = -(geometric_jacobian(PANDA, q[part]).transpose(0, 2, 1) @ force)
    u = u[part] + np.where(t[part, None] >= start, push, 0.0)
    seen = watched(Monitor(known(), noise=noise), t[part], q[part], u)
    first = next(new for new in seen if new.contact.any())
    assert start < first.known < start + 0.05
    felt = first.contact[-1]
    assert (np.abs(push[-1][felt]) > 0.1).all()
    assert (np.sign(first.torque[-1][felt]) == np.sign(push[210][felt])).all()
    last = seen[-1]
    found = tool_wrench(PANDA, last.q[-1], last.torque[-1], last.std[-1])
    np.testing.assert_allclose(found.wrench[3:], force[3:], atol=3.0)


def test_contacts_do_not_pass_for_noise_wherever_they_begin():
    noise = copy.deepcopy(learned()[0])
    before = noise.level(True).copy()
    t, q, u = course()
    # 1.3 s apart, against pieces of half a second.
    on = (t % 1.3 > 0.5) & (t % 1.3 < 0.8) & (t < 10.0)
    pushed = u + np.where(on[:, None], 8.0, 0.0)
    monitor = Monitor(known(), portion=0.05, noise=noise)
    felt = [new.contact[:, 0].any() for new in monitor.push(t, q, pushed)]
    assert sum(np.diff(np.array(felt, dtype=int)) == 1) >= 7
    assert (noise.level(True) < 1.3 * before).all()


@pytest.mark.slow
def test_external_torque_is_that_of_a_force_in_mujoco():
    physics, q0 = SimulatedArm(PANDA), np.array([0.3, -0.4, 0.2, -2.0, 0.1, 1.7, 0.5])
    control = ComputedTorque(RigidArm(PANDA), 0.001)
    state, samples = physics.reset(q0), []
    data, body = physics._data, physics._model.joint('fer_joint4').bodyid[0]
    for k in range(500):
        t = k / 1000
        # A ramp at 0.4 rad/s, fast enough for the friction to be known.
        wanted = q0 + 0.4 * t
        tau = control.torque(state.q, state.qd, wanted, np.full(7, 0.4), np.zeros(7))
        samples.append((t, state.q, tau))
        pushed = np.zeros(7)
        place = data.xpos[body] + data.xmat[body].reshape(3, 3) @ [0.0, 0.05, 0.0]
        mujoco.mj_applyFT(
            physics._model, data, [0.0, 60.0, 10.0], np.zeros(3), place, body, pushed)
        state = physics.step(tau + pushed, 2)
    monitor = Monitor(known(), portion=0.05)
    last = monitor.push(*map(np.array, zip(*samples, strict=True)))[-1]
    turned = geometric_jacobian(PANDA, last.q[-1], 'fer_joint4')
    pose = forward_kinematics(PANDA, last.q[-1], 'fer_joint4')
    lever = pose.rotation @ [0.0, 0.05, 0.0]
    velocity = turned[3:] + np.cross(turned[:3].T, lever).T
    expected = -velocity.T @ [0.0, 60.0, 10.0]
    np.testing.assert_allclose(last.torque[-1], expected, atol=0.03 * np.abs(expected).max())


def test_a_joint_at_rest_needs_more_than_its_friction():
    q = np.tile([0.3, -0.4, 0.2, -2.0, 0.1, 1.7, 0.5], (int(12 * RATE), 1))
    rng = np.random.default_rng(2)
    t = np.arange(len(q)) / RATE
    # Static friction wanders between its bounds.
    coulomb = PANDA.friction_nominal['coulomb']
    held = np.sin(0.7 * t)[:, None] * coulomb
    u = free_torque(PANDA, q, 0 * q, 0 * q) + held + 0.05 * rng.normal(size=q.shape)
    monitor = Monitor(known(), portion=0.2)
    assert not any(new.contact.any() for new in monitor.push(t, q, u))
    late = t > 11.0
    hit = monitor.push(t[late] + 1.0, q[late], u[late] + 4 * coulomb)
    assert hit[-1].contact.all()


def test_a_load_is_named_as_the_reason_that_the_model_fits_no_more():
    t, q, u = course()
    free, loaded = pinocchio_model(PANDA), pinocchio_model(PANDA)
    loaded.appendBodyToJoint(7, pin.Inertia(1.5, np.zeros(3), np.zeros((3, 3))),
                             pin.SE3(np.eye(3), PANDA.tool.placement.translation))
    heavier, lighter = ([pin.computeGeneralizedGravity(model, data, x) for x in q]
                        for model, data in ((m, m.createData()) for m in (loaded, free)))
    weight = np.array(heavier) - np.array(lighter)
    monitor = Monitor(known(), portion=0.2)
    for _ in range(2):
        monitor.push(t, q, u + weight)
        t = t + t[-1] + 1 / RATE
    found = monitor.age.finding
    assert found is not None and found.payload == pytest.approx(1.5, rel=0.1)
    assert 'dynid payload' in found.sentence


def test_a_drifted_joint_is_named():
    t, q, u = course()
    u = u.copy()
    u[:, 3] += 3.0 * np.sin(t)
    monitor = Monitor(known(), portion=0.2)
    for k in range(2):
        monitor.push(t + 20.0 * k, q, u)
    found = monitor.age.finding
    assert found is not None and found.payload is None and found.joints == ('fer_joint4',)


def test_a_tare_takes_a_constant_torque_off():
    t, q, u = course()
    noise, _ = learned()
    monitor = Monitor(known(), portion=0.05, noise=noise)
    with pytest.raises(InputError, match='half a second later'):
        monitor.tare()
    first = t < 6.0
    assert any(new.contact[:, 0].any() for new in monitor.push(t[first], q[first], u[first] + 9.0))
    monitor.tare()
    later = monitor.push(t[~first], q[~first], u[~first] + 9.0)
    assert not any(new.contact.any() for new in later)
    assert abs(np.concatenate([new.torque for new in later])[:, 0].mean()) < 0.3


@pytest.mark.slow
def test_defects_of_the_stream_raise_no_alarm():
    t, q, u = (x.copy() for x in course())
    u[3000] = 500.0
    q[4000], u[4100] = np.nan, np.inf
    t[5000:] += 3.0
    t[6001] = t[6000]
    u[7000, 2] = 1e5
    noise, _ = learned()
    monitor = Monitor(known(), portion=0.02, noise=noise)
    assert not any(new.contact.any() for new in monitor.push(t, q, u))
    counts = monitor.counters.as_dict()
    assert counts['spikes'] >= 2 and counts['gaps'] == 1 and counts['not_finite'] == 2


def test_a_low_rate_lowers_the_bandwidth():
    t, q, u = (x[::20] for x in course())
    monitor = Monitor(known(), portion=0.2)
    monitor.push(t, q, u)
    assert monitor.rate_hz == pytest.approx(25.0)
    assert monitor.bandwidth_hz == pytest.approx(2.5)


@pytest.mark.parametrize('bandwidth', [0.0, -1.0, np.nan])
def test_an_impossible_bandwidth_is_refused(bandwidth):
    with pytest.raises(InputError, match='above zero'):
        Monitor(known(), bandwidth_hz=bandwidth)


def test_an_arm_outside_of_its_limits_is_watched_without_a_warning(recwarn):
    t, q, u = course()
    beyond = replace(known(), arm=replace(PANDA, limits=replace(
        PANDA.limits, lower=np.full(7, 3.0), upper=np.full(7, 3.1))))
    new = Monitor(beyond, portion=0.2).push(t[:500], q[:500], u[:500])[-1]
    tool_wrench(beyond.arm, new.q[-1], new.torque[-1], new.std[-1])
    assert not recwarn.list
