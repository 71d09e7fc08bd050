# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Faults of the stream of joint states that a motion rides through."""

from fault_answers import REPORTED
from fault_rows import OK, Rows, WARN

#: Length of the window in which the recorder judges the stream, s.
WINDOW = 3.0
BACK = 'times that the clock stepped back'


class StreamRows(Rows):
    """One fault after another in one motion."""

    def test_10_pause_of_50_ms(self):
        self.rides_through(lambda: self.told(
            'state stop of 50 ms', 'silent 0.05', 'identifier: stream', 'longer pause', 'gaps'))

    def test_11_order_of_the_joints_and_a_gripper(self):
        def change():
            words = 'changes of the order'
            for fault, kind in (('order changed', 'reorder'),
                                ('extra joint', 'gripper')):
                before = self.bench.count('recorder: stream', 'order_changed')
                self.told(
                    fault, f'{kind} 0.5', 'identifier: stream', words, 'order_changed')
                # To another order and back.
                self.bench.until(lambda b=before: self.bench.count(
                    'recorder: stream', 'order_changed') == b + 2, words)

        self.rides_through(change)

    def test_12_clock_that_steps(self):
        def step():
            self.told('clock stepped back', 'clock 0.5', 'identifier: stream', BACK, 'clock_back')
            self.bench.until_diagnosed('recorder: stream', 'back', WARN)
            self.told('clock stepped ahead', 'ahead 0.5', 'identifier: stream', 'longer pause',
                      'gaps')

        self.rides_through(step)

    def test_13_stamps(self):
        def stamps():
            self.bench.later(WINDOW)
            self.told('repeated stamps', 'repeat 0.1', 'recorder: stream', 'repeat a stamp')
            self.bench.later(0.5)
            for fault, kind in (('reversed stamps', 'reverse'), ('zero stamps', 'zero')):
                self.told(fault, f'{kind} 0.1', 'identifier: stream', BACK, 'clock_back')
                self.bench.later(0.5)

        self.rides_through(stamps)

    def test_14_messages_with_too_few_values(self):
        self.rides_through(lambda: self.told(
            'length mismatch', 'short 0.05', 'identifier: stream',
            'do not match their names', 'values_missing'))

    def test_15_spike(self):
        # A single message.
        self.rides_through(lambda: self.told(
            'spike', 'strain 0.006', 'identifier: stream', r'spikes \d+', 'spikes'))

    def test_60_efforts_at_their_limit(self):
        def clip():
            self.bench.later(WINDOW)
            self.told('saturation', 'clip 0.5', 'recorder: stream',
                      'saturates at its effort limit')

        self.rides_through(clip)

    def test_61_efforts_without_gravity(self):
        def remove():
            self.bench.until_diagnosed('monitor: contact', 'no contact', OK)
            self.told('gravity removed', 'weightless 1.0', 'monitor',
                      r'contact: \w+ feels .* Nm')

        self.rides_through(remove)

    def test_62_dead_channel(self):
        def kill():
            # At rest, an effort of zero is no dead channel.
            self.begins_anew()
            self.bench.later(WINDOW)
            since = self.bench.inject('dead 4.0')
            self.bench.answers.time(
                'dead channel', since, 'recorder: stream', 'moves but its effort is 0 throughout',
                WINDOW + REPORTED)

        self.rides_through(kill)
