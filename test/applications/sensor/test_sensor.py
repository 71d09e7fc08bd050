# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A simulated sensor at the wrist: load, biases and orientation, against what was simulated."""

from dataclasses import replace
from itertools import pairwise

import hypothesis
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sensor_rig import BIAS, CENTER, DRIFT, rotation_about, sensed, write_bag

from dynid_ros.applications.sensor.compensation import compensate, Compensator
from dynid_ros.applications.sensor.estimate import estimate_sensor
from dynid_ros.applications.sensor.sensor_file import read_sensor, write_sensor
from dynid_ros.arm import load_arm
from dynid_ros.data.files.plain_values import same_values
from dynid_ros.data.files.wrench_reader import read_wrenches
from dynid_ros.dynamics.kinematics.rotations import rotation_vectors, turned
from dynid_ros.errors import InputError, RecordingError

ARM = load_arm('ur10')


@pytest.fixture(scope='module')
def known():
    return estimate_sensor(ARM, sensed().recording)


@pytest.mark.parametrize(('seed', 'sign'), [(1, -1.0), (2, 1.0), (3, -1.0)])
def test_load_biases_and_orientation_are_found_within_their_intervals(seed, sign):
    truth = sensed(seed=seed, sign=sign)
    found = estimate_sensor(ARM, truth.recording)
    assert found.trustworthy and found.felt == (sign < 0)
    assert abs(found.mass[0] / truth.load[0] - 1) < 0.01
    assert np.linalg.norm(found.body.center - CENTER) < 0.002
    turn = Rotation.from_matrix(truth.rotation).as_rotvec(degrees=True)
    for (value, std), wanted in ((found.bias, BIAS), (found.turn, turn),
                                 (found.drift, 120 / found.seconds * DRIFT)):
        # Of some forty values none lies 4.5 standard deviations away by chance.
        assert (np.abs(value - wanted) < 4.5 * std).all()
    own = found.body.from_data
    assert own.all()
    assert (np.abs(found.body.parameters - truth.load) < 4.5 * found.body.std).all()
    # Twice what is measured: bars of any size would hold the truth.
    assert found.mass[1] < 0.003 and (found.bias[1] < np.repeat([0.004, 0.04], 3)).all()
    assert (found.turn[1] < 0.15).all()
    assert any('turned by 5.' in each or 'turned by 4.9' in each for each in found.remarks)


@pytest.mark.parametrize('degrees', [90.0, 180.0])
def test_a_sensor_that_is_mounted_in_another_way_is_found_too(degrees):
    truth = sensed(degrees=degrees)
    found = estimate_sensor(ARM, truth.recording)
    np.testing.assert_allclose(found.fit.rotation, truth.rotation, atol=5e-3)
    assert abs(found.mass[0] / truth.load[0] - 1) < 0.01


@pytest.mark.parametrize('turning', [0.0, 1e-3])
def test_an_arm_that_hardly_turns_leaves_mass_and_bias_open(turning):
    found = estimate_sensor(ARM, sensed(turning=turning).recording)
    assert [each.code for each in found.findings] == ['sensor_undetermined']
    for words in ('Turn the sensor by 90°', 'gravity turns by 0.', 'separate mass and bias'):
        assert words in found.headline


def test_a_bare_sensor_has_no_load():
    found = estimate_sensor(ARM, sensed(mass=1e-6).recording)
    assert found.trustworthy and found.headline.startswith('No load behind the sensor')


def test_something_that_pulls_at_the_tool_is_named():
    assert estimate_sensor(ARM, sensed().recording).trustworthy
    found = estimate_sensor(ARM, sensed(push=5.0).recording)
    assert [each.code for each in found.findings] == ['sensor_unexplained']


