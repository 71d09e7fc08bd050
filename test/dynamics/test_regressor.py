# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The regressor against Pinocchio, closed forms, and itself."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import pinocchio_model, random_arm
import pinocchio as pin
import pytest

from dynid_ros.arm.description.tree import JointLimits, KinematicTree
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import FrictionShape
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import ArmModel, CouplingColumn
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.tiles import EXACT_ANGLE, sine_and_rise, TILE

# Pinocchio's order: m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
PINOCCHIO = (0, 1, 2, 3, 4, 5, 7, 6, 8, 9)
SAMPLES = 5
seeds = st.integers(0, 2**32 - 1)


def motion(rng: np.random.Generator, n: int, samples: int = SAMPLES) -> np.ndarray:
    return rng.uniform(-3, 3, (3, samples, n))


def theta_of(arm: ArmModel, **by_symbol: np.ndarray) -> np.ndarray:
    """Fill standard parameters: the links of the arm, and joint by joint whatever is named."""
    layout = arm.layout
    theta = np.zeros(layout.size)
    theta[layout.all_inertial()] = arm.inertial.ravel()
    for symbol, values in by_symbol.items():
        for j, value in enumerate(values):
            theta[layout.names.index(f'{symbol}{j + 1}')] = value
    return theta


def joint_shuffle(model: pin.Model, arm: ArmModel) -> np.ndarray:
    """Pinocchio numbers the joints of a branched tree depth first."""
    return np.array([model.getJointId(name) - 1 for name in arm.joint_names])


@settings(max_examples=60)
@given(seeds, st.integers(1, 8))
def test_regressor_matches_pinocchio_on_random_trees(seed, n):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, n).rigid
    model = pinocchio_model(arm)
    data, order = model.createData(), joint_shuffle(model, arm)
    q, qd, qdd = motion(rng, n)
    Y = regressor(arm, q, qd, qdd)
    for k in range(SAMPLES):
        state = np.empty((3, n))
        state[:, order] = q[k], qd[k], qdd[k]
        theirs = pin.computeJointTorqueRegressor(model, data, *state)
        theirs = theirs.reshape(n, n, 10)[order][:, order][:, :, PINOCCHIO].reshape(n, -1)
        np.testing.assert_allclose(Y[k], theirs, rtol=0, atol=1e-10 * np.abs(theirs).max())


@settings(max_examples=40)
@given(seeds, st.integers(1, 7))
def test_torque_is_that_of_rnea_with_rotor_inertia_and_friction_on_top(seed, n):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, n)
    model = pinocchio_model(arm)
    data, order = model.createData(), joint_shuffle(model, arm)
    Ia, Fv, Fc, Fo = rng.uniform(0, 2, (4, n))
    q, qd, qdd = motion(rng, n)
    tau = regressor(arm, q, qd, qdd) @ theta_of(arm, Ia=Ia, Fv=Fv, Fc=Fc, Fo=Fo)
    for k in range(SAMPLES):
        state = np.empty((3, n))
        state[:, order] = q[k], qd[k], qdd[k]
        theirs = pin.rnea(model, data, *state)[order]
        theirs = theirs + Ia * qdd[k] + Fv * qd[k] + Fc * np.sign(qd[k]) + Fo
        np.testing.assert_allclose(tau[k], theirs, rtol=0, atol=1e-10 * np.abs(theirs).max())


@given(seeds, st.integers(1, 6))
@settings(max_examples=25)
def test_one_sample_gives_what_it_gives_among_many(seed, n):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, n)
    # Complete tiles, and one of which the last samples do not fill a register.
    q, qd, qdd = motion(rng, n, 2 * TILE + 7)
    Y = regressor(arm, q, qd, qdd)
    for k in (0, 1, TILE - 1, TILE, *range(2 * TILE, len(q))):
        one = regressor(arm, q[k], qd[k], qdd[k])
        assert one.shape == (1, n, arm.layout.size)
        np.testing.assert_array_equal(one[0], Y[k])


