"""Watch an arm by its identified model."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterValue

from dynid_ros.ros.nodes.launching import config, node


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments, and start the node."""
    rate = LaunchConfiguration('alarms_per_hour')
    return LaunchDescription([
        DeclareLaunchArgument('model', description='Folder of dynid identify.'),
        DeclareLaunchArgument(
            'alarms_per_hour', default_value='1.0', description='False alarms of the arm, 1/h.'),
        DeclareLaunchArgument(
            'frame_id', default_value='tool', description='TF frame of the tool of arm.yaml.'),
        DeclareLaunchArgument('namespace', default_value='', description='Namespace of the arm.'),
        DeclareLaunchArgument(
            'joint_states', default_value='joint_states', description='Topic of the states.'),
        DeclareLaunchArgument(
            'config', default_value=config('monitor'),
            description='Further parameters of the monitor.'),
        node('monitor', LaunchConfiguration('config'),
             {'model': LaunchConfiguration('model'),
              'alarms_per_hour': ParameterValue(rate, value_type=float),
              'frame_id': LaunchConfiguration('frame_id')},
             namespace=LaunchConfiguration('namespace'),
             remappings=[('joint_states', LaunchConfiguration('joint_states'))]),
    ])
