"""Where the joints of an arm are in a message."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel

#: Orders that are remembered: who sends other names in every message must not fill the memory.
ORDERS = 16


class JointOrder:
    """
    Find the joints of an arm by name, under its own names or its aliases.

    Parameters
    ----------
    arm : ArmModel
        Names of the joints, and their aliases.

    """

    def __init__(self, arm: ArmModel) -> None:
        self._names = (arm.joint_names, *arm.aliases)
        self._orders: dict[tuple[str, ...], NDArray[np.intp] | None] = {}

    def of(self, names: tuple[str, ...]) -> NDArray[np.intp] | None:
        """Places (n,) of the joints among the names; None if some are missing."""
        if names not in self._orders:
            if len(self._orders) >= ORDERS:
                self._orders.clear()
            known = next((own for own in self._names if set(own) <= set(names)), None)
            self._orders[names] = None if known is None else np.array(
                [names.index(name) for name in known], dtype=np.intp)
        return self._orders[names]