def test_any_angle_is_turned_by():
    # Twice the rounding of one for the polynomials, beside that of the library.
    near = np.linspace(-7, 7, 4001)
    far = np.random.default_rng(0).uniform(-1, 1, 4000) * np.geomspace(1, EXACT_ANGLE, 4000)
    steps = np.pi / 4 * np.arange(-800, 801)
    beyond = np.array([1e7, -3e9, 1e15, 1e300])
    for angle in (near, far, steps, np.nextafter(steps, 9e9), beyond):
        for part in np.array_split(angle, -(-len(angle) // TILE)):
            out, padded = np.empty(2 * TILE), np.resize(part, TILE)
            sine_and_rise(padded, out, len(part))
            found = out.reshape(2, TILE)[:, :len(part)]
            np.testing.assert_allclose(
                found, [np.sin(part), 1 - np.cos(part)], rtol=0, atol=4e-16)


@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_a_position_that_is_no_number_gives_none(value):
    arm = random_arm(np.random.default_rng(3), 3, prismatic=False, branched=False).rigid
    q, qd, qdd = motion(np.random.default_rng(4), 3)
    clean = regressor(arm, q, qd, qdd)
    q[2, 1] = value
    Y = regressor(arm, q, qd, qdd)
    assert np.isnan(Y[2, 1, 10:20]).any()
    np.testing.assert_array_equal(np.delete(Y, 2, axis=0), np.delete(clean, 2, axis=0))


def test_a_branch_does_not_load_joints_that_do_not_carry_it():
    arm = random_arm(np.random.default_rng(1), 3, prismatic=False).rigid
    arm = arm.with_tree(parent=np.array([-1, 0, 0]))
    Y = regressor(arm, *motion(np.random.default_rng(2), 3)).reshape(SAMPLES, 3, 3, 10)
    assert (Y[:, 1, 2] == 0).all() and (Y[:, 2, 1] == 0).all()
    assert (Y[:, 0] != 0).any(axis=(0, 2)).all()


@pytest.mark.parametrize(('name', 'symbol', 'value'), [
    ('viscous', 'Fv', lambda qd, _: qd),
    ('coulomb', 'Fc', lambda qd, _: np.sign(qd)),
    ('offset', 'Fo', lambda qd, _: np.ones_like(qd)),
    ('coulomb_smooth', 'Fcs', lambda qd, _: np.tanh(qd / 0.05)),
    ('sign_10', 'Fta', lambda qd, _: np.tanh(qd / 0.01)),
    ('sign_100', 'Ftb', lambda qd, _: np.tanh(qd / 0.1)),
    ('sign_1000', 'Ftc', lambda qd, _: np.tanh(qd)),
    ('stribeck', 'Fs', lambda qd, _: np.tanh(qd / 0.05) * np.exp(-np.abs(qd) / 0.2)),
    ('viscous_cuberoot', 'Fcr', lambda qd, _: np.sign(qd) * np.abs(qd) ** (1 / 3)),
    ('load', 'Fl', lambda qd, load: np.abs(load) * np.tanh(qd / 0.05)),
])
def test_each_friction_term_has_its_closed_form_in_its_own_joint_only(name, symbol, value):
    rng = np.random.default_rng(4)
    shape = FrictionShape(smooth_speed=0.05, stribeck_speed=0.2)
    arm = replace(random_arm(rng, 3), friction=(name,), friction_shape=shape)
    q, qd, qdd = motion(rng, 3)
    qd[0] = [0.0, 1e-3, -1e-3]
    load = rng.normal(size=qd.shape)
    columns = [arm.layout.names.index(f'{symbol}{j}') for j in (1, 2, 3)]
    block = regressor(arm, q, qd, qdd, load=load)[:, :, columns]
    expected = value(qd, load)[:, :, None] * np.eye(3)
    # cbrt and power differ in the last bits, and so does the tangent of a small angle.
    np.testing.assert_allclose(block, expected, rtol=1e-14, atol=2e-16)


def test_coupling_columns_combine_the_joints_as_declared():
    rng = np.random.default_rng(5)
    matrices = rng.normal(size=(3, 4, 4))
    quantities = ('qdd', 'qd', 'sign_qd')
    coupling = tuple(CouplingColumn(*c) for c in zip('abc', quantities, matrices, strict=True))
    arm = replace(random_arm(rng, 4), coupling=coupling)
    q, qd, qdd = motion(rng, 4)
    Y = regressor(arm, q, qd, qdd)
    assert arm.layout.names[-3:] == ('a', 'b', 'c')
    for k in range(SAMPLES):
        np.testing.assert_allclose(Y[k, :, -3], matrices[0] @ qdd[k], rtol=1e-12)
        np.testing.assert_allclose(Y[k, :, -2], matrices[1] @ qd[k], rtol=1e-12)
        np.testing.assert_array_equal(Y[k, :, -1], np.sign(matrices[2] @ qd[k]))


def two_link(l1: float, l2: float, m1: float, m2: float, g: float) -> ArmModel:
    """Planar arm of the seed article: point masses at the ends of the links, gravity along -y."""
    links = [inertial_from_com(m, [length, 0, 0], np.zeros((3, 3)))
             for m, length in ((m1, l1), (m2, l2))]
    return ArmModel(
        name='two_link',
        tree=KinematicTree(
            joint_names=('j1', 'j2'), parent=np.array([-1, 0]),
            rotation=np.tile(np.eye(3), (2, 1, 1)), translation=np.array([[0, 0, 0], [l1, 0, 0]]),
            prismatic=np.zeros(2, dtype=bool), axis=np.tile([0.0, 0.0, 1.0], (2, 1))),
        gravity=np.array([0, -g, 0]), limits=JointLimits.unknown(2), drive=Drive.joint_torque(2),
        inertial=np.array(links)).rigid


lengths = st.floats(0.1, 3)


@settings(max_examples=60)
@given(lengths, lengths, lengths, lengths, st.floats(0, 20), seeds)
def test_two_link_arm_has_the_closed_form_of_the_article(l1, l2, m1, m2, g, seed):
    (q1, q2), (dq1, dq2), (ddq1, ddq2) = state = np.random.default_rng(seed).uniform(-3, 3, (3, 2))
    c1, s1, c2, s2 = np.cos(q1), np.sin(q1), np.cos(q2), np.sin(q2)
    c12 = np.cos(q1 + q2)
    # Lagrange's equations of two point masses (Craig, eq. 6.58).
    tau1 = (m2 * l2**2 * (ddq1 + ddq2) + m2 * l1 * l2 * c2 * (2 * ddq1 + ddq2)
            + (m1 + m2) * l1**2 * ddq1 - m2 * l1 * l2 * s2 * dq2**2
            - 2 * m2 * l1 * l2 * s2 * dq1 * dq2 + m2 * l2 * g * c12 + (m1 + m2) * l1 * g * c1)
    tau2 = (m2 * l2**2 * (ddq1 + ddq2) + m2 * l1 * l2 * (c2 * ddq1 + s2 * dq1**2)
            + m2 * g * l2 * c12)
    # As the article prints them.
    tol2 = l2*m2*(c2*(c1*g + ddq1*l1) + l2*(ddq1 + ddq2) - s2*(-l1*dq1**2 + g*s1))
    tol1 = (l1*(m2*s2*(s2*(c1*g + ddq1*l1) - l2*(dq1 + dq2)**2 + c2*(-l1*dq1**2 + g*s1))
                + c2*m2*(c2*(c1*g + ddq1*l1) + l2*(ddq1 + ddq2) - s2*(-l1*dq1**2 + g*s1)))
            + l2*m2*(c2*(c1*g + ddq1*l1) + l2*(ddq1 + ddq2) - s2*(-l1*dq1**2 + g*s1))
            + l1*m1*(c1*g + ddq1*l1))
    arm = two_link(l1, l2, m1, m2, g)
    tau = regressor(arm, *state)[0] @ arm.inertial.ravel()
    # Terms of both signs of up to some 1000 Nm cancel.
    np.testing.assert_allclose(tau, [tau1, tau2], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(tau, [tol1, tol2], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize('shapes', [
    ((5, 6), (5, 6), (4, 6)), ((5, 6), (1, 6), (5, 6)), ((5, 7), (5, 7), (5, 7)),
    ((6, 5), (6, 5), (6, 5)), ((6,), (6,), (5, 6)), ((2, 5, 6), (2, 5, 6), (2, 5, 6)),
])
def test_wrong_shapes_raise(shapes):
    with pytest.raises(ValueError, match='must all be'):
        regressor(load_arm('ur10'), *(np.zeros(shape) for shape in shapes))


def test_the_load_term_asks_for_the_load():
    arm = load_arm('ur10').with_friction(('load',))
    with pytest.raises(ValueError, match='needs the torque that loads'):
        regressor(arm, *np.zeros((3, 1, 6)))