def test_the_file_of_a_sensor_is_the_sensor(known, tmp_path):
    write_sensor(known, tmp_path / 'sensor.yaml')
    again = read_sensor(tmp_path / 'sensor.yaml')
    assert all(same_values(getattr(known, name), getattr(again, name)) for name in vars(known))
    text = (tmp_path / 'sensor.yaml').read_text()
    for broken in ('', '{}', text.replace('format: 1', 'format: 7'), text[:len(text) // 2],
                   text.replace('joint: 5', 'joint: 77'), '- 1'):
        (tmp_path / 'other.yaml').write_text(broken)
        with pytest.raises(InputError, match=r'other\.yaml'):
            read_sensor(tmp_path / 'other.yaml')
    with pytest.raises(InputError, match='missing'):
        read_sensor(tmp_path / 'missing.yaml')


def test_a_compensated_wrench_is_zero_within_its_interval_and_shows_a_push(known):
    # At rest, with the biases of the end of the recording.
    still = sensed(seed=5, turning=0.0, seconds=12.0, push=8.0, drift=0.0).recording
    still = replace(still, wrench=still.wrench + DRIFT)
    found = compensate(known, still)
    free = found.t < 0.85 * still.t[-1]
    inside = np.abs(found.wrench[free]) < found.interval[free]
    # Intervals of 95 %, over some hundred independent windows.
    assert inside.mean() > 0.9
    assert (found.interval < np.repeat([0.03, 0.3], 3)).all()
    pushed = found.wrench[found.t > 0.95 * still.t[-1]]
    # The push is along x of the sensor; the result is in the stated frame.
    wanted = known.fit.rotation @ [8.0, 0.0, 0.0]
    np.testing.assert_allclose(pushed[:, 3:].mean(axis=0), wanted, atol=0.1)


def test_portions_of_any_size_give_the_same_and_a_tare_takes_all_off(known):
    log = sensed(seed=6, seconds=12.0, turning=0.0, drift=0.0).recording
    whole = compensate(known, log)
    stream, parts = Compensator(known), []
    with pytest.raises(InputError, match='half a second later'):
        stream.tare()
    sizes = np.cumsum([0, 1, 3, 60, 2, *[37] * 60])
    for start, stop in pairwise(sizes):
        parts.append(stream.push(log.t[start:stop], log.q[start:stop], log.wrench[start:stop]))
    wrench = np.concatenate([part.wrench for part in parts])
    np.testing.assert_allclose(wrench, whole.wrench[:len(wrench)], atol=1e-9)
    assert len(wrench) >= len(whole.wrench) - 1
    stream = Compensator(known)
    half = len(log.t) // 2
    stream.push(log.t[:half], log.q[:half], log.wrench[:half] + 2.0)
    stream.tare()
    after = stream.push(log.t[half:], log.q[half:], log.wrench[half:] + 2.0)
    assert (np.abs(after.wrench) < after.interval).mean() > 0.9
    # In the pose of the tare, errors of load and bias cancel: left is the noise of a window less
    # the mean of the five that fit into the half second of the tare.
    turn = np.kron(np.eye(2), known.fit.rotation)
    noise = np.sqrt(1.2 * np.diag(turn @ np.diag(known.fit.sigma**2) @ turn.T))
    np.testing.assert_allclose(after.interval, np.tile(1.96 * noise, (len(after.t), 1)), rtol=0.02)


@hypothesis.settings(max_examples=50)
@hypothesis.given(st.tuples(*3 * [st.floats(-1, 1)]), st.floats(0, 180))
def test_rotations_and_their_vectors_are_inverse(axis, degrees):
    if np.linalg.norm(axis) < 1e-3:
        return
    rotation = rotation_about(axis, degrees)
    vector = Rotation.from_matrix(rotation).as_rotvec()
    np.testing.assert_allclose(turned(vector), rotation, atol=1e-9)
    np.testing.assert_allclose(turned(rotation_vectors(rotation)), rotation, atol=1e-6)


def test_a_bag_gives_wrenches_at_its_joint_states(tmp_path):
    log = sensed(seconds=3.0).recording
    write_bag(tmp_path / 'bag', ARM, log)
    read = read_wrenches(tmp_path / 'bag', ARM)
    assert read.frame == 'ft_frame' and read.topic == '/ft/wrench'
    # The first joint state has no wrench before it, the last two none behind.
    np.testing.assert_allclose(read.q, log.q[1:-1], atol=1e-12)
    between = (log.wrench[:-2] + 2 * log.wrench[1:-1] + log.wrench[2:]) / 4
    np.testing.assert_allclose(read.wrench, between, atol=1e-6)
    with pytest.raises(RecordingError, match='too short'):
        estimate_sensor(ARM, read)
    with pytest.raises(RecordingError, match='has no topic /other'):
        read_wrenches(tmp_path / 'bag', ARM, wrench_topic='other')
    write_bag(tmp_path / 'two', ARM, log, frames=('left', 'right'))
    with pytest.raises(RecordingError, match='the frames left, right'):
        read_wrenches(tmp_path / 'two', ARM)
