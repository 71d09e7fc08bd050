"""
Time from a start to nodes that answer: identifier, recorder and trajectory publisher of an arm.

    python benchmarks/startup.py [--arm panda] [--runs 5]

With a sourced ROS 2, ``ros2 launch dynid_ros arm.launch.py`` starts them; without one, ``dynid
run`` does. A node answers when its service ``get_parameters`` does, which it has at the end of
its start: what it needs compiled or loaded is there. The first run may compile, and is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.interface.demo.processes import own_domain
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.ros.stand_in import step_in

NODES = ('identifier', 'recorder', 'trajectory_publisher')
#: Longest wait, s.
PATIENCE = 120.0


def commands(arm: str, folder: Path) -> list[list[str]]:
    """Command lines that start the nodes."""
    excitation = str(folder / 'excitation.yaml')
    if find_spec('launch_ros') is not None:
        return [['ros2', 'launch', 'dynid_ros', 'arm.launch.py', f'arm:={arm}',
                 f'excitation:={excitation}', f'result:={folder / "result"}',
                 f'recordings:={folder / "recordings"}']]
    own = {'identifier': f'output_folder:={folder / "result"}',
           'recorder': f'output_folder:={folder / "recordings"}',
           'trajectory_publisher': f'excitation:={excitation}'}
    return [[sys.executable, '-m', 'dynid_ros.interface.cli.main', 'run', name, '--ros-args', '-p',
             f'arm:={arm}', '-p', own[name]] for name in NODES]


@contextmanager
def started(lines: list[list[str]]) -> Iterator[None]:
    """Start processes, and end them."""
    running = [subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for line in lines]
    try:
        yield
    finally:
        for process in running:
            process.send_signal(signal.SIGINT)
        for process in running:
            process.wait(PATIENCE)


def times(node: Any, lines: list[list[str]]) -> dict[str, float]:
    """Time from the start until each node answers, s."""
    from rcl_interfaces.srv import GetParameters
    import rclpy

    clients = {name: node.create_client(GetParameters, f'/{name}/get_parameters')
               for name in NODES}
    answers: dict[str, object] = {}
    found: dict[str, float] = {}
    begin = time.monotonic()
    with started(lines):
        while len(found) < len(NODES):
            if time.monotonic() > begin + PATIENCE:
                raise SystemExit(f'no answer from {", ".join(set(NODES) - set(found))}')
            rclpy.spin_once(node, timeout_sec=0.01)
            for name, client in clients.items():
                if name not in answers and client.service_is_ready():
                    answers[name] = client.call_async(GetParameters.Request(names=['arm']))
                    answers[name].add_done_callback(  # type: ignore[attr-defined]
                        lambda _, name=name: found.setdefault(name, time.monotonic() - begin))
    for client in clients.values():
        node.destroy_client(client)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--arm', default='panda')
    parser.add_argument('--runs', type=int, default=5)
    options = parser.parse_args()
    arm = load_arm(options.arm)
    motion = FourierMotion.at_rest(
        5.0, planning_limits(arm).middle, np.full((arm.n, 4), 0.02), periods=1)
    step_in()
    import rclpy
    from rclpy.node import Node

    with tempfile.TemporaryDirectory() as folder, own_domain():
        write_motion(Path(folder) / 'excitation.yaml', motion, arm)
        rclpy.init()
        node = Node('startup')
        runs = [times(node, commands(options.arm, Path(folder))) for _ in range(options.runs + 1)]
        node.destroy_node()
        rclpy.shutdown()
    print('| node answers after | median, s | longest, s |\n|---|---|---|')
    for name in NODES:
        taken = sorted(run[name] for run in runs[1:])
        print(f'| {name} | {taken[len(taken) // 2]:.2f} | {taken[-1]:.2f} |')


if __name__ == '__main__':
    main()
