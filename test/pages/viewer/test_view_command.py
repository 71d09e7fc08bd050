# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid view``: what it writes, and what it says to wrong input."""

from dataclasses import replace
from importlib.util import find_spec
import socket
import sys

import numpy as np
import pytest
from viewer_rig import arm_file, motion_file

from dynid_ros.arm import load_arm
from dynid_ros.arm.parameters import inertial_from_com, inertial_to_com
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import InputError
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.pages.viewer.charts import track_charts
from dynid_ros.pages.viewer.file_page import FilePage
from dynid_ros.pages.viewer.scene.closest_pair import ClosestPair
from dynid_ros.pages.viewer.scene.inertia_ellipsoids import Ellipsoid
from dynid_ros.pages.viewer.scene.track_scene import TrackScene
from dynid_ros.pages.viewer.server import LOOPBACK, open_server
from dynid_ros.pages.viewer.sources.file import motion_track, recording_track

pytestmark = pytest.mark.skipif(find_spec('viser') is None, reason='viser is not installed')


@pytest.fixture
def swing(tmp_path):
    return arm_file(tmp_path), motion_file(tmp_path)


def complaint(capsys, *arguments):
    assert main(['view', *map(str, arguments)]) == 2
    said = capsys.readouterr().err
    assert said.startswith('dynid view: ')
    assert said.count('\n') == 1
    return said


def test_one_file_holds_the_page(swing, tmp_path, capsys):
    page = tmp_path / 'page.html'
    assert main(['view', *map(str, swing), '--html', str(page)]) == 0
    text = page.read_text()
    assert 'least clearance' in text
    assert 'position, % of its range' in text
    assert f'{len(text.encode()) / 1e6:.1f} MB' in capsys.readouterr().out


@pytest.mark.filterwarnings('error::RuntimeWarning')
def test_joints_without_limits_have_finite_charts(swing):
    arm = load_arm(swing[0])
    endless = np.full(arm.n, np.inf)
    arm = replace(arm, limits=replace(arm.limits, lower=-endless, upper=endless))
    charts = list(track_charts(motion_track(swing[1], arm), None, 0.0))
    assert charts and np.isfinite([chart['ends'] for chart in charts]).all()


@pytest.fixture(scope='module')
def identified(tmp_path_factory):
    """Simulate a recording, and identify from it."""
    folder = tmp_path_factory.mktemp('two_axis')
    bag, result = folder / 'bag', folder / 'result'
    motion, arm = folder / 'motion.yaml', load_arm('two_axis')
    write_motion(motion, random_motion(arm, 0, period=6.0, periods=2, tries=20), arm)
    assert main(['simulate', 'two_axis', str(motion), '-o', str(bag)]) == 0
    main(['identify', str(bag), '--arm', 'two_axis', '-o', str(result),
          '--friction', 'viscous,coulomb,offset'])
    return bag, result


@pytest.mark.slow
def test_push_becomes_a_moment_of_the_recording(identified):
    bag, result = identified
    model, arm = read_result(result), load_arm('two_axis')
    recording = read_recording(bag, arm)
    quiet = recording_track(recording, arm, model)
    begin = recording.t[0] + recording.seconds / 2
    pushed = (recording.t > begin) & (recording.t < begin + 0.4)
    u = recording.u.copy()
    u[pushed, 0] += 3 * np.ptp(u[:, 0])
    track = recording_track(replace(recording, u=u), arm, model)
    assert not [moment for moment in quiet.moments if moment.kind == 'outlier']
    first = next(moment for moment in track.moments if moment.kind == 'outlier')
    # The low-pass reaches some tenths of a second ahead.
    assert first.t == pytest.approx(begin - recording.t[0], abs=1.0)
    assert arm.joint_names[0] in first.text
    assert np.nanmax(track.heat[:, 0]) == 1.0
    assert track.tau_hat.shape == track.tau.shape == track.q.shape


