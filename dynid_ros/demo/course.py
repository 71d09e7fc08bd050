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

#: Rate of joint_states, Hz.
RATE = 500.0
#: Distance from the reference at which the publisher stops the arm, rad: on a busy computer the
#: simulation falls behind, and the controller in it watches its path too.
TRACKING_ERROR = 10.0
#: Age of the last state at which it does so, s, for the same reason; ten times the default.
STATE_TIMEOUT = 1.0
#: Longest time until all nodes listen, s: the first start compiles.
STARTING = 60.0
#: Time between looks at the nodes, s.
LOOK = 0.1


def demonstrate(arm: str, folder: Path, seed: int, view: View) -> Comparison:
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
    view.say(f'designing a motion for {arm}')
    _dynid('design', arm, '-o', str(excitation), '--seed', str(seed))
    return run_chain(arm, folder, excitation, seed, view)


def run_chain(
    arm: str, folder: Path, excitation: Path, seed: int, view: View,
) -> Comparison:
    """Run the demonstration with a motion that is there; see `demonstrate`."""
    with Processes(folder / 'logs') as nodes:
        _move(nodes, arm, folder, excitation, seed, view)
    bag = next((folder / 'recordings').glob('*/bag'))
    view.say(f'identifying from {bag}')
    # With the friction that the identifier assumes, so that both have the same parameters.
    friction = ','.join(load_arm(arm).friction)
    _dynid('identify', str(bag), '--arm', arm, '-o', str(folder / 'result'),
           '--friction', friction)
    return compare(arm, folder / 'online', folder / 'result')


def _move(
    nodes: Processes, arm: str, folder: Path, excitation: Path, seed: int, view: View,
) -> None:
    """Let the nodes run until the motion has ended."""
    view.say('starting simulated_arm, identifier and recorder')
    nodes.start('simulated_arm', arm=arm, excitation=excitation, rate=RATE, seed=seed)
    nodes.start('identifier', arm=arm, output_folder=folder / 'online', save_at_end=True)
    nodes.start('recorder', arm=arm, output_folder=folder / 'recordings', record_at_start=True)
    # Ctrl-C is Python's own here: the block above then ends the nodes.
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = ProgressNode()
        _until(node, nodes.check, lambda: {'identifier', 'recorder_bag'} <= node.listeners())
        view.say('moving: trajectory_publisher excites the arm, identifier learns')
        nodes.start(
            'trajectory_publisher', arm=arm, excitation=excitation,
            tracking_error=TRACKING_ERROR, state_timeout=STATE_TIMEOUT, once=True)
        while not nodes.ended('trajectory_publisher'):
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
