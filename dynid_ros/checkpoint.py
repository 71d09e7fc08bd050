"""Saving and restoring the state of objects, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

State = dict[str, NDArray[Any]]


class Checkpointed:
    """
    An object whose state is some of its attributes, arrays or plain numbers.

    Attributes
    ----------
    saved : tuple of str
        Their names.

    """

    saved: tuple[str, ...] = ()

    def state(self) -> State:
        """Return copies of these attributes as arrays, for ``np.savez``."""
        return {name: np.array(getattr(self, name)) for name in self.saved}

    def restore(self, state: State) -> None:
        """Restore the result of `state`."""
        for name in self.saved:
            value = np.asarray(state[name])
            setattr(self, name, value.copy() if value.ndim else value.item())


def nested(parts: dict[str, Checkpointed]) -> State:
    """States of several objects in one, each name with that of its object in front."""
    return {f'{part}.{name}': value
            for part, saved in parts.items() for name, value in saved.state().items()}


def restore_nested(parts: dict[str, Checkpointed], state: State) -> None:
    """Restore the result of `nested`."""
    for part, saved in parts.items():
        prefix = f'{part}.'
        saved.restore({
            name[len(prefix):]: value for name, value in state.items() if name.startswith(prefix)})
