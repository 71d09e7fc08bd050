"""From samples as they come to rows, once the band of these is known."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor

from dynid_ros.arm.model import ArmModel
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.online.first_samples import AtOnce, FirstSamples
from dynid_ros.estimation.online.row_pipeline import BLOCK, RowPipeline
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State, state_of

#: Samples that waited for a search in an executor and become rows at once: less than a tenth of a
#: second of work for an arm of seven joints, so that the next messages do not wait for long.
PORTION = 500


class RowSource(Checkpointed):
    """
    Holds the first samples until they show cut-off and delay, and makes rows of all.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    cutoff_hz, delay : float or None
        As for `RowPipeline`; without a cut-off, the first samples show both.
    position_hz : tuple of float
        As for `RowPipeline`.
    executor : Executor or None
        Runs the search for them; without one, the sample that shows the band waits for it.

    Attributes
    ----------
    pipeline : RowPipeline
        From samples to rows; another one once the band is chosen.

    """

    def __init__(
        self, arm: ArmModel, cutoff_hz: float | None, delay: float | None,
        position_hz: tuple[float, ...], executor: Executor | None,
    ) -> None:
        self._arm, self._portion = arm, None if executor is None else PORTION
        known = cutoff_hz or arm.conditioning.cutoff_hz
        self._first = None if known else FirstSamples(arm, delay, executor or AtOnce())
        self.pipeline = RowPipeline(arm, cutoff_hz=known, delay=delay, position_hz=position_hz)

    @property
    def holding(self) -> bool:
        """Return whether samples are held: the band is unknown, or they wait for their turn."""
        first = self._first
        return first is not None and (not first.cutoff_hz or len(first.held) > 0)

    def take(self, t: Array, q: Array, u: Array) -> Iterator[RowBlock]:
        """
        Take in samples, and make rows of these or of those that waited.

        The rows come one by one: friction by load needs the parameters by those before, and rows
        must not depend on the portions of the samples.

        Parameters
        ----------
        t, q, u : (k,) and (k, n) ndarray
            Next samples, if any: times, s, positions and drive signals.

        """
        if self._first is None or not self.holding:
            yield from self._rows(t, q, u)
            return
        self._first.take(t, q, u)
        yield from self._held()

    def flush(self) -> Iterator[RowBlock]:
        """Make rows of all samples that wait, for the search or for later ones."""
        yield from self._held(wait=True)
        yield from self.pipeline.flush()

    def share(self, other: RowSource) -> None:
        """Let a copy wait for the same search."""
        if self._first is not None and other._first is not None:
            other._first.search = self._first.search

    def restore(self, state: State) -> None:
        """Go on from a saved state; the filters follow from the band."""
        if self._first is not None:
            self._first.restore(state_of('first', state))
            if self._first.cutoff_hz:
                self._follow(self._first)
        super().restore(state)

    def _held(self, wait: bool = False) -> Iterator[RowBlock]:
        """Make rows of samples that are held, if the band is chosen, or wait until it is."""
        first = self._first
        if first is None or not self.holding:
            return
        known = first.cutoff_hz
        if first.choose(wait):
            if not known:
                self._follow(first)
            yield from self._rows(*first.hand_on(None if wait else self._portion))

    def _follow(self, first: FirstSamples) -> None:
        load_theta = self.pipeline.load_theta
        self.pipeline = RowPipeline(
            self._arm, cutoff_hz=first.cutoff_hz, delay=first.delay,
            position_hz=tuple(first.position_hz.tolist()))
        self.pipeline.load_theta = load_theta

    def _rows(self, t: Array, q: Array, u: Array) -> Iterator[RowBlock]:
        for k in range(0, len(t), BLOCK):
            part = slice(k, k + BLOCK)
            yield from self.pipeline.push(t[part], q[part], u[part])
