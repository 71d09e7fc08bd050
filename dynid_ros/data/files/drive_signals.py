# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint states of a recording, paired with drive signals from a topic of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.files.sample_blocks import SampleBlock
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.streaming.pairing import GAP_NS, Pairing, Stamps
from dynid_ros.errors import RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import blocks


def paired(
    stamps: Stamps, arrival: Stamps, signals: SampleBlock, received: bool, where: str,
) -> tuple[NDArray[np.int64], Array, list[Defect]]:
    """
    Pair joint states with signals, in the order of reception.

    Parameters
    ----------
    stamps, arrival : (N,) ndarray of int64
        Stamps and times of reception of the joint states, ns.
    signals : SampleBlock
        Messages with the drive signal as effort.
    received : bool
        Use the times of reception as stamps of the signals.
    where : str
        Where the signals come from.

    Returns
    -------
    rows : (k,) ndarray of int64
        The joint states that have a signal.
    u : (k, n) ndarray
        Their signals.
    defects : list of Defect
        Joint states left out.

    Raises
    ------
    RecordingError
        No joint state has a signal.

    """
    # Messages without a stamp get their time of reception.
    sent = np.where(received | (signals.stamp == 0), signals.received, signals.stamp)
    every, count = np.concatenate([stamps, sent]), len(stamps)
    order = np.argsort(np.concatenate([arrival, signals.received]), kind='stable')
    pairing = Pairing(1, signals.effort.shape[1])
    taken = []
    for part in blocks(len(order)):
        for k, stamp in zip(order[part].tolist(), every[order[part]].tolist(), strict=True):
            if k < count:
                pairing.add_state(stamp, np.array([k]))
            else:
                pairing.add_signal(stamp, signals.effort[k - count])
        taken.append(pairing.take())
    pairing.close()
    _, rows, u = (np.concatenate(each) for each in zip(*taken, strict=True))
    if not len(rows):
        raise RecordingError(
            f'{where}: no joint state has a drive signal within {GAP_NS / 1e9:g} s; compare the '
            'header stamps of both topics, or use the times of reception (--received)')
    text = (f'{pairing.unpaired} of {count} joint states are left out: the drive signals around '
            f'them are more than {GAP_NS / 1e9:g} s apart.')
    level = 'warning' if pairing.unpaired > 0.01 * count else 'info'
    return rows[:, 0].astype(np.int64), u, [
        Defect('drive_signal_missing', level, text, count=pairing.unpaired)
    ] if pairing.unpaired else []
