"""Fill in the effort of trajectories on their way to a joint_trajectory_controller."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration

from dynid_ros.ros.nodes.launching import config, node


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments, and start the node."""
    return LaunchDescription([
        DeclareLaunchArgument('model', description='Folder of dynid identify.'),
        DeclareLaunchArgument(
            'controller', default_value='joint_trajectory_controller',
            description='Controller that gets the trajectories.'),
        DeclareLaunchArgument('namespace', default_value='', description='Namespace of the arm.'),
        DeclareLaunchArgument(
            'config', default_value=config('feedforward'),
            description='Further parameters of the node.'),
        node('feedforward', LaunchConfiguration('config'),
             {'model': LaunchConfiguration('model'),
              'controller': LaunchConfiguration('controller')},
             namespace=LaunchConfiguration('namespace')),
    ])
