# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sentences on delay, cut-offs and clocks, the same in terminal, report and checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.data.recordings.recording import SampleClock
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.utilities.text import plain, several

if TYPE_CHECKING:
    from dynid_ros.arm.model import ArmModel
    from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: Least number of cut-offs for a comparison.
FEWEST_CUTOFFS = 2


def lateness(arm: ArmModel, settings: ConditioningSettings) -> str:
    """
    State how late or early the drive signal is.

    Parameters
    ----------
    arm : ArmModel
        The arm; a delay that it states is not reported.
    settings : ConditioningSettings
        Settings that were chosen for its recordings.

    Returns
    -------
    str
        The beginning of a sentence; empty if no delay was found.

    """
    if arm.stated_delay is not None or not settings.delay:
        return ''
    way = 'late' if settings.delay > 0 else 'early'
    return f'The {arm.drive.signal} is {plain(1000 * abs(settings.delay), 2)} ms {way}'


def noisy_positions(arm: ArmModel, settings: ConditioningSettings) -> str:
    """List the joints whose positions are too noisy for the cut-off; empty if there is none."""
    lowest = min(settings.position_hz, default=0.0)
    noisy = [name for name, own in zip(arm.joint_names, settings.position_hz, strict=False)
             if own == lowest]
    return '' if not noisy else (
        f'The positions of {several(noisy)} are noisier than those of the other joints; dynid '
        f'filtered them below {lowest:.3g} Hz.')


def ladder_line(settings: ConditioningSettings) -> str:
    """State the error in the lowest band by cut-off; empty if no cut-offs were compared."""
    ladder = settings.ladder
    if len(ladder) < FEWEST_CUTOFFS:
        return ''
    errors = (f'{plain(rung.error_percent, 2)} % at {rung.cutoff_hz:.3g} Hz'
              + (' (chosen)' if rung.cutoff_hz == settings.cutoff_hz else '') for rung in ladder)
    return f'Error below {ladder[0].cutoff_hz:.3g} Hz by cut-off: {", ".join(errors)}.'


def clock_line(clock: SampleClock) -> str:
    """State which times replaced the stamps of a recording, and how late the stamps are."""
    name, rate = Path(clock.source).name, f'{clock.rate_hz:.5g} Hz'
    if clock.kind == 'even':
        return (f'The stamps of {name} scatter by {plain(1000 * clock.jitter, 2)} ms (standard '
                f'deviation) around even ones of {rate}, which the samples have instead.')
    return (f'The samples of {name} are the newest state of a source of {rate}: the stamps are 0 '
            f'to {plain(1000 / clock.rate_hz, 2)} ms late, and the samples have the times of that '
            'source instead.')


def clock_lines(model: IdentifiedModel) -> Iterator[str]:
    """State for each recording whether its stamps were replaced or kept."""
    yield from map(clock_line, model.clocks)
    replaced = {clock.source for clock in model.clocks}
    kept = [Path(source).name for source in model.sources if source not in replaced]
    if kept:
        yield f'The samples of {several(kept)} have the stamps that were recorded.'
