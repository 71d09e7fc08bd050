"""The low-pass of `Decimator` on a stream, sample by sample."""

from __future__ import annotations

import numpy as np

from dynid_ros.arrays import Array
from dynid_ros.checkpoint import Checkpointed
from dynid_ros.compiled import kernel
from dynid_ros.signals.filters import Decimator


class StreamDecimator(Checkpointed):
    """
    Filter a stream as `Decimator` filters a recording, and keep each `step`-th sample.

    The output lags by the reach of the filter. Blocks of any lengths give the same numbers.

    Parameters
    ----------
    decimator : Decimator
        The filter.
    columns : int
        Number of signals c.

    Attributes
    ----------
    sums : (m, c) ndarray
        Outputs that are not complete, the one that begins with sample k in row ``k / step % m``.
    count : int
        Samples so far.

    """

    saved = ('sums', 'count')

    def __init__(self, decimator: Decimator, columns: int) -> None:
        self._decimator = decimator
        self.sums = np.zeros((-(-len(decimator.taps) // decimator.step), columns))
        self.count = 0

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self.sums[:] = 0.0
        self.count = 0

    def apply(self, x: Array) -> Array:
        """
        Filter the next samples.

        Parameters
        ----------
        x : (k, c) ndarray
            Signals.

        Returns
        -------
        (m, c) ndarray
            Outputs that became complete.

        """
        outputs = self._decimator.outputs
        out = np.empty((outputs(self.count + len(x)) - outputs(self.count), x.shape[1]))
        add_to_outputs(
            x, self._decimator.taps, self._decimator.step, self.sums, self.count, out)
        self.count += len(x)
        return out


@kernel
def add_to_outputs(
    x: Array, taps: Array, step: int, sums: Array, count: int, out: Array,
) -> None:
    """
    Add samples to the outputs that they belong to; see `StreamDecimator`.

    Parameters
    ----------
    x : (k, c) ndarray
        The next samples.
    taps : (L,) ndarray
        Filter, oldest sample first.
    step, count : int
        Samples for each output, and those before x.
    sums : (m, c) ndarray
        Incomplete outputs; updated.
    out : (j, c) ndarray
        Complete ones, written.

    """
    done = 0
    for k in range(x.shape[0]):
        sample = count + k
        # The first output that still holds this sample, and the last one.
        for each in range(max(0, (sample - taps.size) // step + 1), sample // step + 1):
            tap, row = taps[sample - each * step], sums[each % sums.shape[0]]
            for c in range(x.shape[1]):
                row[c] += tap * x[k, c]
            if sample - each * step == taps.size - 1:
                out[done] = row
                row[:] = 0.0
                done += 1
