"""Identify a real arm: run an excitation through its controller and identify while it runs."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from dynid_ros.ros.nodes.launching import config, node


def start(executable: str, **settings: object) -> Node:
    """Make a node of this package in the namespace of the arm."""
    simulated = ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)
    return node(
        executable, config(executable), {'use_sim_time': simulated, **settings},
        namespace=LaunchConfiguration('namespace'),
        remappings=[
            ('joint_states', LaunchConfiguration('joint_states')),
            ('effort_commands', LaunchConfiguration('effort_commands'))])


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments, and start nodes that wait for ~/start."""
    arm = LaunchConfiguration('arm')
    return LaunchDescription([
        DeclareLaunchArgument('arm', description='Shipped arm, or path of its arm.yaml.'),
        DeclareLaunchArgument(
            'excitation', description='excitation.yaml to run, of `dynid design`.'),
        DeclareLaunchArgument(
            'output', default_value='joint_trajectory_controller',
            choices=['joint_trajectory_controller', 'effort'],
            description='How the arm is moved; effort: torques from this computer, which is not '
                        'in real time.'),
        DeclareLaunchArgument(
            'controller', default_value='joint_trajectory_controller',
            description='Name of the joint_trajectory_controller.'),
        DeclareLaunchArgument(
            'feedforward', default_value='gravity', choices=['gravity', 'none', 'model'],
            description='Feed-forward torque, with output:=effort; none for an arm whose '
                        'driver compensates gravity.'),
        DeclareLaunchArgument(
            'dry_run', default_value='true',
            description='Publish the reference only; set to false to move the arm.'),
        DeclareLaunchArgument(
            'result', default_value='dynid_result', description='Folder for the result.'),
        DeclareLaunchArgument(
            'recordings', default_value='recordings', description='Folder for the recordings.'),
        DeclareLaunchArgument(
            'payload', default_value='false', choices=['true', 'false'],
            description='true: the identifier estimates the load only, with `model`.'),
        DeclareLaunchArgument(
            'model', default_value='',
            description='With payload: folder of `dynid identify` of the arm without the load.'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', choices=['true', 'false'],
            description='true: the time is that of /clock, of a simulator.'),
        DeclareLaunchArgument(
            'view', default_value='false', choices=['true', 'false'],
            description='true: the live page shows the nodes; its address is printed.'),
        DeclareLaunchArgument(
            'host', default_value='127.0.0.1',
            description='Address of the live page; any but this gives buttons for a token only.'),
        DeclareLaunchArgument('port', default_value='8080', description='Port of the live page.'),
        DeclareLaunchArgument('namespace', default_value='', description='Namespace of the arm.'),
        DeclareLaunchArgument(
            'joint_states', default_value='joint_states', description='Topic of the states.'),
        DeclareLaunchArgument(
            'effort_commands', default_value='effort_commands',
            description='Topic of the effort controller, such as effort_controller/commands.'),
        start('recorder', arm=arm, record_at_start=True,
              output_folder=LaunchConfiguration('recordings')),
        start('identifier', arm=arm, save_at_end=True,
              output_folder=LaunchConfiguration('result'),
              payload=ParameterValue(LaunchConfiguration('payload'), value_type=bool),
              model=ParameterValue(LaunchConfiguration('model'), value_type=str)),
        start('trajectory_publisher', arm=arm,
              excitation=LaunchConfiguration('excitation'),
              output=LaunchConfiguration('output'),
              controller=LaunchConfiguration('controller'),
              feedforward=LaunchConfiguration('feedforward'),
              dry_run=ParameterValue(LaunchConfiguration('dry_run'), value_type=bool)),
        GroupAction([start(
            'watch', arm=arm, host=ParameterValue(LaunchConfiguration('host'), value_type=str),
            port=ParameterValue(LaunchConfiguration('port'), value_type=int))],
            condition=IfCondition(LaunchConfiguration('view'))),
    ])
