# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""All that is done with an arm whose joints others follow: a palletiser against Pinocchio."""

from copy import copy
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from synthetic_recordings import Waves
from test_followers import GEARING, OFFSET
from urdf_files import palletiser, write

import dynid_ros
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.surroundings import load_surroundings, Wall
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.motion.feasibility.clearance import clearances, CollisionBarrier
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.motion.trajectory.fourier import FourierMotion

RADIUS = 0.1
LOAD, AT = 20.0, np.array([0.05, 0.1, -0.3])
FORCE = np.array([150.0, -100.0, 200.0])
RATE = 200.0

close = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-9)


@pytest.fixture(scope='module')
def file(tmp_path_factory):
    """URDF whose links are balls, to see and to hit."""
    tree = ElementTree.fromstring(palletiser())
    for link in tree.findall('link'):
        for kind in ('visual', 'collision'):
            part = ElementTree.SubElement(link, kind)
            ElementTree.SubElement(part, 'origin', xyz='0 0 0.1')
            shape = ElementTree.SubElement(part, 'geometry')
            ElementTree.SubElement(shape, 'sphere', radius=str(RADIUS))
    return write(tmp_path_factory.mktemp('arm'), ElementTree.tostring(tree, encoding='unicode'))


@pytest.fixture(scope='module')
def arm(file):
    return load_arm(file)


class Truth:
    """All six joints in Pinocchio, moved by four drives, perhaps with a load on the flange."""

    def __init__(self, load=0.0):
        self.model = pin.buildModelFromXML(palletiser())
        if load:
            self.model.inertias[6] += pin.Inertia(load, AT, 0.3 * np.eye(3))
        self.data = self.model.createData()

    def every(self, q):
        return GEARING @ q + OFFSET

    def torque(self, q, qd, qdd):
        rigid = [pin.rnea(self.model, self.data, self.every(a), GEARING @ b, GEARING @ c)
                 for a, b, c in zip(q, qd, qdd, strict=True)] @ GEARING
        return rigid + 20 * qd + 10 * np.tanh(qd / 1e-3)

    def pushed(self, q):
        """Torque of a force on the flange, along the axes of the base."""
        own = [pin.computeJointJacobian(self.model, self.data, self.every(each), 6)[:3]
               for each in q]
        return np.array([FORCE @ self.places(each)[3].rotation @ J @ GEARING
                         for each, J in zip(q, own, strict=True)])

    def places(self, q):
        """Frames of the links in the order of the arm: j1 to j4, level_1, level_2."""
        pin.forwardKinematics(self.model, self.data, self.every(q))
        return [self.data.oMi[k] for k in (1, 2, 4, 6, 3, 5)]


def log(arm, seed, truth, seconds=30.0, push=None):
    t = np.arange(0, seconds, 1 / RATE)
    q, qd, qdd = Waves.random(arm, seed).at(t)
    u = truth.torque(q, qd, qdd)
    if push is not None:
        chosen = (t > push[0]) & (t < push[1])
        u[chosen] -= truth.pushed(q[chosen])
    noise = np.array([2.0, 4.0, 2.0, 0.1]) * np.random.default_rng(seed).normal(size=q.shape)
    return Recording(t, q, u + noise, arm.joint_names, 'effort', f'log {seed}')


@pytest.fixture(scope='module')
def model(arm):
    return dynid_ros.identify(arm, [log(arm, 1, Truth())])


@pytest.mark.slow
def test_the_stream_finds_what_the_recording_holds(arm, model):
    recorded = log(arm, 1, Truth())
    session = dynid_ros.OnlineIdentifier(arm, cutoff_hz=model.treatment.cutoff_hz, delay=0.0)
    for start in range(0, len(recorded.t), 250):
        part = slice(start, start + 250)
        session.push(recorded.t[part], recorded.q[part], recorded.u[part])
    found = session.result()
    assert found.verdict.trustworthy, found.verdict.reasons
    states = [x[::50] for x in Waves.random(arm, 2).at(np.arange(0, 30, 1 / RATE))]
    expected = Truth().torque(*states)
    for each in (found, model):
        left = each.predict_torque(*states) - expected
        assert np.linalg.norm(left) < 0.02 * np.linalg.norm(expected)


