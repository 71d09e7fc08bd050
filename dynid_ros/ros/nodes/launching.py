# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Start of nodes together: parameters of a simulation, and actions of launch files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launch.substitutions import PathJoinSubstitution

#: Nodes that simulated time waits for.
LOCKSTEP = ['trajectory_publisher', 'identifier', 'recorder']
#: A motion stops without these, except in simulated time, which waits for them itself.
LISTENERS = ['recorder', 'identifier']
#: In real time, distance from the reference and age of the last state at which the publisher stops
#: the arm, rad and s: on a busy computer the simulation falls behind, and its controller monitors
#: the path, too.
TRACKING_ERROR = 10.0
STATE_TIMEOUT = 1.0
#: Options of the design: one start and ample time, so that the result depends on the seed on any
#: computer, and as many periods as the estimate of repeatability needs.
DESIGN = ('--starts', '1', '--time', '1000', '--periods', '2')
PACKAGE = 'dynid_ros'
#: A node handles Ctrl-C once its modules are imported; until then the signal waits.
PATIENT = 'env --block-signal=INT --block-signal=HUP'
#: Enclaves of config/sros2/policy.xml, and the variable that chooses one, also for the process
#: that a recorder starts.
ENCLAVES, OVERRIDE = '/dynid', 'ROS_SECURITY_ENCLAVE_OVERRIDE'
#: Variable of Fast DDS for its settings; by default it keeps 512 messages for a busy process, and
#: drops one that was stopped for longer than a second.
FAST_DDS = 'FASTRTPS_DEFAULT_PROFILES_FILE'
#: Longest time until a node has ended, s: more than the recorder allows for its bag.
LONGEST_END = '90'


def chain(
    arm: str, excitation: Path, recordings: Path, result: Path, rate: float, seed: int,
    real_time: bool,
) -> dict[str, dict[str, object]]:
    """
    Choose the parameters of all nodes of a simulation.

    Parameters
    ----------
    arm : str
        Shipped arm, or path of an arm.yaml.
    excitation : Path
        Motion to run.
    recordings, result : Path
        Folders of the recorder and of the identifier.
    rate : float
        Of the joint states, Hz.
    seed : int
        Of the noise.
    real_time : bool
        Whether the arm moves in real time, instead of as fast as the nodes can follow.

    Returns
    -------
    dict of str to dict
        Parameters by the names of the nodes.

    """
    nodes: dict[str, dict[str, object]] = {
        'simulated_arm': {'excitation': str(excitation), 'rate': rate, 'seed': seed},
        'identifier': {'output_folder': str(result), 'save_at_end': True},
        'recorder': {'output_folder': str(recordings), 'record_at_start': True},
        'trajectory_publisher': {'excitation': str(excitation), 'once': True}}
    if real_time:
        nodes['trajectory_publisher'] |= {
            'listeners': LISTENERS, 'tracking_error': TRACKING_ERROR,
            'state_timeout': STATE_TIMEOUT}
    else:
        nodes['simulated_arm']['lockstep'] = LOCKSTEP
    return {
        name: {'arm': arm, **({} if real_time else {'use_sim_time': True}), **values}
        for name, values in nodes.items()}


def enclave(executable: str) -> dict[str, str]:
    """Return the environment that gives a node its enclave, where ROS 2 enforces security."""
    if os.environ.get('ROS_SECURITY_ENABLE') != 'true' or OVERRIDE in os.environ:
        return {}
    return {OVERRIDE: f'{ENCLAVES}/{executable}'}


def fast_dds() -> dict[str, PathJoinSubstitution]:
    """Return the environment in which Fast DDS keeps states for seconds, unless it is set up."""
    # Where there is no ROS 2, the demonstration needs the parameters only.
    from launch.substitutions import PathJoinSubstitution
    from launch_ros.substitutions import FindPackageShare

    return {} if FAST_DDS in os.environ else {
        FAST_DDS: PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', 'fastdds.xml'])}
