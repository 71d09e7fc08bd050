# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Verdict and physically possible links of a live session, computed in another thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import monotonic

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import DynidError, written_down
from dynid_ros.estimation.estimate.chosen_estimate import Estimate
from dynid_ros.estimation.estimate.possible_parameters import PossibleParameters
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.uses import Use
from dynid_ros.estimation.model.verdict import Verdict
from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.verdict.confirmation import Confirmation

#: Pause between two verdicts, as a multiple of their computing time, which grows with the session:
#: verdicts must not take more than a twentieth of a processor.
PAUSE_PER_VERDICT = 20.0
#: Least pause, s: in less time, too few samples arrive to change the verdict. Also the time
#: without samples after which the verdict is final.
SHORTEST_PAUSE_SECONDS = 5.0
#: Ratio of the number of samples to that at the last verdict from which the next verdict does not
#: wait, since most data of a short session are new. At 1 kHz, verdicts begin at 8, 12, 18 s, say.
GROWTH = 1.5


@dataclass(frozen=True, eq=False)
class LiveVerdict:
    """
    Verdict and links of a session at one time.

    Attributes
    ----------
    parameters : PossibleParameters or None
        Physically possible parameters; None where the estimates give none.
    verdict : Verdict or None
        The verdict, if the session was judged at that time. Findings other than too little motion
        are withheld until confirmed, see `Confirmation`: a few seconds of a good stream may seem
        to have a fault.
    headline : str
        The verdict in a line.
    uses : tuple of Use
        Uses for which the session is good enough, if it was judged at that time.
    description : str or None
        Robot description with these parameters, if the verdict is good.
    fault : str
        An unexpected error, in one line; the session is not judged any more.

    """

    parameters: PossibleParameters | None = None
    verdict: Verdict | None = None
    headline: str = ''
    uses: tuple[Use, ...] = ()
    description: str | None = None
    fault: str = ''


class Judge:
    """
    Judge a session in a thread of its own, so that the stream continues.

    Parameters
    ----------
    session : OnlineIdentifier
        The session; only the calling thread touches it.
    describe : callable
        Makes a robot description of a model.

    """

    def __init__(
        self, session: OnlineIdentifier, describe: Callable[[IdentifiedModel], str],
    ) -> None:
        self._session = session
        self._describe = describe
        self._thread = ThreadPoolExecutor(1, 'judge')
        self._running: Future[LiveVerdict] | None = None
        self._begin()

    def _begin(self) -> None:
        """Start judging from scratch."""
        self._judged_recursion = self._session.recursion
        self._searched = self._judged = 0
        self._ended = self._next_verdict = 0.0
        self._confirmation = Confirmation()
        self._failed = False

    def update(self) -> LiveVerdict | None:
        """Return a verdict completed since the last call, if any; start the next one if due."""
        completed = None
        if self._running is not None:
            if not self._running.done():
                return None
            try:
                completed = self._running.result()
            except Exception as error:
                self._failed, completed = True, LiveVerdict(fault=written_down(error))
            self._running = None
        session = self._session
        if session.recursion is not self._judged_recursion:
            # The session was reset: earlier verdicts do not concern it.
            completed = None
            self._begin()
        if session.holding:
            return completed
        samples = session.samples
        due = samples != self._judged and (
            samples >= GROWTH * self._judged or monotonic() >= self._next_verdict)
        waiting = self._confirmation.waiting
        paused = monotonic() >= self._ended + SHORTEST_PAUSE_SECONDS
        if samples == self._judged and paused and waiting:
            # No more samples arrive to confirm findings: report them all.
            completed = replace(completed or LiveVerdict(), verdict=waiting.verdict,
                                headline=headline(waiting))
            self._confirmation.waiting = None
        if not self._failed and (samples != self._searched or due):
            self._searched = samples
            if due:
                self._judged = samples
            self._running = self._thread.submit(
                self._search, session.arm, session.estimate(),
                session.copy() if due else None)
        return completed

    def stop(self) -> None:
        """Wait for the thread."""
        self._thread.shutdown(cancel_futures=True)

    def _search(
        self, arm: ArmModel, estimate: Estimate, session: OnlineIdentifier | None,
    ) -> LiveVerdict:
        try:
            links = estimate.possible_parameters(arm)
        except DynidError:
            links = None
        judged = LiveVerdict() if session is None else self._judge(session)
        return replace(judged, parameters=links)

    def _judge(self, session: OnlineIdentifier) -> LiveVerdict:
        """Judge a copy of the session, and describe the arm if the result is trustworthy."""
        began = monotonic()
        try:
            model = session.result()
        except DynidError:
            # No rows yet.
            return LiveVerdict()
        else:
            confirmed = self._confirmation.confirmed(model)
            return LiveVerdict(
                verdict=confirmed.verdict, headline=headline(confirmed), uses=model.uses,
                description=self._described(model))
        finally:
            self._ended = monotonic()
            self._next_verdict = self._ended + max(
                PAUSE_PER_VERDICT * (self._ended - began), SHORTEST_PAUSE_SECONDS)

    def _described(self, model: IdentifiedModel) -> str | None:
        if not model.verdict.trustworthy:
            return None
        try:
            return self._describe(model)
        except DynidError:
            # The estimate has no physical links.
            return None
