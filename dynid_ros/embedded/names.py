"""Names of topics and services, from what a node calls them to what is on the wire."""

from __future__ import annotations

import re

from dynid_ros.embedded.arguments import Arguments

FULL = re.compile(r'(/[A-Za-z_][A-Za-z0-9_]*)+')


def expand(name: str, namespace: str, node: str) -> str:
    """
    Full name, without remapping.

    Raises
    ------
    ValueError
        No name.

    """
    if name.startswith('~'):
        full = f'{namespace.rstrip("/")}/{node}/{name[1:].lstrip("/")}'
    else:
        full = name if name.startswith('/') else f'{namespace.rstrip("/")}/{name}'
    if not FULL.fullmatch(full):
        raise ValueError(f"'{name}' is no name of a topic or service")
    return full


def resolve(name: str, namespace: str, node: str, arguments: Arguments) -> str:
    """Full name with the remappings of the command line."""
    full = expand(name, namespace, node)
    for only, rule, to in arguments.remaps:
        if (only in ('', node) and not rule.startswith('__')
                and expand(rule, namespace, node) == full):
            return expand(to, namespace, node)
    return full
