# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joints of an arm under names with another common prefix or suffix."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
import re

from dynid_ros.arm.model import ArmModel


def likely_names(arm: ArmModel, there: Collection[str]) -> list[tuple[str, ...]]:
    """
    Find the joints of an arm among names that share a prefix or suffix of their own.

    Parameters
    ----------
    arm : ArmModel
        Names of the joints, and their aliases.
    there : collection of str
        Other names.

    Returns
    -------
    list of tuple of str
        Each set of names that the joints may have, in their order: those that add to the names of
        the arm, else those that replace what all of these begin or end with.

    """
    names = {name.lower(): name for name in there}
    own = [[name.lower() for name in joints] for joints in (arm.joint_names, *arm.aliases)]
    for stems in (own, [_cores(joints) for joints in own]):
        found = dict.fromkeys(tuple(names[name] for name in likely)
                              for joints in stems for likely in _around(joints, names))
        if found:
            return list(found)
    return []


def remedy(arm: ArmModel, there: Collection[str]) -> str:
    """State the setting by which an arm is found among other names."""
    likely = ' or '.join(f'[[{", ".join(names)}]]' for names in likely_names(arm, there))
    return f'set aliases: {likely} in arm.yaml' if likely else 'set joints or aliases in arm.yaml'


def _around(stems: Sequence[str], names: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Find sets of names that hold the stems between the same letters."""
    if not stems[0]:
        return
    places = [(name[:at.start()], name[at.end():]) for name in names
              for at in re.finditer(rf'(?<!\d){re.escape(stems[0])}(?!\d)', name)]
    for before, after in places:
        found = tuple(f'{before}{stem}{after}' for stem in stems)
        # Numbers count the joints: one more is of another arm.
        count = sum(bool(re.fullmatch(rf'{re.escape(before)}\d+{re.escape(after)}', name))
                    for name in names)
        if set(found) <= set(names) and count in (0, len(stems)):
            yield found


def _cores(names: Sequence[str]) -> list[str]:
    """Remove the common prefix and suffix."""
    left = [name[_shared(names):] for name in names]
    end = _shared([name[::-1] for name in left])
    return [name[:len(name) - end] for name in left]


def _shared(names: Sequence[str]) -> int:
    """Count the characters that all names begin with."""
    columns = enumerate(zip(*names, strict=False))
    return next((k for k, letters in columns if len(set(letters)) > 1), min(map(len, names)))
