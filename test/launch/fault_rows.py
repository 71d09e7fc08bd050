# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What the rows of the table of faults have in common."""

from collections.abc import Callable
import re

from diagnostic_msgs.msg import DiagnosticStatus
from fault_answers import AT_ONCE, REPORTED
from fault_chain import Chain
from fault_rig import Bench, MOVING, speed_of

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
#: Parameters of the publishers and the arm that bound reaction times, s.
STATE_TIMEOUT, COMMAND_TIMEOUT = 0.1, 0.1
STALE = r'no usable joint state has come for \d+ ms'
STREAMS = 'identifier: stream', 'recorder: stream'
HELD = '; the arm is held, ~/stop resets'


class Rows:
    """Courses of events that several faults share."""

    bench: Bench
    chain: Chain

    def rides_through(self, fault: Callable[[], None]) -> None:
        """See the motion go on under a fault."""
        self.bench.move('goal')
        fault()
        self.bench.data_goes_on()
        self.bench.move('goal')
        self.bench.later(0.5)
        assert 'aborted' not in self.bench.printed()
        assert max(map(speed_of, self.bench.states[-125:])) > MOVING

    def begins_anew(self) -> None:
        """Let a motion begin that lasts longer than the longest fault."""
        self.bench.call('/goal/stop')
        self.bench.until_at_rest()
        self.bench.move('goal')

    def told(self, fault: str, injected: str, name: str, words: str, key: str = '') -> None:
        """Inject a fault into the stream, and see it in a report, where a count may grow."""
        before = (key, self.bench.count(name, key)) if key else None
        since = self.bench.inject(injected)
        self.bench.answers.time(fault, since, name, words, REPORTED, before)
        assert 'aborted' not in self.bench.printed()

    def aborted(
        self, fault: str, publisher: str, injected: str, reason: str, bound: float = AT_ONCE,
    ) -> None:
        """See a fault of the stream end a motion."""
        self.bench.move(publisher)
        since = self.bench.inject(injected)
        self.aborts(publisher, reason)
        self.bench.answers.time(fault, since, publisher, f'aborted: {reason}', bound)
        self.reset(publisher)

    def aborts(self, publisher: str, reason: str) -> None:
        """See one abort that says why, a safe end, and that data still comes in."""
        self.bench.until_printed(f'{publisher}]: aborted: {reason}{re.escape(HELD)}')
        self.bench.until_at_rest()
        self.bench.data_goes_on()
        assert len(re.findall('aborted: ', self.bench.printed())) == 1
        refused = self.bench.call(f'/{publisher}/start')
        assert not refused.success
        assert re.search(reason, refused.message), refused.message

    def reset(self, publisher: str) -> None:
        """Allow another start, once nothing else is in its way."""
        self.bench.until(lambda: 'aborted because' in self.bench.call(
            f'/{publisher}/start').message, 'the end of the cause')
        assert self.bench.call(f'/{publisher}/stop').message == 'reset after the abort'
