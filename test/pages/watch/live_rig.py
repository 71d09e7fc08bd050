"""A page of made-up nodes, and a browser that opens it."""

import time

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.pages.watch.commands import Commands
from dynid_ros.pages.watch.live_state import LiveState, Report
from dynid_ros.pages.watch.planned_motion import PlannedMotion

ARM = load_arm('two_axis')
#: Time that a busy machine is given for what takes a moment, s.
PATIENCE = 120.0
IDLE = Report(0, 'idle', {'phase': 'idle', 'start_speed': '0.5', 'dry_run': 'False'})


def visit(browser, url):
    """Open a page, and keep what it complains of and whom it asks."""
    tab = browser.new_page(viewport={'width': 900, 'height': 500})
    tab.complaints, tab.asked = [], []
    tab.on('console', lambda said: tab.complaints.append(said.text)
           if said.type == 'error' else None)
    tab.on('pageerror', lambda error: tab.complaints.append(str(error)))
    tab.on('request', lambda request: tab.asked.append(request.url))
    tab.set_default_timeout(1000 * PATIENCE)
    tab.goto(url)
    return tab


def motion(arm=ARM):
    """Return ten seconds of it."""
    t = np.linspace(0, 10, 101)
    allowed = planning_limits(arm)
    swing = 0.1 * np.sin(t)[:, None] * np.ones(arm.n)
    return PlannedMotion(
        t, allowed.middle + swing, 0.1 * np.cos(t)[:, None] * np.ones(arm.n))


class MadeUp:
    """A page whose nodes a test plays."""

    def __init__(self, arm=ARM, host='127.0.0.1'):
        from dynid_ros.pages.view.link_visuals import joint_capsules, LinkVisuals
        from dynid_ros.pages.watch.page import Page

        pytest.importorskip('viser', reason='viser is not installed')
        self.state, self.commands = LiveState(arm.joint_names), Commands()
        visuals = LinkVisuals(joint_capsules(arm))
        self.page = Page(arm, visuals, host, 0, self.state, self.commands)
        self.arm, self.middle = arm, planning_limits(arm).middle

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
