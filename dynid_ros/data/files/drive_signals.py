"""Joint states of a recording, paired with drive signals from a topic of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.files.sample_blocks import SampleBlock
from dynid_ros.data.recordings.in_blocks import blocks
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.streaming.pairing import GAP, Pairing, Stamps
from dynid_ros.errors import RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.memmap import GrowingArray


def paired(
    states: tuple[Stamps, Stamps, list[Array]], signals: SampleBlock, received: bool, where: str,
) -> tuple[Stamps, Array, Array, list[Defect]]:
    """
    Pair joint states with signals, in the order of reception.

    Parameters
    ----------
    states : (N,), (N,) and list of (N, w) ndarray
        Stamps and times of reception, ns, and values.
    signals : SampleBlock
        Messages with the drive signal as effort.
    received : bool
        Use the times of reception as stamps of the signals.
    where : str
        Where the signals come from.

    Returns
    -------
    stamps : (k,) ndarray of int64
        Those of the joint states that have a signal.
    values : (k, w) ndarray
        Their values, side by side.
    u : (k, n) ndarray
        Their signals.
    defects : list of Defect
        Joint states left out.

    Raises
    ------
    RecordingError
        No joint state has a signal.

    """
    stamps, arrival, *values = _by_reception(states[1], [*states[:2], *states[2]])
    sent, heard, drive = _by_reception(
        signals.received, [signals.stamp, signals.received, signals.effort])
    count, done = len(stamps), 0
    pairing = Pairing(sum(part.shape[1] for part in values), drive.shape[1])
    whole = [GrowingArray() for _ in range(3)]
    for part in blocks(count):
        stop = len(heard)
        if part.stop < count:
            stop = int(np.searchsorted(heard, arrival[part.stop - 1]))
        own, done = slice(done, stop), stop
        # Messages without a stamp get their time of reception.
        unset = received | (sent[own] == 0)
        times = np.where(unset, heard[own], sent[own])
        _pair_some(
            pairing, (stamps[part], arrival[part], np.hstack([each[part] for each in values])),
            (times, heard[own], drive[own]))
        for array, rows in zip(whole, pairing.take(), strict=True):
            array.add(rows)
    pairing.close()
    if not sum(map(len, whole)):
        raise RecordingError(
            f'{where}: no joint state has a drive signal within {GAP / 1e9:g} s; compare the '
            'header stamps of both topics, or use the times of reception (--received)')
    found = []
    if pairing.unpaired:
        level = 'warning' if pairing.unpaired > 0.01 * count else 'info'
        text = (f'{pairing.unpaired} of {count} joint states are left out: the drive signals '
                f'around them are more than {GAP / 1e9:g} s apart.')
        found.append(Defect('drive_signal_missing', level, text, count=pairing.unpaired))
    taken, moved, u = (array.take() for array in whole)
    return taken, moved, u, found


def _pair_some(
    pairing: Pairing, states: tuple[Stamps, Stamps, Array], signals: tuple[Stamps, Stamps, Array],
) -> None:
    """Add stamps, times of reception and values in the order of reception."""
    every = np.concatenate([states[0], signals[0]]).tolist()
    order = np.argsort(np.concatenate([states[1], signals[1]]), kind='stable')
    count = len(states[0])
    for k in order.tolist():
        if k < count:
            pairing.add_state(every[k], states[2][k])
        else:
            pairing.add_signal(every[k], signals[2][k - count])


def _by_reception(received: Stamps, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Sort arrays by the times of reception, which nearly all recordings are in order of."""
    if (np.diff(received) >= 0).all():
        return list(arrays)
    order = np.argsort(received, kind='stable')
    return [array[order] for array in arrays]
