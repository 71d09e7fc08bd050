# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Run the live estimate of a load on a recording."""

from __future__ import annotations

from dynid_ros.applications.payload.body import INERTIA_FIELDS
from dynid_ros.applications.payload.estimate import Payload
from dynid_ros.applications.payload.fit import finite_numbers
from dynid_ros.applications.payload.live_payload import LivePayload
from dynid_ros.applications.payload.session import check_signal
from dynid_ros.data.recordings.clock import with_one_clock
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.online.replay import feed, History, Snapshot


def replay_payload(
    model: IdentifiedModel, recording: Recording, *, cutoff_hz: float | None = None,
    delay: float | None = None,
) -> tuple[Payload, History]:
    """
    Feed a recording to the live estimate of a load, sample by sample as it was recorded.

    Parameters
    ----------
    model : IdentifiedModel
        The arm without the load.
    recording : Recording
        Recording with the load; its faults go through the rules of the stream.
    cutoff_hz, delay : float, optional
        Cut-off of all filters, and time by which the drive signal lags behind the motion, s;
        the model's if not given.

    Returns
    -------
    payload : Payload
        The last estimate.
    history : History
        The course of mass, centre and inertia, as `LoadBody.fields`, once the mass is determined.

    Raises
    ------
    InputError
        The model lacks the information that is needed.
    RecordingError
        The recording is unusable, holds another drive signal, or has no information on the mass.

    """
    check_signal(model, recording)
    checked_recording(recording, model.arm)
    session = LivePayload(model, recording.source, cutoff_hz=cutoff_hz, delay=delay)
    found: Payload | None = None

    def snapshot() -> Snapshot | None:
        nonlocal found
        found = session.load()
        if found is None:
            return None
        body = found.body
        return body.fields, body.fields_std, body.from_data, body.from_data

    with finite_numbers(model, [recording.source]):
        history = feed(session, with_one_clock(recording), tuple(INERTIA_FIELDS), snapshot)
    if found is None:
        count = session.recursion.rows.max(initial=0)
        raise RecordingError(
            f'{recording.source}: the mass of the load is not determined by {count} rows of '
            'motion; record a motion in which gravity turns in the frame of the tool')
    return found, history
