# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A small arm with hostile names and its motion, a page of made-up nodes, and pictures."""

from io import BytesIO
import time

from browsers import PATIENCE
from matplotlib.image import imread
import numpy as np
import pytest
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.arm.surroundings import Surroundings
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.pages.viewer.sources.live import LiveState, Report
from dynid_ros.simulation.joint_trajectory import JointTrajectory

ARM = load_arm('two_axis')
#: It would tell in the title of the page that a browser ran it.
HOSTILE = '<img src=x onerror="document.title=\'hacked\'">'
SECONDS = 2.0
IDLE = Report(0, 'idle', {'phase': 'idle', 'start_speed': '0.5', 'dry_run': 'False'})
TWO_JOINTS = """<robot name="arm">
<link name="base"/>
<link name="upper"><inertial><mass value="2"/><origin xyz="0 0 0.2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>{visual}</link>
<link name="lower"><inertial><mass value="1"/><origin xyz="0 0 0.2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.15"/><geometry><box size="0.06 0.06 0.3"/></geometry></visual></link>
<joint name="{first}" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="3" effort="50"/></joint>
<joint name="{second}" type="revolute"><parent link="upper"/><child link="lower"/>
<origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" velocity="3" effort="20"/></joint>
</robot>"""


def arm_file(folder):
    """Write an arm above a floor, one of whose joints has a hostile name."""
    first, second = HOSTILE.replace('<', '&lt;').replace('"', '&quot;'), 'a/b'
    (folder / 'arm.urdf').write_text(TWO_JOINTS.format(first=first, second=second, visual=''))
    path = folder / 'arm.yaml'
    path.write_text(yaml.safe_dump({
        'name': '<b>arm</b>', 'description': {'urdf': 'arm.urdf'}, 'joints': [HOSTILE, second],
        'environment': {'floor': -0.1, 'boxes': [
            {'name': HOSTILE, 'center': [0.6, 0, 0.1], 'size': [0.2, 0.2, 0.2]}]},
        'collision': [{'link': 'a/b', 'from': [0, 0, 0], 'to': [0, 0, 0.3], 'radius': 0.05}]}))
    return path


def motion_file(folder):
    """Write a JointTrajectory that swings to one side and back."""
    path = folder / 'motion.yaml'
    t = np.linspace(0, SECONDS, 21)
    w = 2 * np.pi / SECONDS
    rows = zip(t, 0.7 * (1 - np.cos(w * t)), 0.7 * w * np.sin(w * t),
               0.7 * w**2 * np.cos(w * t), strict=True)
    points = [{
        'positions': [float(q)] * 2, 'velocities': [float(qd)] * 2,
        'accelerations': [float(qdd)] * 2,
        'time_from_start': {'sec': int(s), 'nanosec': round((s - int(s)) * 1e9)}}
        for s, q, qd, qdd in rows]
    path.write_text(yaml.safe_dump({'joint_names': [HOSTILE, 'a/b'], 'points': points}))
    return path


def motion(arm=ARM):
    """Return ten seconds of one that a publisher would report."""
    t = np.linspace(0, 10, 101)
    allowed = planning_limits(arm)
    swing, speed, none = (
        each[:, None] * np.ones(arm.n) for each in (0.1 * np.sin(t), 0.1 * np.cos(t), 0 * t))
    return JointTrajectory(t, allowed.middle + swing, speed, none)


class MadeUp:
    """A page whose nodes a test plays."""

    def __init__(self, arm=ARM, host='127.0.0.1', around=None):
        from dynid_ros.pages.viewer.live_page import LivePage

        pytest.importorskip('viser', reason='viser is not installed')
        self.state = LiveState(arm.joint_names)
        self.page = LivePage(arm, around or Surroundings(), host, 0, self.state)
        self.arm, self.middle = arm, planning_limits(arm).middle

    def forget(self):
        """Begin anew, as if no node had ever said anything."""
        vars(self.state).update(vars(LiveState(self.arm.joint_names)))
        self.page.requests.clear()

    def say(self, report=IDLE):
        """Let all nodes say something."""
        self.state.hear_state(self.middle)
        self.state.hear_publisher(report)
        self.state.hear_report('identifier: stream', Report(0, 'good', {'frozen': 'False'}))

    def wait(self, tab, condition, what, silent=False):
        """Let nodes speak until something is so."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f'{what}; {self.page.fault or "no fault of the page"}'
            if not silent:
                self.say()
            tab.wait_for_timeout(20)


def picture_of(canvas):
    """Take a picture of a canvas, (rows, columns, 3)."""
    return imread(BytesIO(canvas.screenshot()))[..., :3]


def settled_picture(page, canvas):
    """Take a picture of a canvas that no longer changes: viser fades its scene in."""
    before = None
    for _ in range(60):
        picture = picture_of(canvas)
        # The empty canvas is of one colour.
        if before is not None and picture.std() > 0.01 and differing(before, picture) < 1e-3:
            return picture
        before = picture
        page.wait_for_timeout(200)
    raise AssertionError('the canvas stays empty, or does not come to rest')


def differing(first, second):
    """Share of the pixels of two pictures that differ visibly."""
    return float((np.abs(first - second).max(axis=2) > 0.1).mean())
