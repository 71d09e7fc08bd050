# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Make rows of samples as they arrive, once their band is known."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor

from dynid_ros.arm.model import ArmModel
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.online.first_samples import AtOnce, FirstSamples
from dynid_ros.estimation.online.row_pipeline import PROCESSED_TOGETHER, RowPipeline
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State, state_of

#: Held samples that are processed at a time after a search in an executor: less than 0.1 s of work
#: for an arm of seven joints, so that the next messages do not wait for long.
HELD_TOGETHER = 500


class RowSource(Checkpointed):
    """
    Makes rows of samples; holds the first ones until cut-off and delay are chosen from them.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    cutoff_hz, delay : float or None
        As for `RowPipeline`; without a cut-off, both are chosen from the first samples.
    position_hz : tuple of float
        As for `RowPipeline`.
    executor : Executor or None
        Runs the search; None to block during it.

    Attributes
    ----------
    pipeline : RowPipeline
        From samples to rows; it is replaced once the band is chosen.

    """

    def __init__(
        self, arm: ArmModel, cutoff_hz: float | None, delay: float | None,
        position_hz: tuple[float, ...], executor: Executor | None,
    ) -> None:
        self._arm, self._portion = arm, None if executor is None else HELD_TOGETHER
        known = cutoff_hz or arm.conditioning.cutoff_hz
        self._first = None if known else FirstSamples(arm, delay, executor or AtOnce())
        self.pipeline = RowPipeline(arm, cutoff_hz=known, delay=delay, position_hz=position_hz)

    @property
    def holding(self) -> bool:
        """Return whether samples are held: the band is unknown, or they are not processed yet."""
        first = self._first
        return first is not None and (not first.cutoff_hz or len(first.held) > 0)

    def take(self, t: Array, q: Array, u: Array) -> Iterator[RowBlock]:
        """
        Yield rows of new samples, or of held ones.

        Blocks are yielded one by one because load friction needs the parameters learned from
        earlier ones, whatever the portions of the samples.

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
        """Yield rows of all waiting samples."""
        yield from self._held(wait=True)
        yield from self.pipeline.flush()

    def share(self, other: RowSource) -> None:
        """Let a copy share the running search."""
        if self._first is not None and other._first is not None:
            other._first.search = self._first.search

    def restore(self, state: State) -> None:
        """Continue from a saved state; the band determines the filters."""
        if self._first is not None:
            self._first.restore(state_of('first', state))
            if self._first.cutoff_hz:
                self._follow(self._first)
        super().restore(state)

    def _held(self, wait: bool = False) -> Iterator[RowBlock]:
        """Yield rows of held samples if the band is chosen; wait for it if asked to."""
        first = self._first
        if first is None or not self.holding:
            return
        band_known = first.cutoff_hz
        if first.choose(wait):
            if not band_known:
                self._follow(first)
            yield from self._rows(*first.release(None if wait else self._portion))

    def _follow(self, first: FirstSamples) -> None:
        load_theta = self.pipeline.load_theta
        self.pipeline = RowPipeline(
            self._arm, cutoff_hz=first.cutoff_hz, delay=first.delay,
            position_hz=tuple(first.position_hz.tolist()))
        self.pipeline.load_theta = load_theta

    def _rows(self, t: Array, q: Array, u: Array) -> Iterator[RowBlock]:
        for k in range(0, len(t), PROCESSED_TOGETHER):
            part = slice(k, k + PROCESSED_TOGETHER)
            yield from self.pipeline.push(t[part], q[part], u[part])
