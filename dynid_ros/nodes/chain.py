"""The nodes that identify a simulated arm together, and their parameters."""

from __future__ import annotations

from pathlib import Path

#: Nodes that simulated time waits for.
LOCKSTEP = ['trajectory_publisher', 'identifier', 'recorder']
#: In real time the motion waits until these listen: what identifies and what records.
LISTENERS = ['identifier', 'recorder_bag']
#: In real time, distance from the reference at which the publisher stops the arm, rad, and age of
#: the last state at which it does so, s: on a busy computer the simulation falls behind, and the
#: controller in it watches its path too.
TRACKING_ERROR = 10.0
STATE_TIMEOUT = 1.0
#: Options of the design: what its seed alone decides is the same on every computer.
DESIGN = ('--starts', '1', '--time', '1000')


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