def test_clearances_are_those_of_the_balls_where_pinocchio_has_them(arm, file):
    floor = Wall('floor', np.array([0.0, 0.0, 0.3]), np.array([0.0, 0.0, 1.0]))
    scene = build_scene(arm, replace(load_surroundings(file, arm), walls=(floor,)))
    assert {'wrist_0 - floor', 'base_0 - wrist_0', 'hinge_0 - flange_0'} <= set(scene.names)
    names, own = dict(zip(arm.tree.link_names, range(6), strict=True)), Truth()
    bodies = {'turret': 'j1', 'upper': 'j2', 'hinge': 'level_1', 'fore': 'j3',
              'wrist': 'level_2', 'flange': 'j4'}
    rng = np.random.default_rng(0)
    for q in rng.uniform(arm.limits.lower, arm.limits.upper, (10, arm.n)):
        places = own.places(q)
        balls = {body: places[names[joint]].act(np.array([0, 0, 0.1]))
                 for body, joint in bodies.items()}
        balls['base'] = np.array([0, 0, 0.1])
        expected = []
        for pair in scene.names:
            one, other = pair.replace('_0', '').split(' - ')
            expected.append(balls[one][2] - 0.3 - RADIUS if other == 'floor' else
                            np.linalg.norm(balls[one] - balls[other]) - 2 * RADIUS)
        close(scene.distances(q), expected, atol=1e-6)
        step = 1e-4 * rng.normal(size=arm.n)
        change = np.abs(scene.distances(q + step) - scene.distances(q))
        assert (change <= scene.levers @ np.abs(step) + 1e-9).all()
        wide = copy(scene)
        wide.kept = np.full(len(scene.names), -9.0)
        wide.width = np.full(len(scene.names), 20.0)
        value = CollisionBarrier(wide)
        level, near = value.at(q[None])
        assert np.isfinite(level)
        ahead, behind = (value.at((q + s * step)[None])[0] for s in (1, -1))
        assert value.slope(q[None], near)[0] @ (2 * step) == pytest.approx(
            ahead - behind, rel=1e-3, abs=1e-7)
    middle = (arm.limits.lower + arm.limits.upper) / 2
    motion = FourierMotion.at_rest(4.0, middle, 0.2 * rng.normal(size=(4, 4)), ramp=1.0)
    brute = np.min([scene.distances(q) for q in motion.evaluate(
        np.linspace(0, motion.duration, 2001))[0]], axis=0)
    assert (clearances(scene, motion) <= brute + 1e-12).all()


def test_the_view_places_every_link_where_pinocchio_has_it(arm, file):
    pytest.importorskip('viser')
    from dynid_ros.arm.surroundings import Surroundings
    from dynid_ros.pages.viewer.scene.arm_body import ArmBody
    from dynid_ros.pages.viewer.scene.link_visuals import link_visuals
    from dynid_ros.pages.viewer.server import LOOPBACK, open_server

    server = open_server(LOOPBACK, 0, 'test')
    try:
        visuals, _ = link_visuals(Surroundings(urdf=file), arm)
        body = ArmBody(server.scene, arm, visuals)
        assert {each.joint for each in visuals} == {-1, *range(6)}
        q = np.array([0.3, -0.2, 0.5, 1.0])
        body.place(q)
        for frame, place in zip(body._frames, Truth().places(q), strict=True):
            np.testing.assert_allclose(frame.position, place.translation, atol=1e-12)
            w, x, y, z = frame.wxyz
            np.testing.assert_allclose(pin.Quaternion(w, x, y, z).toRotationMatrix(),
                                       place.rotation, atol=1e-12)
        body.paint(np.array([0.0, 0.5, 1.0, 0.2]))
        colours = {each: surface.color for each, surface in zip(
            body._joints, body.surfaces, strict=True)}
        assert colours[4] == colours[1] and colours[5] == colours[2] != colours[3]
    finally:
        server.stop()


@pytest.mark.slow
def test_the_report_lists_the_links_that_follow(model, tmp_path):
    model.save(tmp_path / 'result')
    page = (tmp_path / 'result' / 'report.html').read_text()
    for name in ('level_1', 'level_2', 'j4'):
        assert f'· {name}' in page
    assert dynid_ros.load_model(tmp_path / 'result').arm.tree.followers == (
        model.arm.tree.followers)


def test_a_load_behind_a_follower_is_found(arm, model):
    found = dynid_ros.payload(model, [log(arm, 3, Truth(LOAD))])
    assert found.present and found.trustworthy, found.findings
    mass, std = found.masses[found.method]
    assert mass == pytest.approx(LOAD, abs=max(4 * std, 0.02 * LOAD))
    # The wrist stays level: gravity does not show the height.
    np.testing.assert_allclose(found.body.center[:2], AT[:2], atol=0.02)
    assert not dynid_ros.payload(model, [log(arm, 4, Truth())]).present


def test_a_push_on_the_flange_is_found_with_its_torque(arm, model):
    found = dynid_ros.monitor(model, log(arm, 5, Truth(), push=(12.0, 13.0)))
    [contact] = found.contacts
    assert 12 <= contact.start < 12.3 and 12.9 < contact.stop < 13.4
    q = Waves.random(arm, 5).at(np.array([contact.at]))[0]
    assert np.abs(contact.torque + Truth().pushed(q)[0]).max() < 0.25 * np.abs(
        Truth().pushed(q)).max()
