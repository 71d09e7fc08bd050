"""Findings of a live verdict, which count once two verdicts in a row have them."""

from __future__ import annotations

from dataclasses import replace

from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: Findings that hold for every session at first, until its motion has excited enough.
NOT_YET = ('still', 'not_validated', 'not_excited', 'excitation')


class Confirmation:
    """
    Holds findings of a verdict back until the next verdict has one of the same joints, too.

    A few seconds of a good stream may seem to have a fault.

    Attributes
    ----------
    waiting : IdentifiedModel or None
        The last model with its complete verdict, if findings of it are held back.

    """

    def __init__(self) -> None:
        self.waiting: IdentifiedModel | None = None
        self._suspected: frozenset[tuple[bool, str | tuple[str, ...]]] = frozenset()

    def confirmed(self, model: IdentifiedModel) -> IdentifiedModel:
        """Return a model without the findings that the previous verdict did not have."""
        findings, before = model.verdict.findings, self._suspected
        excited = not any(each.code in NOT_YET for each in findings)
        # The sign of a joint's effort and the sign of its position may win in turn.
        keys = {each: (excited, each.joints or each.code) for each in findings
                if each.code not in NOT_YET}
        self._suspected = frozenset(keys.values())
        held = tuple(each for each in findings if each not in keys or keys[each] in before)
        self.waiting = model if len(held) < len(findings) else None
        return replace(model, verdict=replace(model.verdict, findings=held))
