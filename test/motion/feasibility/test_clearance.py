# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Distances and certified clearances agree with closed forms and brute force."""

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.surroundings import Box, Capsule, load_surroundings, Surroundings, Wall
from dynid_ros.errors import ArmError
from dynid_ros.motion.feasibility.clearance import CLEARANCE_SHARE, clearances, RESOLUTION
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.motion.trajectory.fourier import FourierMotion


def random_scene(seed):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, 5)
    bodies = tuple(
        Capsule(name, j, *rng.uniform(-0.1, 0.1, (2, 3)), 0.02)
        for j, name in enumerate(arm.joint_names))
    wall = Wall('wall', np.array([0.0, 0.0, -1.5]), np.array([0.0, 0.6, 0.8]))
    box = Box('box', np.array([1.0, 1.0, 1.0]), np.array([0.2, 0.4, 0.6]), np.eye(3))
    return arm, build_scene(arm, Surroundings(bodies, (wall,), (box,)))


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(4))
def test_certified_clearances_lie_just_below_those_of_brute_force(seed):
    _, scene = random_scene(seed)
    rng = np.random.default_rng(seed)
    motion = FourierMotion.at_rest(4.0, np.zeros(5), 0.8 * rng.normal(size=(5, 4)), ramp=1.0)
    t = np.linspace(0, motion.duration, 3001)
    brute = np.array([scene.distances(q) for q in motion.evaluate(t)[0]]).min(axis=0)
    certain = clearances(scene, motion)
    assert (certain <= brute + 1e-12).all()
    # Brute force misses less than a millimetre between its samples; touching pairs go on below,
    # and far ones are only known to be far.
    apart = (brute > 0) & (brute < scene.kept + scene.width)
    allowed = np.maximum(RESOLUTION, CLEARANCE_SHARE * brute) + 1e-3
    assert (brute - certain <= allowed)[apart].all()
    far = brute >= scene.kept + scene.width
    assert (certain >= (1 - CLEARANCE_SHARE) * (scene.kept + scene.width) - RESOLUTION)[far].all()


@pytest.mark.parametrize('seed', range(4))
def test_bodies_never_move_faster_than_their_levers_say(seed):
    _, scene = random_scene(seed)
    rng = np.random.default_rng(seed)
    for q in rng.uniform(-3, 3, (50, 5)):
        step = 1e-3 * rng.normal(size=5)
        change = np.abs(scene.distances(q + step) - scene.distances(q))
        assert (change <= scene.levers @ np.abs(step) + 1e-9).all()


def test_distances_of_capsule_wall_and_box_are_those_of_geometry():
    arm = load_arm('two_axis')
    tip = Capsule('tip', 1, np.zeros(3), np.array([0.15, 0.0, 0.0]), 0.01)
    wall = Wall('wall', np.array([0.0, 0.0, 0.5]), np.array([0.0, 0.0, -1.0]))
    box = Box('box', np.array([0.0, 0.0, -1.0]), np.array([2.0, 2.0, 0.2]), np.eye(3))
    scene = build_scene(arm, Surroundings((tip,), (wall,), (box,)))
    up, down = scene.distances(np.zeros(2)), scene.distances(np.array([0.0, np.pi]))
    np.testing.assert_allclose(up, [0.5 - 0.15 - 0.01, 0.9 - 0.01], atol=1e-6)
    np.testing.assert_allclose(down, [0.5 - 0.01, 0.9 - 0.15 - 0.01], atol=1e-6)


URDF = """
<robot name="a">
  <link name="foot"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="one"/>
  <link name="two"><collision><origin xyz="0 0 0.5"/>
    <geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="three"><collision><geometry>{last}</geometry></collision></link>
  <joint name="j1" type="revolute"><parent link="foot"/><child link="one"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint>
  <joint name="j2" type="continuous"><parent link="one"/><child link="two"/>
    <origin xyz="0 0 1"/><axis xyz="1 0 0"/><limit velocity="1" effort="9"/></joint>
  <joint name="f" type="fixed"><parent link="two"/><child link="three"/>
    <origin xyz="0 0 1"/></joint>
</robot>"""


def test_geometry_of_a_urdf_is_used_on_fixed_and_moving_links(tmp_path):
    path = tmp_path / 'a.urdf'
    path.write_text(URDF.format(last='<sphere radius="0.05"/>'))
    arm = load_arm(path)
    scene = build_scene(arm, load_surroundings(path, arm))
    # Of both spheres on the second joint against the foot, whose top is at 0.1.
    np.testing.assert_allclose(
        sorted(scene.distances(np.array([0.7, 0.0]))), [1.5 - 0.2, 2.0 - 0.15], atol=1e-6)


def test_shipped_arms_stand_clear_of_themselves_and_the_floor_somewhere():
    for name in ('ur10', 'panda'):
        arm = load_arm(name)
        scene = build_scene(arm, load_surroundings(name, arm))
        rng = np.random.default_rng(0)
        limits = arm.motion_limits
        q = rng.uniform(np.maximum(limits.lower, -3), np.minimum(limits.upper, 3), (300, arm.n))
        clear = np.array([scene.distances(x).min() > scene.clearance for x in q])
        assert 0.05 < clear.mean() < 0.95


def test_nothing_to_hit_means_no_scene():
    assert build_scene(load_arm('two_axis'), Surroundings()) is None


@pytest.mark.parametrize(('text', 'words'), [
    ('collision: [{link: nope, from: [0, 0, 0], radius: 0.1}]', 'no joint of the arm: "nope"'),
    ('collision: [{link: base, radius: 0.1}]', r'"collision, entry 1.from" .* is missing'),
    ('collision: [{link: base, from: [0, 0, 0]}]', r'radius" .* is missing'),
    ('collision: {link: base}', '"collision" .* must be a list of entries'),
    ('environment: {walls: [{point: [0, 0, 0], normal: [0, 0, 0]}]}', 'has no direction'),
    ('environment: {boxes: [{center: [0, 0, 0], size: [1, 0, 1]}]}', 'above zero along every'),
    ('environment: {flor: 0}', 'unknown key "flor" .*did you mean "floor"'),
])
def test_mistakes_in_the_surroundings_are_named(tmp_path, text, words):
    table = 'mdh: {rows: [{alpha: 0, a: 0, d: 0, theta: 0}]}'
    (tmp_path / 'arm.yaml').write_text(f'description: {{{table}}}\njoints: [j1]\n{text}\n')
    arm = load_arm('two_axis')
    with pytest.raises(ArmError, match=words):
        load_surroundings(tmp_path, arm)
