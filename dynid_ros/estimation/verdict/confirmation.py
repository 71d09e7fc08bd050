"""Findings of a live verdict, which count once a verdict on more data has them, too."""

from __future__ import annotations

from dataclasses import replace

from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: Findings that hold for every session at first, until its motion has excited enough.
NOT_YET = ('still', 'not_validated', 'not_excited', 'excitation')
#: Further data that confirms a finding is half of the data before, within these bounds, s.
FURTHER = (1.0, 5.0)


class Confirmation:
    """
    Holds findings of a verdict back until a later verdict has one of the same joints, too.

    A few seconds of a good stream may seem to have a fault, and so may nearly the same seconds a
    moment later: the later verdict needs half as much data more, see `FURTHER`.

    Attributes
    ----------
    waiting : IdentifiedModel or None
        The last model with its complete verdict, if findings of it are held back.

    """

    def __init__(self) -> None:
        self.waiting: IdentifiedModel | None = None
        #: Seconds of data in which each suspicion was first found.
        self._suspected: dict[tuple[bool, str | tuple[str, ...]], float] = {}

    def confirmed(self, model: IdentifiedModel) -> IdentifiedModel:
        """Return a model without the findings that are not confirmed yet."""
        findings, before = model.verdict.findings, self._suspected
        excited = not any(each.code in NOT_YET for each in findings)
        # The sign of a joint's effort and the sign of its position may win in turn.
        keys = {each: (excited, each.joints or each.code) for each in findings
                if each.code not in NOT_YET}
        self._suspected = {key: before.get(key, model.seconds) for key in keys.values()}
        held = tuple(each for each in findings if each not in keys
                     or model.seconds >= _enough(self._suspected[keys[each]]))
        self.waiting = model if len(held) < len(findings) else None
        return replace(model, verdict=replace(model.verdict, findings=held))


def _enough(first: float) -> float:
    """Return the seconds of data that confirm a finding of the first ones."""
    return first + min(max(first / 2, FURTHER[0]), FURTHER[1])
