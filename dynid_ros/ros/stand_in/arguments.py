# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Arguments after ``--ros-args``: names, remappings and parameters, as rcl reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
import re
from typing import Any

import yaml

from dynid_ros.errors import InputError

#: Reads values as rcl does: YAML itself takes numbers such as 1e6 for texts.
_Values: Any = type('_Values', (yaml.SafeLoader,), {})
_Values.add_implicit_resolver(
    'tag:yaml.org,2002:float',
    re.compile(r'[-+]?((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|inf|nan)$'), [*'-+.0123456789in'])


FULL_NAME = re.compile(r'(/[A-Za-z_][A-Za-z0-9_]*)+')


@dataclass
class Arguments:
    """
    A command line, as far as it concerns nodes.

    Attributes
    ----------
    remaps : list of (str, str, str)
        Name of the only node concerned or empty, from and to; ``__node`` and ``__ns`` among them.
    parameters : dict of str to dict
        Values by names, for each pattern of full node names; the last one that fits wins.

    """

    remaps: list[tuple[str, str, str]] = field(default_factory=list)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)

    def remap(self, key: str, node: str) -> str | None:
        """Find the new name of a remapped one; the first rule that fits wins."""
        return next((to for only, name, to in self.remaps
                     if name == key and only in ('', node)), None)

    def overrides(self, node: str) -> dict[str, Any]:
        """Parameters that are given for a node, by its full name."""
        found: dict[str, Any] = {}
        for pattern, values in self.parameters.items():
            # /** stands for any number of namespaces, and * for one.
            wanted = re.escape(pattern).replace(r'/\*\*', '(/.+)?').replace(r'\*', '[^/]+')
            if re.fullmatch(wanted, node):
                found |= values
        return found

    def resolve(self, name: str, namespace: str, node: str) -> str:
        """
        Full name of a topic or service, remapped.

        Raises
        ------
        ValueError
            No name.

        """
        full = _expand(name, namespace, node)
        for only, rule, to in self.remaps:
            if (only in ('', node) and not rule.startswith('__')
                    and _expand(rule, namespace, node) == full):
                return _expand(to, namespace, node)
        return full


def _expand(name: str, namespace: str, node: str) -> str:
    """Full name, without remapping."""
    name = f'{node}/{name[1:].lstrip("/")}' if name.startswith('~') else name
    full = name if name.startswith('/') else f'{namespace.rstrip("/")}/{name}'
    if not FULL_NAME.fullmatch(full):
        raise ValueError(f"'{name}' is not a valid name of a topic or service")
    return full


def parse(words: Sequence[str]) -> Arguments:
    """
    Read a command line.

    Raises
    ------
    InputError
        A word after ``--ros-args`` is not understood.

    """
    made = Arguments()
    rest, inside = iter(words), False
    for word in rest:
        if word in ('--ros-args', '--'):
            inside = word == '--ros-args'
        elif not inside:
            continue
        elif word in ('-p', '--param'):
            node, name, value = _rule(word, next(rest, ''))
            _add(made, f'/{node}' if node else '/**', {name: _value(word, name, value)})
        elif word in ('-r', '--remap'):
            rule = _rule(word, next(rest, ''))
            if rule[1].startswith('__') and rule[1] not in ('__node', '__ns'):
                raise InputError(f'{word} {rule[1]} is not supported without ROS 2')
            made.remaps.append(rule)
        elif word == '--params-file':
            _read(Path(next(rest, '')), made)
        else:
            raise InputError(f'{word} after --ros-args is not supported without ROS 2')
    return made


def _rule(word: str, text: str) -> tuple[str, str, str]:
    """Node, or empty for all, name and value."""
    left, sign, right = text.partition(':=')
    if not (left and sign):
        raise InputError(f"{word} wants name:=value, not '{text}'")
    node, _, name = left.rpartition(':')
    return node, name, right


def _value(word: str, name: str, text: str) -> Any:
    try:
        return yaml.load(text, _Values) if text else ''
    except yaml.YAMLError as error:
        raise InputError(f"{word} {name}: '{text}' is not a YAML value") from error


def _read(path: Path, made: Arguments) -> None:
    """Parameters in a file of ROS 2."""
    try:
        content = yaml.load(path.read_text(), _Values)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f'cannot read the parameter file {path}: {error}') from error
    _collect(path, content, '', made)


def _collect(path: Path, content: Any, node: str, made: Arguments) -> None:
    if not isinstance(content, dict):
        raise InputError(f'{path}: {node or "the file"} must hold names and values')
    for key, value in content.items():
        if key == 'ros__parameters' and isinstance(value or {}, dict):
            _add(made, node, dict(_flat(value or {})))
        else:
            _collect(path, value, f'{node}/{str(key).strip("/")}', made)


def _add(made: Arguments, pattern: str, values: dict[str, Any]) -> None:
    made.parameters.setdefault(pattern, {}).update(values)


def _flat(values: dict[str, Any], prefix: str = '') -> Iterator[tuple[str, Any]]:
    """Nested parameters have dots in their names."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value
