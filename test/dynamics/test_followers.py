# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joints that follow others count for these: a palletiser against Pinocchio."""

from functools import partial
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from synthetic_recordings import Waves
from urdf_files import palletiser, write

from dynid_ros.applications.export.standalone import python_of
from dynid_ros.applications.export.urdf import replaced_urdf, urdf_of
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.parameters import is_physical
from dynid_ros.data.files.plain_values import arm_from_plain, arm_to_plain
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.external_force import external_force
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.kinematics.pose_error import error_jacobian, exact_pose_error
from dynid_ros.dynamics.momentum import momentum_regressors
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_body import (
    forward_dynamics,
    geometric_jacobian,
    inverse_dynamics,
    mass_matrix,
)
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.simulation.mjcf import mjcf_of
from dynid_ros.simulation.physics import SimulatedArm

#: All joints of Pinocchio's tree, which are j1, j2, level_1, j3, level_2, j4, by the four drives.
GEARING = np.array([
    [1, 0, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0], [0, 0, 1, 0], [0, 0, -1, 0], [0, 0, 0, 1]])
OFFSET = np.array([0, 0, 0, 0, 0.1, 0])


@pytest.fixture
def file(tmp_path):
    return write(tmp_path, palletiser())


@pytest.fixture
def arm(file):
    return load_arm(file)


def motion(arm, count=20):
    rng = np.random.default_rng(3)
    q = rng.uniform(arm.limits.lower, arm.limits.upper, (count, arm.n))
    return q, *rng.normal(size=(2, count, arm.n))


def true_torque(q, qd, qdd):
    model = pin.buildModelFromXML(palletiser())
    data = model.createData()
    return np.array([pin.rnea(model, data, GEARING @ a + OFFSET, GEARING @ b, GEARING @ c)
                     for a, b, c in zip(q, qd, qdd, strict=True)]) @ GEARING


close = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-9)


def test_the_joints_are_those_with_drives_and_their_limits_those_of_the_followers_too(arm):
    assert arm.joint_names == ('j1', 'j2', 'j3', 'j4')
    assert arm.tree.link_names[4:] == ('level_1', 'level_2')
    close(arm.limits.lower, [-3, -0.7, -0.7, -6])
    close(arm.limits.upper, [3, 1.0, 1.3, 6])


def test_torque_counts_that_of_the_followers(arm):
    q, qd, qdd = motion(arm)
    tau = true_torque(q, qd, qdd)
    close(inverse_dynamics(arm, q, qd, qdd), tau)
    close(regressor(arm, q, qd, qdd) @ nominal_parameters(arm), tau)
    close(forward_dynamics(arm, q, qd, tau), qdd)


@pytest.mark.skipif(not hasattr(pin, 'transformJointIntoMimic'), reason='Pinocchio before 3.2')
def test_torque_is_that_of_the_mimic_joints_of_pinocchio(arm):
    q, qd, qdd = motion(arm)
    model = pin.buildModelFromXML(palletiser(), mimic=True)
    data = model.createData()
    close(inverse_dynamics(arm, q, qd, qdd), [
        pin.rnea(model, data, *state) for state in zip(q, qd, qdd, strict=True)])


def test_momentum_changes_by_the_torque(arm):
    q, qd, qdd = motion(arm)
    theta = nominal_parameters(arm)
    momentum, force = (x @ theta for x in momentum_regressors(arm, q, qd))
    close(momentum, np.einsum('kij,kj->ki', mass_matrix(arm, q), qd))
    h = 1e-5
    after, before = (momentum_regressors(
        arm, q + s * qd + s**2 / 2 * qdd, qd + s * qdd)[0] @ theta for s in (h, -h))
    np.testing.assert_allclose(
        (after - before) / (2 * h) + force, true_torque(q, qd, qdd), atol=1e-5)


