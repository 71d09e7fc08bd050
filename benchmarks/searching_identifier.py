"""
Count the messages that an identifier loses while it searches for a cut-off.

    python benchmarks/searching_identifier.py [--arm panda] [--rate 1000] [--seconds 30]

A driver publishes the states of a simulated arm in real time with best effort, of which nothing
comes again, to an identifier that knows neither cut-off nor delay: it searches for them after ten
seconds of motion. Its reports, two a second, tell how many messages it has heard and for how long
its callbacks let nothing else have its turn. With the folder of another version in PYTHONPATH this
measures that one.
"""

import argparse
from itertools import pairwise
from pathlib import Path
import tempfile
import time

from dynid_ros.arm import load_arm
from dynid_ros.errors import InputError
from dynid_ros.interface.demo.processes import own_domain, Processes
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

#: Depth of the driver's queue, as that of joint_state_broadcaster.
DEPTH = 10
#: Longest time that the node is given to come to its end, s.
PATIENCE = 300.0


class Driver:
    """A node that publishes states and reads the reports of the identifier."""

    def __init__(self):
        from diagnostic_msgs.msg import DiagnosticArray
        import rclpy
        from rclpy.node import Node
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from sensor_msgs.msg import JointState

        self._rclpy, self._kind = rclpy, JointState
        rclpy.init()
        self._node = Node('driver')
        self.states = self._node.create_publisher(JointState, 'joint_states', QoSProfile(
            depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT))
        self._node.create_subscription(DiagnosticArray, '/diagnostics', self._hear, 100)
        self.reports, self.told = [], {}

    def _hear(self, message):
        for status in message.status:
            told = {pair.key: pair.value for pair in status.values}
            if 'holding' in told:
                self.reports.append(time.perf_counter())
                self.told = told

    def until(self, condition, what):
        """Spin until a condition holds."""
        end = time.perf_counter() + PATIENCE
        while not condition():
            if time.perf_counter() > end:
                raise SystemExit(f'{what}: not within {PATIENCE:g} s')
            self._rclpy.spin_once(self._node, timeout_sec=0.02)

    def play(self, log, rate):
        """Publish a recording in real time; return by how much the driver was late, s."""
        began, sent, late = time.perf_counter(), 0, 0.0
        while sent < len(log.t):
            due = min(int((time.perf_counter() - began) * rate), len(log.t)) - sent
            late = max(late, due / rate)
            for k in range(sent, sent + due):
                message = self._kind(name=list(log.joint_names), position=log.q[k].tolist(),
                                     effort=log.u[k].tolist())
                stamp = 10**18 + round(float(log.t[k]) * 1e9)
                message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
                self.states.publish(message)
            sent += due
            self._rclpy.spin_once(self._node, timeout_sec=1e-3)
        return late


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--arm', default='panda')
    parser.add_argument('--rate', type=float, default=1000.0)
    parser.add_argument('--seconds', type=float, default=30.0)
    chosen = parser.parse_args()
    try:
        from dynid_ros.ros.stand_in import step_in

        step_in()
    except InputError:
        pass  # rclpy is here itself.
    arm = load_arm(chosen.arm)
    log = simulate(arm, random_motion(arm, 3, periods=4), rate_hz=chosen.rate, seed=3).log
    log = log.part(0, int(chosen.seconds * chosen.rate))
    with own_domain(), tempfile.TemporaryDirectory() as made, Processes(Path(made)) as nodes:
        nodes.start('identifier', arm=chosen.arm)
        driver = Driver()
        driver.until(lambda: driver.states.get_subscription_count() and driver.reports, 'a start')
        first = len(driver.reports)
        late = driver.play(log, chosen.rate)
        ended = time.perf_counter()
        driver.until(lambda: driver.told['holding'] == 'False', 'the end of the search')
        caught_up = time.perf_counter() - ended
        # The next report counts what came meanwhile.
        last = len(driver.reports)
        driver.until(lambda: len(driver.reports) > last + 1, 'the last report')
    reports = driver.reports[first - 1:]
    silence = max(b - a for a, b in pairwise(reports))
    heard = int(driver.told['messages'])
    print(f'{chosen.arm} at {chosen.rate:g} Hz, best effort: {len(log.t) - heard} of {len(log.t)} '
          f'messages lost, longest time between two reports {silence:.1f} s, estimates up to date '
          f'{caught_up:.1f} s after the motion (driver at most {1e3 * late:.0f} ms late)')


if __name__ == '__main__':
    main()
