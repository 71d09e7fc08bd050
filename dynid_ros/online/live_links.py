"""Physically possible links of a live session, found beside its stream."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import DynidError
from dynid_ros.model.standard_parameters import (
    sample_colour,
    standard_parameters,
    StandardParameters,
)
from dynid_ros.online.estimate import Estimate
from dynid_ros.online.online_identifier import OnlineIdentifier

Array = NDArray[np.float64]

#: Time from the end of a verdict to the next, by the time that it took: a long session has many
#: rows to judge, and the verdict must not take more than a twentieth of a processor.
PAUSE = 20.0


@dataclass(frozen=True, eq=False)
class LiveLinks:
    """
    Links of a session at one time.

    Attributes
    ----------
    parameters : StandardParameters or None
        Physically possible parameters; None where the estimates give none.
    description : str or None
        Robot description with them, if the result was judged at that time and is trustworthy.

    """

    parameters: StandardParameters | None
    description: str | None


class LinkSearch:
    """
    Looks for the links of a session in a thread, so that its stream goes on.

    Parameters
    ----------
    session : OnlineIdentifier
        The session; only the calling thread touches it.
    describe : callable
        Makes a robot description of an arm with possible nominal parameters.

    """

    def __init__(
        self, session: OnlineIdentifier, describe: Callable[[ArmModel], str],
    ) -> None:
        self._session = session
        self._describe = describe
        self._thread = ThreadPoolExecutor(1, 'links')
        self._running: Future[LiveLinks] | None = None
        self._searched = self._judged = 0
        self._next_verdict = 0.0

    def update(self) -> LiveLinks | None:
        """Return the links that were found since the last call, and look for those of now."""
        found = None
        if self._running is not None:
            if not self._running.done():
                return None
            found, self._running = self._running.result(), None
        session = self._session
        samples = session.samples
        due = samples != self._judged and monotonic() >= self._next_verdict
        if samples != self._searched or due:
            estimate = session.estimate()
            root = session.estimator.recursion.information[:, :-1].copy()
            self._searched = samples
            if due:
                self._judged = samples
            self._running = self._thread.submit(
                self._search, estimate, root, session.copy() if due else None)
        return found

    def stop(self) -> None:
        """Wait for the thread."""
        self._thread.shutdown(cancel_futures=True)

    def _search(
        self, estimate: Estimate, root: Array, session: OnlineIdentifier | None,
    ) -> LiveLinks:
        arm = self._session.arm
        try:
            colour = sample_colour(estimate.covariance, estimate.std_white)
            found = standard_parameters(arm, estimate.theta, root / np.sqrt(colour))
        except DynidError:
            return LiveLinks(None, None)
        return LiveLinks(found, None if session is None else self._judge(session))

    def _judge(self, session: OnlineIdentifier) -> str | None:
        """Describe the arm as this session knows it, if that is trustworthy."""
        began = monotonic()
        try:
            model = session.result()
            return self._describe(model.possible_arm) if model.verdict.trustworthy else None
        except DynidError:
            # Nothing was learned yet.
            return None
        finally:
            ended = monotonic()
            self._next_verdict = ended + PAUSE * (ended - began)
