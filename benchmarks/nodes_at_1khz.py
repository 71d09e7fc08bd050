# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Count the messages that four node processes lose at 1 kHz, and what each node costs.

    python benchmarks/nodes_at_1khz.py [--seconds 300]

A simulated Panda publishes joint states, a trajectory publisher controls it by PD from their
callback, a recorder and an identifier listen: all with rclpy where there is one, else through
dynid_ros.ros.stand_in. CPU time is taken from the processes while the arm moves.
"""

import argparse
import importlib.util
import os
from pathlib import Path
import tempfile
import time
from typing import Any

import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.demo.processes import own_domain, Processes
from dynid_ros.motion.execution.loop_stability import proposed_gains
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.ros.nodes.launching import STATE_TIMEOUT, TRACKING_ERROR

ARM = load_arm('panda')
RATE, PERIOD = 1000.0, 5.0
# Period of states for which the gains are made, s.
SLOW = 0.02


def write_excitation(path, seconds):
    reduced = 0.2 * np.linspace(0.5, 1.0, ARM.n)[:, None] * np.ones(6)
    motion = FourierMotion.at_rest(
        PERIOD, planning_limits(ARM).middle, reduced, max(1, round(seconds / PERIOD)))
    write_motion(path, motion, ARM)


def cpu_seconds(pids):
    """Sum the CPU time of processes, s."""
    ticks = 0
    for pid in pids:
        fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf('SC_CLK_TCK')


def family(pid):
    """Find a process and its children."""
    children = Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    return [pid, *map(int, children)]


def run(folder, seconds):
    """Run the nodes; return CPU time and wall time of each while the arm moved."""
    excitation = folder / 'excitation.yaml'
    write_excitation(excitation, seconds)
    with own_domain(), Processes(folder / 'logs') as nodes:
        # The time is that of the stamps: behind a simulation that is late, a reference by the time
        # of this computer would be ahead of the arm, and the torque beyond its limits.
        shared = {'arm': 'panda', 'use_sim_time': True}
        nodes.start('simulated_arm', excitation=str(excitation), rate=RATE, **shared)
        nodes.start(
            'identifier', output_folder=str(folder / 'online'), save_at_end=True, **shared)
        nodes.start('recorder', output_folder=str(folder), record_at_start=True, **shared)
        time.sleep(15.0)
        # Those for 1 kHz bear 5 ms from state to command, which four processes on two processors
        # exceed now and then; the wrist then oscillates until its torque is beyond its limit.
        gains = proposed_gains(ARM, SLOW)
        nodes.start('trajectory_publisher', excitation=str(excitation), command='effort',
                    stiffness=gains.stiffness.tolist(), damping=gains.damping.tolist(),
                    tracking_error=TRACKING_ERROR, state_timeout=STATE_TIMEOUT, once=True,
                    **shared)
        time.sleep(10.0)
        names = ('simulated_arm', 'trajectory_publisher', 'recorder', 'identifier')
        pids = {name: family(nodes.pid(name)) for name in names}
        before = {name: cpu_seconds(pids[name]) for name in names}
        began = time.monotonic()
        while not nodes.ended('trajectory_publisher'):
            nodes.check()
            spent = {name: cpu_seconds(pids[name]) for name in names[:1] + names[2:]}
            wall = time.monotonic() - began
            try:
                spent[names[1]] = cpu_seconds(pids[names[1]])
            except FileNotFoundError:
                break
            time.sleep(0.5)
        for name in ('recorder', 'identifier', 'simulated_arm'):
            nodes.stop(name)
    return {name: spent[name] - before[name] for name in names}, wall


def stamps_of(bag):
    from rosbags.highlevel import AnyReader

    with AnyReader([bag]) as reader:
        stamps = []
        for connection, _, raw in reader.messages():
            message: Any = reader.deserialize(raw, connection.msgtype)
            stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
    return np.array(stamps)


def missing(stamps):
    """
    Count messages that are lost between stamps, ns, and states that were never published.

    A simulated arm that is late leaves states out and goes on at once: its clock then has moved by
    no whole number of periods.
    """
    periods = np.diff(stamps) * RATE / 1e9
    gaps = np.rint(periods).astype(int) - 1
    whole = np.abs(periods - np.rint(periods)) < 1e-4
    return int(gaps[whole].sum()), int(gaps[~whole].sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=300.0)
    seconds = parser.parse_args().seconds
    middleware = 'rclpy' if importlib.util.find_spec('rclpy').origin else 'dynid_ros.ros.stand_in'
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        spent, wall = run(folder, seconds)
        stamps = stamps_of(next(folder.glob('*/bag')))
        result = read_result(folder / 'online')
    lost, left_out = missing(stamps)
    print(f'{middleware}, {wall:.0f} s of motion at {RATE:.0f} Hz, {ARM.n} joints')
    print(f'recorder: {len(stamps)} messages, {lost} lost between them; the simulated arm was '
          f'late and left out {left_out} states')
    defects = {defect.code: defect.count for defect in result.defects}
    print(f'identifier: {result.samples} samples, defects {defects or "none"}')
    for name, cpu in spent.items():
        print(f'{name:22s}{100 * cpu / wall:6.1f} % of a core {1e6 * cpu / wall / RATE:7.0f} us '
              'a message')


if __name__ == '__main__':
    main()
