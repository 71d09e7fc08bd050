# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Faults that end a motion."""

from control_msgs.action import FollowJointTrajectory
from fault_answers import AT_ONCE
from fault_chain import RATE
from fault_rows import ERROR, Rows, STALE, STATE_TIMEOUT, STREAMS
from rclpy.action import ActionServer, GoalResponse
from sensor_msgs.msg import JointState

from dynid_ros.motion.execution.safety_monitor import DEFAULT_THRESHOLDS

NAME = 'other/follow_joint_trajectory'


class MotionRows(Rows):
    """Each ends in a safe abort that says why."""

    def test_02_torques_without_states_for_a_second(self):
        # The end of the pause is noticed with the state that ends it.
        self.aborted('state stop of 1000 ms', 'torque', 'silent 1.0', STALE, 1.0 + AT_ONCE)

    def test_03_second_publisher_of_states(self):
        self.bench.move('torque')
        since = self.bench.now
        other = self.bench.node.create_publisher(JointState, 'joint_states', 10)
        both = '/bench, /simulated_arm'
        reason = f'/joint_states has 2 publishers: {both}'
        self.bench.answers.time_by_graph(
            'two publishers', since, 'torque', f'aborted: {reason}')
        for name in STREAMS:
            self.bench.until_diagnosed(name, reason, ERROR)
        self.aborts('torque', reason)
        self.bench.node.destroy_publisher(other)
        self.reset('torque')

    def test_70_pause_of_200_ms(self):
        self.aborted('state stop of 200 ms', 'goal', 'silent 0.2', STALE, 0.2 + AT_ONCE)

    def test_71_position_that_is_no_number(self):
        self.aborted('NaN', 'goal', 'nan 0.1',
                     "joint 'fer_joint1' reports a NaN or infinite position or velocity")

    def test_72_messages_with_too_few_values(self):
        self.aborted('length mismatch for 300 ms', 'goal', 'short 0.3', STALE,
                     STATE_TIMEOUT + AT_ONCE)

    def test_73_wrong_unit(self):
        self.aborted('wrong unit', 'goal', 'degrees 0.006',
                     r"joint 'fer_joint\d' is at -?[\d.]+, outside its limits .*")

    def test_74_limit(self):
        self.aborted('position limit reached', 'goal', 'outside 0.006',
                     "joint 'fer_joint1' is at 100, outside its limits .*")

    def test_75_tracking_error(self):
        self.aborted('tracking error', 'goal', 'slip 0.006',
                     r"joint 'fer_joint1' is 0\.[23]\d* from where it should be, more than the "
                     r'allowed 0\.1')

    def test_76_effort_beyond_the_limit(self):
        self.aborted('effort beyond its limit', 'goal', 'strain 0.1',
                     r"joint 'fer_joint1' has a measured effort of 1e\+04, more than its "
                     'limit of 87', DEFAULT_THRESHOLDS.samples / RATE + AT_ONCE)

    def test_77_goal_rejected(self):
        server, since = self.begin_with_own_controller(GoalResponse.REJECT)
        self.bench.answers.time_by_dds(
            'goal rejected', since, 'other', f'aborted: {NAME} rejected the motion')
        self.ends()
        server.destroy()
        self.bench.until(lambda: 'is not there' in self.bench.call(
            '/other/start').message, 'the end of the controller')

    def test_78_controller_lost(self):
        server, _ = self.begin_with_own_controller(GoalResponse.ACCEPT)
        self.bench.later(0.2)
        since = self.bench.now
        server.destroy()
        self.bench.answers.time_by_graph(
            'controller lost', since, 'other', f'aborted: the action {NAME} is not there')
        self.ends()

    def begin_with_own_controller(self, response):
        """Offer a controller that does nothing; return it, and the time when a motion began."""
        server = ActionServer(
            self.bench.node, FollowJointTrajectory, NAME, lambda _: None,
            goal_callback=lambda _: response, handle_accepted_callback=lambda _: None)
        begun = []

        def begins():
            begun.append(self.bench.now)
            with self.bench.time_until(begun[-1]):
                answer = self.bench.call('/other/start')
            if 'aborted because' in answer.message:
                # It began while the controller of the row before was still known.
                self.bench.call('/other/stop')
            return answer.success

        self.bench.until(begins, 'a start')
        return server, begun[-1]

    def ends(self):
        """See the motion end, and allow another one."""
        self.bench.until_at_rest()
        self.bench.until(lambda: self.bench.call(
            '/other/stop').message == 'reset after the abort', 'a reset')
