"""The words of a load: the same in terminal and diagnostics."""

from __future__ import annotations

from dynid_ros.applications.payload.estimate import Payload
from dynid_ros.estimation.model.friction_curve import INTERVAL
from dynid_ros.estimation.model.verdict_words import refusal
from dynid_ros.utilities.text import plain, within


def headline(found: Payload) -> str:
    """
    Answer in a line whether an arm carries a load, and which.

    Parameters
    ----------
    found : Payload
        The load.

    """
    if not found.trustworthy:
        return refusal(found.findings[0])
    mass, std = found.masses[found.method]
    stated = within(mass, INTERVAL * std, 'kg')
    if not found.present:
        return f'No load: {stated}.'
    if not found.ready:
        return f'A load of {stated}; this motion does not determine its centre, send nothing.'
    center = ', '.join(plain(1e3 * value) for value in found.body.center)
    return f'A load of {stated}, its centre at {center} mm; ready to send.'