@pytest.mark.slow
def test_recording_and_result_have_pages(identified, tmp_path):
    bag, result = identified
    page = tmp_path / 'page.html'
    assert main(['view', str(bag), '--arm', 'two_axis', '--model', str(result),
                 '--html', str(page)]) == 0
    assert 'Measured and predicted torque' in page.read_text()
    assert main(['view', str(result), '--html', str(page)]) == 0
    assert 'from the prior' in page.read_text()


def test_wrong_input_is_named_in_one_line(swing, tmp_path, capsys):
    arm, motion = swing
    broken = tmp_path / 'nan.yaml'
    broken.write_text(motion.read_text().replace('0.0', '.nan', 1))
    empty = tmp_path / 'empty.yaml'
    empty.write_text('')
    assert 'gone.yaml' in complaint(capsys, arm, tmp_path / 'gone.yaml')
    assert 'gone' in complaint(capsys, 'gone', motion)
    assert 'choose the arm' in complaint(capsys, 'ur10', motion)
    assert 'nan.yaml' in complaint(capsys, arm, broken)
    assert 'empty.yaml' in complaint(capsys, arm, empty)
    assert '--arm' in complaint(capsys, tmp_path)
    assert '3 names' in complaint(capsys, arm, motion, motion)
    assert '--arm' in complaint(capsys, arm, motion, '--arm', arm)


def test_defects_stand_where_they_are_in_the_recording():
    arm = load_arm('two_axis')
    t = 500.0 + np.arange(0.0, 10.0, 0.01)
    q = np.sin(t[:, None] + np.arange(arm.n))
    u = 3 * np.cos(q)
    q[300, 0] = np.nan
    track = recording_track(Recording(t, q, u, arm.joint_names), arm)
    (moment,) = [each for each in track.moments if 'NaN' in each.text]
    assert moment.t == pytest.approx(3.0, abs=1e-6)


def test_a_port_that_is_taken_is_named(swing, capsys):
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()
        port = other.getsockname()[1]
        assert str(port) in complaint(capsys, *swing, '--port', port)
    assert '65535' in complaint(capsys, *swing, '--port', 70000)
    assert 'no address' in complaint(capsys, *swing, '--host', '192.0.2.1')


def test_the_page_does_not_move_back_what_a_user_drags(swing):
    server = open_server(LOOPBACK, 0, 'test')
    try:
        arm = load_arm(swing[0])
        page = FilePage(server, TrackScene(
            server, motion_track(swing[1], arm), load_surroundings(swing[0], arm)))
        # viser sets the value before the page hears of it.
        page._slider.value = 1.0
        page._refresh()
        assert page._slider.value == 1.0
        page.go_to(0.5)
        assert page._slider.value == 0.5
    finally:
        server.stop()


def test_missing_viser_is_named_with_its_remedy(swing, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, 'viser', None)
    assert '(pip install viser)' in complaint(capsys, *swing)
    with pytest.raises(InputError, match='viser'):
        open_server('127.0.0.1', 0, 'test')


def test_closest_pair_is_the_nearest_of_all():
    arm = load_arm('ur10')
    scene = build_scene(arm, load_surroundings('ur10', arm))
    q = np.random.default_rng(1).uniform(-2, 2, (20, arm.n))
    pair = ClosestPair(scene, q)
    for k, position in enumerate(q):
        every = scene.distances(position)
        assert pair.distance[k] == pytest.approx(every.min(), abs=1e-9)
        assert pair.names[k] == scene.names[int(every.argmin())]
        apart = np.linalg.norm(np.diff(pair.points[k], axis=0))
        assert apart == pytest.approx(abs(pair.distance[k]), abs=1e-6)


def test_ellipsoids_have_the_inertia_of_their_links():
    known = inertial_from_com(3.0, [0.1, -0.2, 0.3], np.diag([0.03, 0.02, 0.04]))
    shape = Ellipsoid('<b>', known, 0.1, np.zeros(10, dtype=bool))
    a, b, c = shape.lengths**2
    moments = shape.mass / 5 * np.array([b + c, a + c, a + b])
    np.testing.assert_allclose(
        shape.axes @ np.diag(moments) @ shape.axes.T, inertial_to_com(known)[2], atol=1e-12)
