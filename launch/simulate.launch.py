# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Identify a simulated arm: design a motion, run and record it, identify, write a report."""

import asyncio
from collections.abc import Callable
from pathlib import Path
import signal
import sys

from ament_index_python.packages import get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    LogInfo,
    OpaqueCoroutine,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import IncludeLaunchDescription, matches_action, Shutdown
from launch.events.process import ProcessExited, SignalProcess

from dynid_ros.ros.nodes.launch_arguments import Given, launch_file
from dynid_ros.ros.nodes.launch_nodes import (
    chosen_folder,
    CONFIG,
    folder,
    NAMESPACE,
    node,
    parameter,
    TRUTH,
)
from dynid_ros.ros.nodes.launching import chain, DESIGN, PACKAGE, PATIENT

# Rate of the states, Hz.
RATE = 250.0
# What can wait comes after the control of the arm where processors are few.
BEHIND = f'{PATIENT} nice -n 10'


async def run(*command: str) -> int | None:
    """Run a command; return its exit status, None after Ctrl-C."""
    process = await asyncio.create_subprocess_exec(*command, start_new_session=True)
    try:
        return await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        return None


async def dynid(*arguments: str) -> int | None:
    """Run a command of this package; return its exit status, None after Ctrl-C."""
    return await run(str(Path(get_package_prefix(PACKAGE), 'lib', PACKAGE, 'dynid')), *arguments)


class Simulation:
    """
    The course of the launch.

    Parameters
    ----------
    given : Given
        Launch arguments.
    output : Path
        Folder for all that is written.
    excitation : Path
        The motion, which is there when the nodes start.

    """

    def __init__(self, given: Given, output: Path, excitation: Path) -> None:
        self._result = output / 'result'
        self._moved = False
        rate = given.parameters('simulated_arm', rate=RATE)['rate']
        # Two arms have two times.
        clock = {'/clock': f'/{given.namespace}/clock'} if given.namespace else {}
        made = {
            name: node(
                given, name, given.parameters(name) | values,
                prefix=BEHIND if name in ('identifier', 'recorder') else PATIENT,
                required=False, **clock)
            for name, values in chain(
                given.values['arm'], excitation, output / 'recordings', self._result,
                rate, int(given.values['seed']), given.values['real_time'] == 'true').items()}
        self._nodes = list(made.values())
        self._arm, self._identifier, self._recorder, self._publisher = self._nodes

    def entities(self) -> list[LaunchDescriptionEntity]:
        """Return all nodes; the motion starts when identifier and recorder listen."""
        return [
            *self._nodes,
            RegisterEventHandler(OnProcessExit(
                target_action=self._publisher, on_exit=unless_shutting_down(self._stopped))),
            RegisterEventHandler(OnProcessExit(
                target_action=self._identifier, on_exit=unless_shutting_down(self._identified))),
            *(RegisterEventHandler(OnProcessExit(
                target_action=other, on_exit=unless_shutting_down(self._lost)))
              for other in (self._arm, self._recorder)),
        ]

    def _stopped(self, event: ProcessExited) -> list[LaunchDescriptionEntity]:
        """End identifier and recorder, which then save what they have."""
        if event.returncode:
            raise RuntimeError('the motion was aborted; see the log of trajectory_publisher')
        self._moved = True
        return [
            EmitEvent(event=SignalProcess(
                signal_number=signal.SIGINT, process_matcher=matches_action(there)))
            for there in (self._identifier, self._recorder)]

    def _identified(self, event: ProcessExited) -> OpaqueCoroutine:
        if event.returncode or not self._moved:
            raise RuntimeError('the identifier ended before the motion was identified')
        return OpaqueCoroutine(coroutine=self._report)

    def _lost(self, event: ProcessExited) -> None:
        if event.returncode or not self._moved:
            raise RuntimeError(f'{event.process_name} ended before the motion had ended')

    async def _report(self, context: LaunchContext) -> None:
        status = await dynid('report', str(self._result))
        if status:
            raise RuntimeError('the report could not be written')
        if status is not None:
            await context.emit_event(Shutdown(reason='the report is written'))


def unless_shutting_down(handler: Callable[[ProcessExited], object]) -> Callable[..., object]:
    """Ignore the ends of processes during the shutdown."""
    return lambda event, context: None if context.is_shutdown else handler(event)


def begin(given: Given) -> list[LaunchDescriptionEntity]:
    """Compile, design the motion if none is given, and start the nodes."""
    arm, motion = given.values['arm'], given.values['excitation']
    output = chosen_folder(given, 'output')
    excitation = Path(motion or Path(output, 'excitation.yaml'))

    async def prepare(context: LaunchContext) -> None:
        # Several nodes would compile the same kernels at once.
        status = await run(sys.executable, '-m', 'dynid_ros.ros.nodes.warm_up', arm)
        if status == 0 and not motion:
            excitation.parent.mkdir(parents=True, exist_ok=True)
            status = await dynid(
                'design', arm, '-o', str(excitation), '--seed', given.values['seed'], *DESIGN)
        if status:
            raise RuntimeError(f"'{arm}' cannot be simulated; see the lines above")
        if status is not None:
            await context.emit_event(IncludeLaunchDescription(
                LaunchDescription(Simulation(given, Path(output), excitation).entities())))

    said = 'running' if motion else 'designing'
    return [
        LogInfo(msg=f"{said} a motion for '{arm}'"),
        OpaqueCoroutine(coroutine=prepare),
    ]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments."""
    return launch_file(
        begin,
        parameter('simulated_arm', 'arm'),
        DeclareLaunchArgument(
            'excitation', default_value='',
            description='excitation.yaml to run; if empty, a motion is designed first.'),
        folder('output', 'dynid_simulation', 'motion, recording, result and its report'),
        parameter('identifier', 'start'),
        parameter('simulated_arm', 'rate', str(RATE)),
        DeclareLaunchArgument(
            'seed', default_value='0', description='Seed of motion and sensor noise.'),
        DeclareLaunchArgument(
            'real_time', default_value='false', choices=TRUTH,
            description='true: the arm moves in real time; false: as fast as all nodes follow.'),
        NAMESPACE, CONFIG)
