# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Saving and restoring the state of objects, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

State = dict[str, NDArray[Any]]


class Checkpointed:
    """
    An object whose state is some of its attributes (arrays or numbers) and the state of its parts.

    Parts are its attributes that are `Checkpointed`.

    Attributes
    ----------
    saved : tuple of str
        Names of the attributes.

    """

    saved: tuple[str, ...] = ()

    def parts(self) -> Mapping[str, Checkpointed]:
        """Return the attributes with a state of their own, by name."""
        return {name.lstrip('_'): each for name, each in vars(self).items()
                if isinstance(each, Checkpointed)}

    def state(self) -> State:
        """Return copies of the state as arrays, for ``np.savez``."""
        return {name: np.array(getattr(self, name)) for name in self.saved} | {
            f'{part}.{name}': value
            for part, own in self.parts().items() for name, value in own.state().items()}

    def restore(self, state: State) -> None:
        """Continue from the result of `state` of an object with the same settings."""
        for name in self.saved:
            value = np.asarray(state[name])
            setattr(self, name, value.copy() if value.ndim else value.item())
        for part, own in self.parts().items():
            own.restore(state_of(part, state))


def state_of(part: str, state: State) -> State:
    """Return the state of a part, as that part has it."""
    prefix = f'{part}.'
    return {
        name[len(prefix):]: value for name, value in state.items() if name.startswith(prefix)}


class GrowingRows(Checkpointed):
    """
    An object with rows that arrive in blocks, and are concatenated when they are read.

    Parameters
    ----------
    rows : (N, ...) ndarray
        The first ones.

    """

    def __init__(self, rows: NDArray[np.float64]) -> None:
        self._blocks = [rows]

    @property
    def rows(self) -> NDArray[np.float64]:
        """All rows."""
        self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0]

    @rows.setter
    def rows(self, rows: NDArray[np.float64]) -> None:
        self._blocks = [rows]

    def append(self, rows: NDArray[np.float64]) -> None:
        """Add some rows."""
        self._blocks.append(rows)
