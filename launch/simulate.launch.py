"""Identify a simulated arm: design a motion, run and record it, identify, write a report."""

import asyncio
from collections.abc import Callable
from pathlib import Path
import signal

from ament_index_python.packages import get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    LogInfo,
    OpaqueCoroutine,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.events import IncludeLaunchDescription, matches_action, Shutdown
from launch.events.process import ProcessExited, ProcessIO, SignalProcess
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from dynid_ros.nodes.launching import config, node, PACKAGE, PATIENT

# What can wait comes after the control of the arm where processors are few.
BEHIND = f'{PATIENT} nice -n 10'
# On a busy machine states are late, s, and the simulated arm is far behind, rad.
PATIENCE, FAR = 1.0, 10.0


async def dynid(*arguments: str) -> int | None:
    """Run a command of this package; return its exit status, None after Ctrl-C."""
    command = str(Path(get_package_prefix(PACKAGE), 'lib', PACKAGE, 'dynid'))
    process = await asyncio.create_subprocess_exec(
        command, *arguments, start_new_session=True)
    try:
        return await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        return None


class Simulation:
    """
    The course of the launch.

    Parameters
    ----------
    given : dict
        Launch arguments.
    excitation : Path
        The motion, which is there when the nodes start.

    """

    def __init__(self, given: dict[str, str], excitation: Path) -> None:
        arm, output = given['arm'], Path(given['output'])
        self._result = output / 'result'
        self._begun = self._moved = False
        self._arm = node('simulated_arm', config('simulated_arm'), {
            'arm': arm, 'excitation': str(excitation), 'rate': float(given['rate']),
            'seed': int(given['seed'])})
        self._publisher = node('trajectory_publisher', config('trajectory_publisher'), {
            'arm': arm, 'excitation': str(excitation), 'tracking_error': FAR,
            'state_timeout': PATIENCE, 'once': True})
        self._identifier = node('identifier', config('identifier'), {
            'arm': arm, 'output_folder': str(self._result), 'save_at_end': True}, prefix=BEHIND)
        self._recorder = node('recorder', config('recorder'), {
            'arm': arm, 'output_folder': str(output / 'recordings'),
            'record_at_start': True}, prefix=BEHIND)

    def entities(self) -> list[LaunchDescriptionEntity]:
        """All nodes but the publisher, which moves as soon as the identifier listens."""
        return [
            self._arm, self._identifier, self._recorder,
            RegisterEventHandler(OnProcessIO(
                target_action=self._identifier, on_stdout=self._listening,
                on_stderr=self._listening)),
            RegisterEventHandler(OnProcessExit(
                target_action=self._publisher, on_exit=unless_shutting_down(self._stopped))),
            RegisterEventHandler(OnProcessExit(
                target_action=self._identifier, on_exit=unless_shutting_down(self._identified))),
            *(RegisterEventHandler(OnProcessExit(
                target_action=other, on_exit=unless_shutting_down(self._lost)))
              for other in (self._arm, self._recorder)),
        ]

    def _listening(self, event: ProcessIO) -> Node | None:
        """Start the motion once."""
        if self._begun or b'ready' not in event.text:
            return None
        self._begun = True
        return self._publisher

    def _stopped(self, event: ProcessExited) -> list[LaunchDescriptionEntity]:
        """End identifier and recorder, which then save what they have."""
        if event.returncode:
            raise RuntimeError('the motion was given up; trajectory_publisher says why')
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
    """Leave the ends of processes alone once all of them are told to end."""
    return lambda event, context: None if context.is_shutdown else handler(event)


def begin(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Design the motion first if none is given."""
    given = {
        name: LaunchConfiguration(name).perform(context)
        for name in ('arm', 'excitation', 'output', 'rate', 'seed')}
    if given['excitation']:
        return Simulation(given, Path(given['excitation'])).entities()
    excitation = Path(given['output'], 'excitation.yaml')

    async def design(context: LaunchContext) -> None:
        excitation.parent.mkdir(parents=True, exist_ok=True)
        status = await dynid(
            'design', given['arm'], '-o', str(excitation), '--seed', given['seed'])
        if status:
            raise RuntimeError(f"no motion could be designed for '{given['arm']}'")
        if status is not None:
            await context.emit_event(IncludeLaunchDescription(
                LaunchDescription(Simulation(given, excitation).entities())))

    return [
        LogInfo(msg=f"designing a motion for '{given['arm']}'"),
        OpaqueCoroutine(coroutine=design),
    ]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'arm', default_value='panda',
            description='Shipped arm, such as panda, or path of an arm.yaml.'),
        DeclareLaunchArgument(
            'excitation', default_value='',
            description='excitation.yaml to run; if empty, a motion is designed first.'),
        DeclareLaunchArgument(
            'output', default_value='dynid_simulation',
            description='Folder for the motion, the recording, the result and its report.'),
        DeclareLaunchArgument(
            'rate', default_value='500.0',
            description='Rate of joint_states, Hz; a divisor of 1000.'),
        DeclareLaunchArgument(
            'seed', default_value='0', description='Seed of motion and sensor noise.'),
        OpaqueFunction(function=begin),
    ])
