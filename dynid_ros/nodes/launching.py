"""How launch files start the nodes of this package."""

from __future__ import annotations

from typing import Any

from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

PACKAGE = 'dynid_ros'
#: A node is ready for Ctrl-C once its modules are imported; until then the signal waits.
PATIENT = 'env --block-signal=INT'
#: Longest time until a node has gone, s.
LAST = '20'


def node(executable: str, *parameters: object, prefix: str = PATIENT, **further: Any) -> Node:
    """
    Make the launch action of a node.

    Parameters
    ----------
    executable : str
        Its name, which is that of the node too.
    parameters : sequence of file or dict
        As for ``launch_ros.actions.Node``.
    prefix : str
        What its command line begins with.
    **further
        Goes to ``launch_ros.actions.Node``.

    """
    return Node(
        package=PACKAGE, executable=executable, exec_name=executable, output='screen',
        parameters=[*parameters], prefix=prefix, sigterm_timeout=LAST, **further)


def config(executable: str) -> PathJoinSubstitution:
    """Return the path of the installed parameter file of a node."""
    return PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', f'{executable}.yaml'])
