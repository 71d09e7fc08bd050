"""Identify a simulated arm: design a motion, run and record it, identify while it runs."""

from pathlib import Path

from ament_index_python.packages import get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.events import Shutdown
from launch.events.process import ProcessExited, ProcessIO
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

PACKAGE = 'dynid_ros'
# What can wait comes after the control of the arm where processors are few.
BEHIND = 'nice -n 10'


def config(node: str) -> PathJoinSubstitution:
    """Parameter file of a node."""
    return PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', f'{node}.yaml'])


def node(executable: str, *settings: object, prefix: str = '') -> Node:
    """Make a node of this package."""
    return Node(
        package=PACKAGE, executable=executable, output='screen', parameters=[*settings],
        prefix=prefix)


def run_motion(given: dict[str, str], excitation: Path) -> list[LaunchDescriptionEntity]:
    """Start all nodes, move as soon as the identifier listens, and end with the motion."""
    arm, output = given['arm'], Path(given['output'])
    publisher = node('trajectory_publisher', config('trajectory_publisher'), {
        'arm': arm, 'excitation': str(excitation), 'output': 'effort', 'feedforward': 'model',
        'once': True})
    identifier = node('identifier', config('identifier'), {
        'arm': arm, 'output_folder': str(output / 'result'), 'save_at_end': True}, prefix=BEHIND)
    started = []

    def move(event: ProcessIO) -> Node | None:
        """Start the motion once."""
        if started or b'ready' not in event.text:
            return None
        started.append(True)
        return publisher

    finished = EmitEvent(event=Shutdown(reason='the motion has ended'))
    failed = EmitEvent(event=Shutdown(reason='no identifier'))
    return [
        node('simulated_arm', config('simulated_arm'), {
            'arm': arm, 'excitation': str(excitation), 'rate': float(given['rate']),
            'seed': int(given['seed'])}),
        identifier,
        node('recorder', {
            'arm': arm, 'output_folder': str(output / 'recordings'),
            'record_at_start': True}, prefix=BEHIND),
        RegisterEventHandler(OnProcessIO(
            target_action=identifier, on_stdout=move, on_stderr=move)),
        RegisterEventHandler(OnProcessExit(target_action=identifier, on_exit=[failed])),
        RegisterEventHandler(OnProcessExit(target_action=publisher, on_exit=[finished])),
    ]


def begin(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Design the motion first if none is given."""
    given = {
        name: LaunchConfiguration(name).perform(context)
        for name in ('arm', 'excitation', 'output', 'rate', 'seed')}
    if given['excitation']:
        return run_motion(given, Path(given['excitation']))
    output = Path(given['output'])
    output.mkdir(parents=True, exist_ok=True)
    excitation = output / 'excitation.yaml'
    dynid = Path(get_package_prefix(PACKAGE), 'lib', PACKAGE, 'dynid')
    design = ExecuteProcess(
        cmd=[str(dynid), 'design', given['arm'], '-o', str(excitation), '--seed', given['seed']],
        output='screen')

    def designed(event: ProcessExited, _: LaunchContext) -> list[LaunchDescriptionEntity]:
        if event.returncode:
            return [EmitEvent(event=Shutdown(reason='no motion could be designed'))]
        return run_motion(given, excitation)

    return [
        LogInfo(msg=f"designing a motion for '{given['arm']}'"), design,
        RegisterEventHandler(OnProcessExit(target_action=design, on_exit=designed)),
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
            description='Folder for the motion and the result.'),
        DeclareLaunchArgument(
            'rate', default_value='500.0',
            description='Rate of joint_states, Hz; a divisor of 1000.'),
        DeclareLaunchArgument(
            'seed', default_value='0', description='Seed of motion and sensor noise.'),
        OpaqueFunction(function=begin),
    ])
