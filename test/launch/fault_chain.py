# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The whole chain behind a launch description, and a folder for all that it writes."""

import atexit
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
import subprocess
import tempfile

from launch import LaunchDescription
from launch_ros.actions import Node
from launch_testing.actions import ReadyToTest
import numpy as np
from results import identification

from dynid_ros.arm import load_arm
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.result_files.result_file import write_result
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.ros.nodes.launching import LONGEST_END

ARM = load_arm('panda')
#: Joint states, and reports of each node that learns, per second.
RATE, REPORTS = 250.0, 5.0
#: All that the simulated time waits for: the nodes, and the test, which keeps it to real time at
#: most, so that faults and questions come within the motions.
LOCKSTEP = ['goal', 'short', 'torque', 'other', 'recorder', 'identifier', 'monitor', 'bench']


def motion(share: float, periods: int) -> FourierMotion:
    """Random motion at a share of the speed that the limits allow."""
    whole = random_motion(ARM, 6, period=5.0, periods=periods)
    return replace(whole, sine=share * whole.sine, cosine=share * whole.cosine)


class Chain:
    """
    The nodes, and a folder for all they write, with a small disk for the recorder if possible.

    Four publishers wait for their ~/start: ``goal`` moves the arm through its controller, and
    ``short`` too but not for long; ``torque`` commands it; ``other`` has a controller that the
    test itself offers, and which does not move the arm. All that learn come back if they die.
    """

    def __init__(self) -> None:
        stack = ExitStack()
        atexit.register(stack.close)
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.disk = self.folder / 'disk'
        self.disk.mkdir()
        self.mounted = subprocess.run(
            ['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', self.disk],
            capture_output=True, check=False).returncode == 0
        if self.mounted:
            stack.callback(subprocess.run, ['umount', '--lazy', self.disk], check=True)
        self.arm = _node(
            'simulated_arm', rate=RATE, excitation=self._written('start', 0.5, 1),
            lockstep=LOCKSTEP)
        self.goal = self._publisher('goal', 0.7, 12)
        self.short = self._publisher('short', 0.5, 1)
        self.torque = self._publisher('torque', 0.1, 6, command='effort')
        self.other = self._publisher('other', 0.1, 1, controller='other', tracking_error=10.0)
        self.recorder = _node(
            'recorder', respawn=True, output_folder=str(self.disk), record_at_start=True,
            report_rate=REPORTS)
        self.identifier = _node(
            'identifier', respawn=True, output_folder=str(self.folder / 'result'), resume=True,
            report_rate=REPORTS)
        self.monitor = _node(
            'monitor', respawn=True, model=self._model(), report_rate=REPORTS)
        self.nodes = (self.arm, self.goal, self.short, self.torque, self.other, self.recorder,
                      self.identifier, self.monitor)

    def description(self) -> LaunchDescription:
        return LaunchDescription([*self.nodes, ReadyToTest()])

    def _written(self, name: str, share: float, periods: int) -> str:
        path = self.folder / f'{name}.yaml'
        write_motion(path, motion(share, periods), ARM)
        return str(path)

    def _model(self) -> str:
        """Write the true model, as if it had been identified."""
        base, folder = base_parameters(ARM), self.folder / 'model'
        still = np.zeros((600, ARM.n))
        noise = 0.1 * np.random.default_rng(0).normal(size=still.shape)
        residual = Prediction(
            'held out', True, 0.1 * np.arange(600.0), still, still + 1.0, noise, still)
        write_result(identification(
            ARM, theta=base.grouping @ nominal_parameters(ARM),
            covariance=1e-6 * np.eye(base.count), sigma=np.full(ARM.n, 0.1),
            predictions=(residual,),
            treatment=ConditioningSettings(3.0, True, 'butterworth', RATE, 25)), folder)
        return str(folder)

    def _publisher(self, name: str, share: float, periods: int, **parameters: object) -> Node:
        return _node(
            'trajectory_publisher', name=name, excitation=self._written(name, share, periods),
            start_speed=0.5, **parameters)


def _node(
    executable: str, name: str | None = None, respawn: bool = False, **parameters: object,
) -> Node:
    arm = {} if executable == 'monitor' else {'arm': 'panda'}
    return Node(
        package='dynid_ros', executable=executable, name=name or executable,
        parameters=[{**arm, 'use_sim_time': True, **parameters}], respawn=respawn,
        sigterm_timeout=LONGEST_END)
