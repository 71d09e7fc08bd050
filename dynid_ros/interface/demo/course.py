# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The course of the demonstration, from the design of a motion to the comparison."""

from __future__ import annotations

from pathlib import Path
import subprocess
import sys
from typing import Any

import rclpy
from rclpy.signals import SignalHandlerOptions

from dynid_ros.arm import load_arm
from dynid_ros.errors import DynidError
from dynid_ros.interface.demo.comparison import compare
from dynid_ros.interface.demo.live_page import start_page, wait_for_reader
from dynid_ros.interface.demo.processes import Processes
from dynid_ros.interface.demo.view import ProgressNode, say
from dynid_ros.ros.nodes.launching import chain, DESIGN
from dynid_ros.ros.nodes.warm_up import compile_kernels
from dynid_ros.utilities.inputs import Seed

#: Rate of joint_states, Hz.
RATE = 250.0
#: Longest time between checks of the nodes, s.
NODE_CHECK_SECONDS = 0.1


def demonstrate(
    folder: Path, arm: str = 'panda', seed: Seed = 0, real_time: bool = False, page: bool = False,
) -> dict[str, Any]:
    """
    Run the demonstration.

    Parameters
    ----------
    folder : Path
        New folder for all that is written.
    arm : str
        Shipped arm, or path of an arm.yaml.
    seed : int
        Of motion and noise.
    real_time : bool
        Move the arm in real time; without it, as fast as all nodes can follow.
    page : bool
        Show it on a live page, whose address is printed, and in a browser if there is a screen.

    Returns
    -------
    dict
        Both results beside each other; see `compare`.

    Raises
    ------
    DynidError
        A node ended, or nothing could be designed or identified.

    """
    excitation = folder / 'excitation.yaml'
    compile_kernels(load_arm(arm), say)
    say(f'designing a motion for {arm}')
    _dynid('design', arm, '-o', str(excitation), '--seed', str(seed), *DESIGN)
    with Processes(folder / 'logs') as beside:
        if page:
            start_page(beside, arm, say)
        found = run_chain(arm, folder, excitation, seed, real_time)
        if page:
            wait_for_reader(say)
    return found


def run_chain(
    arm: str, folder: Path, excitation: Path, seed: int, real_time: bool = False,
) -> dict[str, Any]:
    """Run the demonstration with an existing motion; see `demonstrate`."""
    with Processes(folder / 'logs') as nodes:
        recordings, online = folder / 'recordings', folder / 'online'
        _move(nodes, chain(arm, excitation, recordings, online, RATE, seed, real_time))
    bag = next((folder / 'recordings').glob('*/bag'))
    say(f'identifying from {bag}')
    # With the friction that the identifier assumes, so that both have the same parameters.
    friction = ','.join(load_arm(arm).friction)
    _dynid('identify', str(bag), '--arm', arm, '-o', str(folder / 'result'),
           '--friction', friction)
    return compare(arm, folder / 'online', folder / 'result')


def _move(nodes: Processes, settings: dict[str, dict[str, object]]) -> None:
    """Let the nodes run until the motion has ended."""
    say(f'starting {", ".join(settings)}')
    for name, values in settings.items():
        nodes.start(name, **values)
    mover = 'trajectory_publisher'
    # Python handles Ctrl-C here: the block above then ends the nodes.
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = ProgressNode()
        while not nodes.ended(mover):
            nodes.check()
            rclpy.spin_once(node, timeout_sec=NODE_CHECK_SECONDS)
        say('the motion has ended; saving')
        for name in [name for name in settings if name != mover][::-1]:
            nodes.stop(name)
        node.destroy_node()
    finally:
        rclpy.try_shutdown()


def _dynid(*arguments: str) -> None:
    """Run another command of this package; its output is the reason if it fails."""
    done = subprocess.run(
        [sys.executable, '-m', 'dynid_ros.interface.cli.main', *arguments], text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode > 1:
        raise DynidError(done.stdout.strip())
