# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Read YAML of bounded depth and size, with numbers as users mean them."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.composer import Composer

#: Most values, repetitions by aliases included. A result of 400 parameters has 170 000.
MOST_VALUES = 500_000
#: Most digits of an integer; seeds of 64 bits have 20.
MOST_DIGITS = 40
# Characters that no name of a file or a joint can hold.
_NO_TEXT = re.compile('[\0\ud800-\udfff]')
_SafeLoader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_INT, _FLOAT, _TIME = (f'tag:yaml.org,2002:{kind}' for kind in ('int', 'float', 'timestamp'))


class YamlError(Exception):
    """A text is not valid YAML; the message gives the reason and the line."""


def parse_yaml(data: bytes) -> Any:
    """
    Content of a YAML text.

    A repeated key is an error, as are an alias inside its own anchor and a text of implausible
    depth or size. `1:30` and a date are text here, and `010` is no octal number.

    Raises
    ------
    YamlError
        The text is not such YAML.

    """
    try:
        loader = _Loader(data)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(f'{error.problem}, line {mark.line + 1 if mark else 1}') from error
    except RecursionError:
        # An arm.yaml has 6 levels of lists and mappings in each other.
        raise YamlError('its lists and mappings exceed any nesting depth of use') from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlError((str(error).splitlines() or [type(error).__name__])[0]) from error


class _Bounded(Composer):  # type: ignore[misc]
    """Compose a limited number of nodes, and refuse repeated keys."""

    def __init__(self) -> None:
        super().__init__()
        self._values = 0
        self._sizes: dict[str, int] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        anchor, before = event.anchor, self._values
        if isinstance(event, yaml.AliasEvent):
            if anchor in self.anchors and anchor not in self._sizes:
                raise _error(f'the alias "{anchor}" contains itself', event)
            self._values += self._sizes.get(anchor, 0)
        self._values += 1
        if self._values > MOST_VALUES:
            raise _error(f'it has more than {MOST_VALUES} values', event)
        node = super().compose_node(parent, index)
        if isinstance(node, yaml.ScalarNode) and _NO_TEXT.search(node.value):
            raise _error('a text holds NUL or half a character', node)
        if anchor is not None and not isinstance(event, yaml.AliasEvent):
            self._sizes[anchor] = self._values - before
        return node

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and name in lines:
                raise YamlError(f'key "{name}" is repeated, lines {lines[name]} and {line}')
            lines[name] = line
        return node


class _Loader(_Bounded, _SafeLoader):  # type: ignore[misc, valid-type]
    """Safe loader of integers and dates as users write them; in C where there is libyaml."""

    def __init__(self, data: bytes) -> None:
        _SafeLoader.__init__(self, data)
        _Bounded.__init__(self)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        # Each constructor of an explicit tag, such as `!!bool x`, fails in its own way.
        except (ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
            raise _error(f'a value does not fit its tag "{node.tag}"', node) from error

    def construct_whole(self, node: Any) -> int:
        text = str(self.construct_scalar(node))
        if len(text) > MOST_DIGITS:
            raise _error(f'an integer has {len(text)} digits', node)
        return int(text, 10 if text.lstrip('+-').isdigit() else 0)


def _error(problem: str, place: Any) -> YamlError:
    return YamlError(f'{problem}, line {place.start_mark.line + 1}')


_Loader.add_constructor(_INT, _Loader.construct_whole)
# YAML 1.1 takes 1:30 for 90, 010 for 8 and 2026-01-01 for a date.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_INT, _FLOAT, _TIME)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
_Loader.add_implicit_resolver(
    _INT, re.compile(r'[-+]?(0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$'), list('-+0123456789'))
_Loader.add_implicit_resolver(
    _FLOAT, re.compile(r'[-+]?([0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|\.(inf|Inf|INF))$'
                       r'|\.[0-9][0-9_]*([eE][-+][0-9]+)?$|\.(nan|NaN|NAN)$'),
    list('-+0123456789.'))
