# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Arguments of the commands, as the functions behind them describe theirs.

Type, range, default and meaning are read from the source of a function: to import it would import
NumPy, which takes longer than all else that a help needs.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
import re
from typing import Any, NamedTuple, TypeAlias

import dynid_ros
from dynid_ros.arm.shipped import shipped_arms
from dynid_ros.errors import InputError

#: Arguments of a function, and how a user writes each: options, and what stands for the values.
Words: TypeAlias = Mapping[str, str]

#: How bags are read, as `read_recording` describes it, and of which arm.
READING = {'topic': '--topic', 'received': '--received'}
ARM_AND_READING = {'arm': '--arm', **READING}
#: Types that are names and paths on the command line, and what stands for them.
NAMES = {'Arm': 'ARM', 'Model': 'DIR', 'Logs': 'BAG', 'Log': 'BAG', 'Path': 'FILE'}
LISTS = {'Logs', 'Iterable', 'Sequence'}
_PUBLIC = dynid_ros._MODULES


class Described(NamedTuple):
    """An argument by the signature and the docstring of its function."""

    #: Names in the annotation with their modules, and texts in it, of which the argument is one.
    types: dict[str, str]
    choices: list[str]
    required: bool
    default: Any
    about: str


def add_described(parser: argparse._ActionsContainer, function: str, words: Words) -> None:
    """
    Add arguments of a function as its signature and its docstring describe them.

    Parameters
    ----------
    parser : ArgumentParser or group
        Takes the arguments; `given` returns them for the call of the function.
    function : str
        A public function, or another one by its dotted place in the package.
    words : mapping of str to str
        Each argument as it is written: the option, or none of a positional one, and what stands
        for its values, such as ``--flange X Y Z R P Y``.

    """
    known, earlier = described(function), parser.get_default('words') or {}
    parser.set_defaults(words={**earlier, **words})
    lists = []
    for name, written in words.items():
        options = [word for word in written.split() if word[0] == '-']
        settings = _settings(known[name], written.split()[len(options):])
        settings['help'] = _help(known[name], words)
        added = parser.add_argument(*options, required=known[name].required, **settings) \
            if options else parser.add_argument(name, **settings)
        lists += [added] if 'Logs' in known[name].types else []
    if lists[1:] and isinstance(parser, argparse.ArgumentParser):
        # An option that stands before would take the first ones, too.
        (first, second), option = (each.metavar for each in lists), lists[1].option_strings[0]
        lists[1].help = f'{lists[1].help}; behind the other recordings'
        parser.usage = (f'%(prog)s {first} [{first} ...] [{option} {second} [{second} ...]] '
                        '[options]')


def given(args: argparse.Namespace, words: Words | None = None) -> dict[str, Any]:
    """Return described arguments, or some; where the user gave none, the default holds."""
    values = {name: getattr(args, _option(written)[2:].replace('-', '_') or name)
              for name, written in (words or args.words).items()}
    return {name: value for name, value in values.items() if value is not None}


def _option(written: str) -> str:
    """Find the long option, or nothing of a positional argument."""
    return next((word for word in written.split() if word.startswith('--')), '')


def _settings(known: Described, stands: list[str]) -> dict[str, Any]:
    """Translate a description for argparse."""
    if 'bool' in known.types:
        return {'action': 'store_true'}
    settings: dict[str, Any] = {}
    stands = stands or [NAMES[each] for each in NAMES if each in known.types][:1]
    if known.types.keys() & LISTS:
        settings['nargs'] = len(stands) if stands[1:] else '+'
        settings['action'] = 'extend' if 'Logs' in known.types else 'store'
    elif stands and stands[0][0] == '[':
        settings['nargs'], stands = '?', [stands[0].strip('[]')]
    if known.choices:
        settings['choices'] = known.choices
    else:
        settings['type'] = _type(known)
    return settings | {
        'default': [*known.default] if isinstance(known.default, tuple) else known.default,
        'metavar': tuple(stands) if stands[1:] else stands[0] if stands else None}


