"""Violations of the bounds that a moving arm keeps: values with a kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Bound(Enum):
    """Kind of a bound; decisions follow it, and never the words of a message."""

    NUMBER = 'position and velocity are numbers'
    POSITION = 'position limits'
    VELOCITY = 'velocity limits'
    EFFORT = 'effort limits'
    TRACKING = 'distance from the reference'
    SILENCE = 'age of the last usable state'
    PUBLISHERS = 'one publisher of joint states'
    CONTROLLER = 'a controller or listener that takes the motion'


@dataclass(frozen=True)
class Violation:
    """
    A bound that is broken.

    Attributes
    ----------
    bound : Bound
        Which one.
    joint : str
        Name of the joint that breaks it; empty where no single one does.
    text : str
        One clause for the user, with the joint and the value where there is one.

    """

    bound: Bound
    joint: str
    text: str

    def __str__(self) -> str:
        """Return the clause."""
        return self.text
