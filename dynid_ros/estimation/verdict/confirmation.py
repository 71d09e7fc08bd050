# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Confirmation of live findings: each counts once a verdict on more data repeats it."""

from __future__ import annotations

from dataclasses import replace

from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: Findings of every session until its motion has excited enough; they need no confirmation.
NOT_YET = ('still', 'not_validated', 'not_excited', 'excitation')
#: Bounds of the further data that confirms a finding, which is half of the data before, s.
FURTHER = (1.0, 5.0)


class Confirmation:
    """
    Withholds findings of a verdict until a later verdict repeats them for the same joints.

    A few seconds of a good stream may seem to have a fault, and so may nearly the same data a
    moment later. So the later verdict needs half as much data again, see `FURTHER`.

    Attributes
    ----------
    waiting : IdentifiedModel or None
        The last model with its complete verdict, if some of its findings are withheld.

    """

    def __init__(self) -> None:
        self.waiting: IdentifiedModel | None = None
        #: Seconds of data at which each finding first appeared.
        self._suspected: dict[tuple[bool, str | tuple[str, ...]], float] = {}

    def confirmed(self, model: IdentifiedModel) -> IdentifiedModel:
        """Return a model without the findings that are not confirmed yet."""
        findings, before = model.verdict.findings, self._suspected
        excited = not any(each.code in NOT_YET for each in findings)
        # The joints identify a finding: its code may alternate, say between two signs of a joint.
        keys = {each: (excited, each.joints or each.code) for each in findings
                if each.code not in NOT_YET}
        self._suspected = {key: before.get(key, model.seconds) for key in keys.values()}
        confirmed = tuple(each for each in findings if each not in keys
                          or model.seconds >= _confirming_seconds(self._suspected[keys[each]]))
        self.waiting = model if len(confirmed) < len(findings) else None
        return replace(model, verdict=replace(model.verdict, findings=confirmed))


def _confirming_seconds(first: float) -> float:
    """Return the seconds of data that confirm a finding which first appeared at some."""
    return first + min(max(first / 2, FURTHER[0]), FURTHER[1])
