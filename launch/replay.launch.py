"""Play a recording to the identifier, and save what it learned when the recording ends."""

import asyncio

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    OpaqueCoroutine,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import IncludeLaunchDescription, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.ros_adapters import get_ros_node

from dynid_ros.ros.nodes.launching import config, node

# Time in which player and identifier find each other, s: what is played before is lost.
DISCOVERY = '2'
# Time between looks for the identifier, s.
LOOK = 0.1
# Longest time in which the last messages arrive, ms.
LAST_MESSAGES = '5000'


def filters(given: dict[str, str], cutoff_hz: float) -> dict[str, float]:
    """Choose cut-off and delay as ``dynid replay`` does, from the whole recording."""
    from dynid_ros.arm.load import load_arm
    from dynid_ros.data.files.recording_reader import read_recording
    from dynid_ros.estimation.online.replay import stream_settings
    from dynid_ros.estimation.regression.preparation import checked_recording

    arm = load_arm(given['arm'])
    log, _ = checked_recording(read_recording(given['bag'], arm, topic=given['topic']), arm)
    treatment = stream_settings(arm, log)
    return {'cutoff_hz': cutoff_hz or treatment.cutoff_hz, 'delay': treatment.delay}


def decide(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Start the identifier, and the player once that listens."""
    given = {
        name: LaunchConfiguration(name).perform(context)
        for name in ('bag', 'arm', 'topic', 'cutoff_hz', 'memory', 'output', 'model')}
    settings = {
        'arm': given['arm'], 'output_folder': given['output'], 'save_at_end': True,
        'cutoff_hz': float(given['cutoff_hz']), 'memory': float(given['memory']),
        'use_sim_time': True,
    }
    if given['model']:
        settings |= {'payload': True, 'model': given['model']}
    else:
        settings |= filters(given, settings['cutoff_hz'])
    identifier = node(
        'identifier', LaunchConfiguration('config'), settings,
        remappings=[('joint_states', given['topic'])])
    topic = given['topic']
    player = ExecuteProcess(
        cmd=['ros2', 'bag', 'play', given['bag'], '--clock', '--disable-keyboard-controls',
             '--delay', DISCOVERY, '--wait-for-all-acked', LAST_MESSAGES,
             '--rate', LaunchConfiguration('rate')],
        output='log')

    async def play(context: LaunchContext) -> None:
        """Start the player as soon as the identifier listens."""
        ros = get_ros_node(context)
        while 'identifier' not in {
                info.node_name for info in ros.get_subscriptions_info_by_topic(
                    ros.resolve_topic_name(topic))}:
            await asyncio.sleep(LOOK)
        await context.emit_event(IncludeLaunchDescription(LaunchDescription([player])))

    return [
        identifier,
        OpaqueCoroutine(coroutine=play),
        RegisterEventHandler(OnProcessExit(
            target_action=player, on_exit=shut_down('end of the bag'))),
        RegisterEventHandler(OnProcessExit(
            target_action=identifier, on_exit=shut_down('the identifier ended'))),
    ]


def shut_down(reason: str) -> OpaqueFunction:
    """End the launch, once: launch_ros cannot be shut down a second time."""
    return OpaqueFunction(function=lambda context: [] if context.is_shutdown else [
        EmitEvent(event=Shutdown(reason=reason))])


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments."""
    return LaunchDescription([
        DeclareLaunchArgument('bag', description='Folder of the rosbag2 recording.'),
        DeclareLaunchArgument(
            'arm', description='Shipped arm, such as panda, or path of an arm.yaml or a URDF.'),
        DeclareLaunchArgument(
            'output', default_value='dynid_replay',
            description='Folder for result.yaml and the state of the estimator.'),
        DeclareLaunchArgument(
            'topic', default_value='joint_states', description='JointState topic of the bag.'),
        DeclareLaunchArgument(
            'rate', default_value='1.0', description='Speed of the playback.'),
        DeclareLaunchArgument(
            'cutoff_hz', default_value='0.0',
            description='Cut-off of the filters, Hz; 0 for that of the arm, else from the data.'),
        DeclareLaunchArgument(
            'memory', default_value='0.0',
            description='Time after which the weight of old data falls to 1/e, s; 0 for no '
                        'forgetting.'),
        DeclareLaunchArgument(
            'model', default_value='',
            description='Folder of `dynid identify` of the arm without its load, to estimate the '
                        'load only.'),
        DeclareLaunchArgument(
            'config', default_value=config('identifier'),
            description='Further parameters of the identifier.'),
        OpaqueFunction(function=decide),
    ])
