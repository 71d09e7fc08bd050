# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Play a recording to the identifier, and save its result when the recording ends."""

import asyncio
import math
from pathlib import Path

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
from launch_ros.ros_adapters import get_ros_node

from dynid_ros.data.files.sidecar import recorded_topic, validation_spans
from dynid_ros.ros.nodes.common.qos import node_of
from dynid_ros.ros.nodes.launch_arguments import Given, launch_file
from dynid_ros.ros.nodes.launch_nodes import (
    CONFIG,
    folder,
    NAMESPACE,
    node,
    parameter,
    writing,
)

# Time in which player and identifier find each other, s: what is played before is lost.
DISCOVERY = '2'
# Time between looks for the identifier, s.
LOOK = 0.1
# Longest time in which the last messages arrive, ms.
LAST_MESSAGES = '5000'


def begin(given: Given) -> list[LaunchDescriptionEntity]:
    """Start the identifier, and the player once that listens."""
    try:
        speed = float(given.values['speed'])
    except ValueError:
        speed = 0.0
    if not 0 < speed < math.inf:
        raise RuntimeError(f"the launch argument speed:={given.values['speed']} must be a number "
                           'above zero')
    bag, chosen = Path(given.values['bag']), given.values['joint_states']
    topic = '/' + (chosen if 'joint_states' in given.given else recorded_topic(bag)).lstrip('/')
    model = given.values['model']
    settings = writing(
        given, 'identifier', 'result', save_at_end=True, use_sim_time=True,
        **({'payload': True} if model else {'validation': [
            edge for span in validation_spans(bag) for edge in span]}))
    identifier = node(given, 'identifier', settings, joint_states=topic)
    player = ExecuteProcess(
        cmd=['ros2', 'bag', 'play', str(bag), '--clock', '--disable-keyboard-controls',
             '--delay', DISCOVERY, '--wait-for-all-acked', LAST_MESSAGES, '--rate', str(speed)],
        output='log')
    name = '/'.join(['', *filter(None, [given.namespace]), 'identifier'])

    async def play(context: LaunchContext) -> None:
        """Start the player as soon as the identifier listens."""
        ros = get_ros_node(context)
        while name not in map(node_of, ros.get_subscriptions_info_by_topic(topic)):
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
    return launch_file(
        begin,
        DeclareLaunchArgument('bag', description='Folder of the rosbag2 recording.'),
        parameter('identifier', 'arm', None),
        folder('result', 'dynid_replay', 'result.yaml and the state of the estimator'),
        DeclareLaunchArgument(
            'joint_states', default_value='joint_states',
            description='JointState topic of the bag; by default as in its recording.yaml.'),
        DeclareLaunchArgument(
            'speed', default_value='1.0', description='Speed of the playback.'),
        *(parameter('identifier', name) for name in (
            'start', 'cutoff_hz', 'delay', 'memory', 'model')),
        NAMESPACE, CONFIG)
