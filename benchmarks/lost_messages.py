# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Count the messages that recordings lack, with the middleware that RMW_IMPLEMENTATION names.

    python benchmarks/lost_messages.py [--rate 5000] [--depth 10] [--recordings 12] [--seconds 20]
                                       [--stall 100]

A driver publishes joint states of a Panda, some every millisecond, with numbers as stamps; the
node recorder writes each recording through rosbag2. The depth is set at the driver's publisher,
10 in joint_state_broadcaster. A stall stops rosbag2 for some milliseconds in the middle, as a
busy computer may do.
"""

import argparse
from collections.abc import Iterable
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
import rclpy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from dynid_ros.arm import load_arm
from dynid_ros.interface.demo.processes import own_domain

ARM = load_arm('panda')
#: Time for the recorder to find the driver, and for rosbag2 to start, s.
MEETING = 8.0


def publish(rate, depth, seconds):
    """Be the driver: publish without numbers until all have met, then with numbers."""
    rclpy.init()
    node = rclpy.create_node('driver')
    states = node.create_publisher(JointState, 'joint_states', QoSProfile(depth=depth))
    zeros = np.zeros(ARM.n).tolist()
    message = JointState(
        name=list(ARM.joint_names), position=zeros, velocity=zeros, effort=zeros)
    began, sent, number = time.perf_counter(), 0, 0
    late = 0.0
    while (now := time.perf_counter() - began) < MEETING + seconds:
        due = int(now * rate) - sent
        late = max(late, due / rate)
        for _ in range(due):
            number += now > MEETING
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(number * 1000, 10**9)
            states.publish(message)
        sent += due
        time.sleep(1e-3)
    # The last ones may be on their way.
    time.sleep(1.0)
    print(number, f'{1e3 * late:.0f}')


def missing(bag, count):
    """Return the numbers (k,) of the messages that a bag lacks."""
    from rosbags.highlevel import AnyReader

    with AnyReader([bag]) as reader:
        messages: Iterable[Any] = (reader.deserialize(raw, connection.msgtype)
                                   for connection, _, raw in reader.messages())
        stamps = [message.header.stamp for message in messages]
    numbers = [(stamp.sec * 10**9 + stamp.nanosec) // 1000 for stamp in stamps]
    return np.setdiff1d(np.arange(1, count + 1), numbers)


def stop_for_a_while(node, milliseconds):
    """Stop the process that a recorder has started."""
    children = Path(f'/proc/{node}/task/{node}/children').read_text().split()
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for child in map(int, children):
            os.kill(child, number)
        time.sleep(1e-3 * milliseconds)


def record(folder, driver, half, stall):
    """Make one recording; return the numbers that it lacks, and how late the driver was, ms."""
    with own_domain(), (folder / 'recorder.log').open('wb') as log:
        process = subprocess.Popen(driver, stdout=subprocess.PIPE, text=True)
        recorder = subprocess.Popen(
            [sys.executable, '-m', 'dynid_ros.ros.nodes.recorder', '--ros-args', '-p',
             f'arm:={ARM.name}', '-p', f'output_folder:={folder}', '-p', 'record_at_start:=true'],
            stdout=log, stderr=log)
        if stall:
            time.sleep(MEETING + half)
            stop_for_a_while(recorder.pid, stall)
        count, late = map(int, process.communicate()[0].split())
        recorder.send_signal(signal.SIGINT)
        if recorder.wait():
            raise SystemExit((folder / 'recorder.log').read_text())
    return missing(next(folder.glob('*/bag')), count), count, late


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--rate', type=float, default=5000.0)
    parser.add_argument('--depth', type=int, default=10)
    parser.add_argument('--recordings', type=int, default=12)
    parser.add_argument('--seconds', type=float, default=20.0)
    parser.add_argument('--stall', type=float, default=0.0, help='ms')
    parser.add_argument('--publish', action='store_true', help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.publish:
        publish(chosen.rate, chosen.depth, chosen.seconds)
        return
    print(f'{os.environ.get("RMW_IMPLEMENTATION", "the default middleware")}, {chosen.rate:g} '
          f'messages a second, depth {chosen.depth}, {chosen.seconds:g} s a recording, stopped '
          f'for {chosen.stall:g} ms', flush=True)
    for number in range(1, chosen.recordings + 1):
        with tempfile.TemporaryDirectory() as made:
            lost, count, late = record(
                Path(made), [sys.executable, __file__, *sys.argv[1:], '--publish'],
                chosen.seconds / 2, chosen.stall)
        gaps = np.split(lost, np.flatnonzero(np.diff(lost) > 1) + 1) if len(lost) else []
        where = ', '.join(f'{len(gap)} from {gap[0] / chosen.rate:.3f} s' for gap in gaps[:5])
        print(f'{number:3d}: {len(lost)} of {count} messages lack{": " * bool(gaps)}{where} '
              f'(driver at most {late} ms late)', flush=True)


if __name__ == '__main__':
    main()
