"""The course of the demonstration, from the design of a motion to the comparison."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import subprocess
import sys
import time

import rclpy
from rclpy.signals import SignalHandlerOptions

from dynid_ros.arm import load_arm
from dynid_ros.demo.comparison import compare, Comparison
from dynid_ros.demo.processes import NodeEndedError, Processes
from dynid_ros.demo.progress import ProgressNode
from dynid_ros.demo.view import View
from dynid_ros.errors import DynidError
from dynid_ros.nodes.warm_up import compile_kernels

#: Rate of joint_states, Hz.
RATE = 500.0
#: In real time, distance from the reference at which the publisher stops the arm, rad, and age of
#: the last state at which it does so, s: on a busy computer the simulation falls behind, and the
#: controller in it watches its path too.
TRACKING_ERROR = 10.0
STATE_TIMEOUT = 1.0
#: Nodes that simulated time waits for.
LOCKSTEP = ('trajectory_publisher', 'identifier', 'recorder')
#: Longest time until all nodes listen, s.
STARTING = 60.0
#: Time between looks at the nodes, s.
LOOK = 0.1
#: The motion is the same on a slow computer: one start is some seconds there.
DESIGN = ('--starts', '1', '--time', '1000')


def demonstrate(
    arm: str, folder: Path, seed: int, view: View, real_time: bool = False,
) -> Comparison:
    """
    Run the demonstration.

    Parameters
    ----------
    arm : str
        Shipped arm, or path of an arm.yaml.
    folder : Path
        New folder for all that is written.
    seed : int
        Of the design and the noise.
    view : View
        Shows how it goes.
    real_time : bool
        Whether the arm moves in real time, instead of as fast as the nodes can follow.

    Returns
    -------
    Comparison
        What came out.

    Raises
    ------
    DynidError
        A node ended, or nothing could be designed or identified.

    """
    excitation = folder / 'excitation.yaml'
    compile_kernels(load_arm(arm), view.say)
    view.say(f'designing a motion for {arm}')
    _dynid('design', arm, '-o', str(excitation), '--seed', str(seed), *DESIGN)
    return run_chain(arm, folder, excitation, seed, view, real_time)


def run_chain(
    arm: str, folder: Path, excitation: Path, seed: int, view: View, real_time: bool = False,
) -> Comparison:
    """Run the demonstration with a motion that is there; see `demonstrate`."""
    with Processes(folder / 'logs') as nodes:
        _move(nodes, _settings(arm, folder, excitation, seed, real_time), view)
    bag = next((folder / 'recordings').glob('*/bag'))
    view.say(f'identifying from {bag}')
    # With the friction that the identifier assumes, so that both have the same parameters.
    friction = ','.join(load_arm(arm).friction)
    _dynid('identify', str(bag), '--arm', arm, '-o', str(folder / 'result'),
           '--friction', friction)
    return compare(arm, folder / 'online', folder / 'result')


def _settings(
    arm: str, folder: Path, excitation: Path, seed: int, real_time: bool,
) -> dict[str, dict[str, object]]:
    """Parameters of the nodes, by their names."""
    nodes: dict[str, dict[str, object]] = {
        'simulated_arm': {'excitation': excitation, 'rate': RATE, 'seed': seed},
        'identifier': {'output_folder': folder / 'online', 'save_at_end': True},
        'recorder': {'output_folder': folder / 'recordings', 'record_at_start': True},
        'trajectory_publisher': {'excitation': excitation, 'once': True}}
    for values in nodes.values():
        values['arm'] = arm
        if not real_time:
            values['use_sim_time'] = True
    if real_time:
        nodes['trajectory_publisher'] |= {
            'tracking_error': TRACKING_ERROR, 'state_timeout': STATE_TIMEOUT}
    else:
        nodes['simulated_arm']['lockstep'] = f'[{", ".join(LOCKSTEP)}]'
    return nodes


def _move(nodes: Processes, settings: dict[str, dict[str, object]], view: View) -> None:
    """Let the nodes run until the motion has ended."""
    *others, mover = settings
    view.say(f'starting {", ".join(settings)}')
    for name in others:
        nodes.start(name, **settings[name])
    # Ctrl-C is Python's own here: the block above then ends the nodes.
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = ProgressNode()
        if 'lockstep' not in settings['simulated_arm']:
            _until(node, nodes.check, lambda: {'identifier', 'recorder_bag'} <= node.listeners())
        nodes.start(mover, **settings[mover])
        while not nodes.ended(mover):
            nodes.check()
            _listen(node)
            view.show('moving', node.progress)
        view.say('the motion has ended; saving')
        for name in ('recorder', 'identifier', 'simulated_arm'):
            nodes.stop(name)
        node.destroy_node()
    finally:
        rclpy.try_shutdown()


def _until(node: ProgressNode, check: Callable[[], None], condition: Callable[[], bool]) -> None:
    end = time.monotonic() + STARTING
    while not condition():
        check()
        if time.monotonic() > end:
            raise NodeEndedError(f'the nodes do not listen after {STARTING:.0f} s')
        _listen(node)


def _listen(node: ProgressNode) -> None:
    end = time.monotonic() + LOOK
    while time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=end - time.monotonic())


def _dynid(*arguments: str) -> None:
    """Run another command of this package; what it says is the reason if it fails."""
    done = subprocess.run(
        [sys.executable, '-m', 'dynid_ros.cli.main', *arguments], text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode > 1:
        raise DynidError(done.stdout.strip())