def _type(known: Described) -> Callable[[str], Any]:
    if 'Arm' in known.types or not known.types.keys() & NAMES.keys():
        ranges = known.types.keys() - {*NAMES, *LISTS, 'str', 'Friction'}
        return next((number(each, known.types[each]) for each in ranges), str)
    return Path


def number(kind: str, module: str = 'dynid_ros.utilities.inputs') -> Callable[[str], float]:
    """Make a parser of the numbers of an annotated type, which is imported when it is needed."""
    def parse(text: str) -> float:
        own = getattr(import_module(module), kind).__metadata__[0]
        try:
            value: float = own.read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return value

    return parse


def _help(known: Described, words: Words) -> str:
    """Make one line of a meaning, with options for the names of arguments."""
    about = known.about.removesuffix('.').replace('``', '')
    about = re.sub(r'`(\w+)`', lambda found: _option(words.get(found[1], '')) or found[1], about)
    if re.match(r'[A-Z][a-z]*\b', about):
        about = about[:1].lower() + about[1:]
    taken = [f'a shipped one: {", ".join(shipped_arms())}',
             'path of an arm.yaml, of its folder, or of a URDF'] if 'Arm' in known.types else []
    taken += ['folder of dynid identify'] if 'Model' in known.types else []
    about += f' ({"; ".join(taken)})' if taken else ''
    if known.default not in (None, ()) and 'bool' not in known.types:
        plain = isinstance(known.default, float)
        about += f' (default: {known.default:g})' if plain else f' (default: {known.default})'
    return about.replace('%', '%%')


@cache
def described(function: str) -> dict[str, Described]:
    """Read the arguments of a function."""
    place = f'{_PUBLIC[function]}.{function}' if function in _PUBLIC else function
    module, _, name = place.rpartition('.')
    source = Path(dynid_ros.__file__).parent.joinpath(*module.split('.')).with_suffix('.py')
    body = ast.parse(source.read_text(encoding='utf-8')).body
    made = next(node for node in body if isinstance(node, ast.FunctionDef) and node.name == name)
    imported = {alias.name: str(node.module) for node in body if isinstance(node, ast.ImportFrom)
                for alias in node.names}
    meanings = _meanings(ast.get_docstring(made) or '')
    plain, defaults = made.args.args, made.args.defaults
    # Only the last ones of those that may be given by position have a default.
    pairs = [*zip(reversed(plain), [*reversed(defaults), *[None] * len(plain)], strict=False),
             *zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True)]
    return {each.arg: _described(imported, each, default, meanings[each.arg])
            for each, default in pairs if each.arg in meanings}


def _described(
    imported: Mapping[str, str], argument: ast.arg, default: ast.expr | None, about: str,
) -> Described:
    nodes = [] if argument.annotation is None else [*ast.walk(argument.annotation)]
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    same = re.match(r'As for `(\w+)`\.', about)
    meant = described(same[1])[argument.arg].about if same and same[1] in _PUBLIC else about
    value = None
    # Such as np.inf, which `given` leaves to the function.
    with suppress(ValueError):
        value = None if default is None else ast.literal_eval(default)
    return Described(
        {node.id: imported.get(node.id, '') for node in nodes if isinstance(node, ast.Name)},
        [each for each in constants if isinstance(each, str)],
        default is None and None not in constants, value, meant)


def _meanings(docstring: str) -> dict[str, str]:
    """Find what a docstring says of each argument."""
    section = re.search(r'^Parameters\n-+\n(.*?)(\n\n\S.*\n-+\n|\Z)', docstring, re.M | re.S)
    found = re.findall(r'^(\S[^:\n]*?)(?: : .*)?\n((?: +.*(?:\n|\Z))+)',
                       section[1] if section else '', re.M)
    return {name: ' '.join(about.split()) for names, about in found for name in names.split(', ')}
