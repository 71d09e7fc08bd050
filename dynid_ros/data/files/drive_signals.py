"""Joint states of a recording, paired with drive signals from a topic of their own."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.files.sample_blocks import SampleBlock
from dynid_ros.data.recordings.in_blocks import blocks
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.streaming.pairing import GAP, Pairing, Stamps
from dynid_ros.errors import RecordingError
from dynid_ros.utilities.arrays import Array


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
    stamps, arrival, values = states[0], states[1], np.hstack(states[2])
    # Messages without a stamp get their time of reception.
    sent = np.where(received | (signals.stamp == 0), signals.received, signals.stamp)
    every, count = np.concatenate([stamps, sent]), len(stamps)
    order = np.argsort(np.concatenate([arrival, signals.received]), kind='stable')
    pairing = Pairing(values.shape[1], signals.effort.shape[1])
    taken = []
    for part in blocks(len(order)):
        for k, stamp in zip(order[part].tolist(), every[order[part]].tolist(), strict=True):
            if k < count:
                pairing.add_state(stamp, values[k])
            else:
                pairing.add_signal(stamp, signals.effort[k - count])
        taken.append(pairing.take())
    pairing.close()
    paired_stamps, moved, u = (np.concatenate(each) for each in zip(*taken, strict=True))
    if not len(paired_stamps):
        raise RecordingError(
            f'{where}: no joint state has a drive signal within {GAP / 1e9:g} s; compare the '
            'header stamps of both topics, or use the times of reception (--received)')
    found = []
    if pairing.unpaired:
        level = 'warning' if pairing.unpaired > 0.01 * count else 'info'
        text = (f'{pairing.unpaired} of {count} joint states are left out: the drive signals '
                f'around them are more than {GAP / 1e9:g} s apart.')
        found.append(Defect('drive_signal_missing', level, text, count=pairing.unpaired))
    return paired_stamps, moved, u, found
