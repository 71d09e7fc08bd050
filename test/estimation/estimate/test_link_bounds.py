# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Known masses and boxes of centres of mass, kept strictly whatever the estimates are."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.arm.link_bounds import LinkBounds
from dynid_ros.arm.parameters import inertial_to_com, is_physical
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import ArmError
from dynid_ros.estimation.estimate.possible_parameters import possible_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.motion.excitation.random_motion import random_motion

FREE = (-np.inf, np.inf)


def bounds(n, total=FREE, mass=(), center=()):
    """Bounds of some links by their index."""
    own = LinkBounds(np.array(total), np.full((n, 2), FREE), np.full((n, 3, 2), FREE))
    for link, pair in dict(mass).items():
        own.mass[link] = pair
    for link, box in dict(center).items():
        own.center[link] = box
    return own


def found_links(arm, theta):
    root = np.linalg.qr(random_regressor(arm)[:, base_parameters(arm).columns], mode='r')
    prior = arm_prior(arm)
    found = possible_parameters(arm, prior, root, root @ theta, prior.covariance)
    return found.values[arm.layout.all_inertial()].reshape(arm.n, 10), root


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), size=st.floats(0.01, 100.0))
def test_bounds_are_kept_strictly_by_any_estimate(seed, size):
    rng = np.random.default_rng(seed)
    arm = replace(random_arm(rng, 3, prismatic=False), friction=('viscous',),
                  rotor_nominal=None, friction_nominal={})
    masses = arm.inertial[:, 0]
    total = masses.sum() * np.array([0.9, 1.2])
    box = np.sort(rng.uniform(-0.3, 0.3, (3, 2)), axis=1)
    arm = replace(arm, link_bounds=bounds(
        3, total, {0: masses[0] * np.array([0.5, 1.1])}, {2: box}))
    # Wherever the estimate lies, far outside as well.
    theta = size * rng.normal(size=base_parameters(arm).count)
    links, _ = found_links(arm, theta)
    assert total[0] < links[:, 0].sum() < total[1]
    assert 0.5 * masses[0] < links[0, 0] < 1.1 * masses[0]
    center = links[2, 1:4] / links[2, 0]
    assert (box[:, 0] < center).all() and (center < box[:, 1]).all()
    assert all(map(is_physical, links))


def test_a_total_mass_settles_what_motion_cannot_tell_and_costs_no_torque():
    arm = replace(load_arm('ur10'), friction=('viscous', 'coulomb', 'offset'))
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    total = arm.inertial[:, 0].sum()
    known = replace(arm, link_bounds=bounds(6, (1.5 * total, 1.6 * total)))
    links, root = found_links(known, theta)
    assert 1.5 * total < links[:, 0].sum() < 1.6 * total
    # The first link carries what gravity does not show.
    values = nominal_parameters(known)
    values[known.layout.all_inertial()] = links.ravel()
    off = root @ (base_parameters(known).grouping @ values - theta)
    assert np.linalg.norm(off) < 0.02 * np.linalg.norm(root @ theta)


def test_prior_moves_inside_with_the_inertia_about_the_centre():
    arm = load_arm('ur10')
    mass, center, inertia = inertial_to_com(arm.inertial[2])
    known = bounds(6, (0.0, arm.inertial[:, 0].sum() / 2), {0: (4.0, 6.0)},
                   {2: center[:, None] + np.array([0.1, 0.2])})
    moved = known.inside(arm.inertial)
    own, there, about = inertial_to_com(moved[2])
    np.testing.assert_allclose(there, center + 0.11)
    np.testing.assert_allclose(about, own / mass * inertia)
    assert 4.0 < moved[0, 0] < 6.0
    assert moved[:, 0].sum() < arm.inertial[:, 0].sum() / 2
    np.testing.assert_allclose(
        bounds(6).inside(arm.inertial), arm.inertial, rtol=1e-12, atol=1e-15)


@pytest.mark.slow
def test_result_keeps_the_bounds_and_a_result_without_any_is_read(tmp_path):
    arm = load_arm('two_axis')
    total = arm.inertial[:, 0].sum()
    arm = replace(arm, link_bounds=bounds(2, (2 * total, 3 * total)))
    log = followed(arm, random_motion(arm, 3, tries=30), 125.0, seed=3)
    model = identify(arm, [log])
    write_result(model, tmp_path)
    again = read_result(tmp_path)
    assert 2 * total < again.possible_arm.inertial[:, 0].sum() < 3 * total
    np.testing.assert_array_equal(
        again.standard_parameters().values, model.standard_parameters().values)
    path = tmp_path / 'result.yaml'
    text = path.read_text()
    start = text.index('  link_bounds:')
    end = text.index('\n', start)
    while text[end + 1:].startswith('    '):
        end = text.index('\n', end + 1)
    path.write_text(text[:start] + text[end + 1:])
    assert read_result(tmp_path).arm.link_bounds is None


def written(folder, section):
    row = '{alpha: 0, a: 0.3, d: 0, theta: 0}'
    text = (f'description:\n  mdh: {{rows: [{row}, {row}]}}\njoints: [a, b]\n'
            f'links: {section}\n')
    (folder / 'arm.yaml').write_text(text)
    return folder


def test_arm_yaml_states_them(tmp_path):
    arm = load_arm(written(
        tmp_path, '{total_mass: [2, 3], mass: {b: [0, 1.5]}, '
                  'center: {b: [0, 0.3, -0.1, 0.1, -0.05, 0.05]}}'))
    known = arm.link_bounds
    np.testing.assert_array_equal(known.total_mass, [2, 3])
    np.testing.assert_array_equal(known.mass, [FREE, (-np.inf, 1.5)])
    np.testing.assert_array_equal(known.center[1], [(0, 0.3), (-0.1, 0.1), (-0.05, 0.05)])
    assert not np.isfinite(known.center[0]).any()


@pytest.mark.parametrize(('section', 'words'), [
    ('{total_mass: [3, 2]}', 'links.total_mass'),
    ('{total_mass: 3}', 'must be a list of 2 numbers'),
    ('{mass: {c: [1, 2]}}', 'unknown key "c"'),
    ('{mass: {a: [-2, -1]}}', 'links.mass.a'),
    ('{center: {a: [0, 1, 1, 0, 0, 1]}}', 'links.center.a'),
    ('{total_mass: [1, 2], mass: {a: [3, 4]}}', 'outside of the sum of the masses'),
    ('{total_mass: [7.9, 10], mass: {a: [3, 4], b: [3, 4]}}', 'leaves no room in it'),
    ('{total_mass: [9, 10], mass: {a: [3, 4], b: [3, 4]}}', '6 to 8'),
])
def test_bounds_that_cannot_be_meant_are_one_sentence(section, words, tmp_path):
    with pytest.raises(ArmError, match=r'arm\.yaml') as raised:
        load_arm(written(tmp_path, section))
    assert words in str(raised.value)