def test_the_wrist_stays_level_and_the_jacobian_shows_it(arm):
    q, *_ = motion(arm)
    pose = forward_kinematics(arm, q)
    # It leans by the offset of the second parallelogram.
    np.testing.assert_allclose(pose.rotation[:, 2, 2], np.cos(0.1), atol=1e-12)
    J = geometric_jacobian(arm, q)
    close(J[:, :3, 1:3], 0)
    h = 1e-6
    for j, unit in enumerate(np.eye(arm.n)):
        ahead, behind = (forward_kinematics(arm, q + s * unit).translation for s in (h, -h))
        np.testing.assert_allclose(J[:, 3:, j], (ahead - behind) / (2 * h), atol=1e-7)
    wrench = np.array([1.0, 2, 3, 4, 5, 6])
    still = np.zeros_like(q)
    pushed = inverse_dynamics(arm, q, still, still, external_force(arm, 'tool', wrench, q))
    turned = (pose.rotation[:, None] @ wrench.reshape(2, 3, 1)).reshape(-1, 6)
    close(inverse_dynamics(arm, q) - pushed, np.einsum('kij,ki->kj', J, turned))


def test_pose_errors_of_a_reading_move_the_followers(arm):
    q = motion(arm, 1)[0][0]
    J = error_jacobian(arm, q)
    error = 1e-6 * np.random.default_rng(0).normal(size=J.shape[1])
    np.testing.assert_allclose(J @ error, exact_pose_error(arm, q, error), atol=1e-10)


def test_the_simulated_arm_keeps_the_gearing(arm):
    simulated = SimulatedArm(arm, 1e-4)
    q, qd, tau = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, -0.4, 0.3, 0.2]), np.full(4, 20.0)
    simulated.reset(q, qd)
    change = (simulated.step(tau, 10).qd - qd) / 1e-3
    expected = forward_dynamics(arm, q, qd, tau)
    np.testing.assert_allclose(change, expected, atol=0.02 * np.abs(expected).max())
    model, data = simulated._model, simulated._data
    for led, leader, offset in (('level_1', 'j2', 0.0), ('level_2', 'j3', 0.1)):
        at, by = (data.qpos[model.joint(name).qposadr[0]] for name in (led, leader))
        assert at == pytest.approx(offset - by, abs=1e-12)


def test_a_palletiser_identifies(arm):
    waves = Waves.random(arm, 1)
    t = np.arange(0, 30, 0.005)
    q, qd, qdd = waves.at(t)
    clean = true_torque(q, qd, qdd) + 20 * qd + 10 * np.sign(qd)
    noise = 0.01 * clean.std(axis=0) * np.random.default_rng(0).normal(size=q.shape)
    log = Recording(t, q, clean + noise, arm.joint_names, 'effort', 'log')
    found = identify(arm, [log])
    states = [x[::50] for x in Waves.random(arm, 2).at(t)]
    expected = true_torque(*states) + 20 * states[1] + 10 * np.sign(states[1])
    left = found.predict_torque(*states) - expected
    assert np.linalg.norm(left) < 0.02 * np.linalg.norm(expected)
    assert all(map(is_physical, found.possible_arm.inertial))
    assert len(found.possible_arm.inertial) == 6


def test_results_keep_the_followers(arm):
    back = arm_from_plain(arm_to_plain(arm))
    assert back.tree.followers == arm.tree.followers
    with pytest.raises(ValueError, match='followers'):
        arm_from_plain(arm_to_plain(arm) | {'followers': [
            {'name': 'x', 'leader': 7, 'multiplier': 1.0, 'offset': 0.0}]})


def test_exports_keep_the_followers(arm, file, tmp_path):
    q, qd, qdd = motion(arm)
    tau = true_torque(q, qd, qdd)
    own, _ = replaced_urdf(arm, file)
    for text in (urdf_of(arm), own):
        path = tmp_path / 'again.urdf'
        path.write_text(text)
        assert len(ElementTree.fromstring(text).findall('joint/mimic')) == 2
        again = load_arm(path)
        assert again.tree.followers == arm.tree.followers
        np.testing.assert_allclose(inverse_dynamics(again, q, qd, qdd), tau, rtol=1e-6, atol=1e-6)
    space = {}
    exec(python_of(arm.rigid), space)
    close([space['torque'](*state) for state in zip(q, qd, qdd, strict=True)], tau)
    model = mujoco.MjModel.from_xml_string(mjcf_of(arm))
    assert sorted(model.eq_data[:, :2].tolist()) == [[0, -1], [0.1, -1]]
