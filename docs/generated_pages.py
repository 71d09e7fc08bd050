# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Pages of the commands and of the Python names, written from the code before each build."""

from argparse import Action, ArgumentParser, SUPPRESS
from collections.abc import Iterator
import inspect
from pathlib import Path
import re

from sphinx.application import Sphinx

import dynid_ros
from dynid_ros.interface.cli.main import build_parser, COMMANDS

#: The guide to each command.
GUIDES = {
    'demo': 'without_ros', 'init': 'start', 'design': 'design_excitation',
    'simulate': 'simulated_arm', 'check': 'logs', 'convert': 'logs', 'identify': 'read_the_result',
    'gains': 'drive_gains', 'fleet': 'fleets', 'replay': 'live_estimates',
    'validate': 'bandwidth', 'payload': 'payload', 'sensor': 'wrist_sensor',
    'monitor': 'monitor',
    'report': 'read_the_result', 'view': 'see_the_motion', 'export': 'use_the_model',
    'feedforward': 'feedforward', 'external-force': 'pose_errors', 'pose-error': 'pose_errors',
    'run': 'nodes', 'watch': 'watch_live',
    'doctor': 'start'}
#: Files that pages link to, since a checkout has them, and the pages that the site makes of them.
MADE_OF = {
    r'\.\./examples/gallery/README\.rst': 'gallery/index.rst',
    r'\.\./examples/gallery/(\w+)\.py': r'gallery/\1.rst',
    r'\.\./dynid_ros/interface/cli/main\.py': 'commands.md',
    r'\.\./dynid_ros/__init__\.py': 'api.rst',
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect with Sphinx."""
    app.connect('source-read', link_pages)
    app.connect('builder-inited', write_commands)
    app.connect('builder-inited', write_api)
    return {'parallel_read_safe': True}


def link_pages(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Let links to files lead to the pages that the site makes of them."""
    for file, page in MADE_OF.items():
        source[0] = re.sub(rf'\]\({file}\)', f']({page})', source[0])


def write_commands(app: Sphinx) -> None:
    """Write ``commands.md`` and a page for each command."""
    top = build_parser()
    choices = next(action for action in top._actions if action.dest == 'command')
    parsers: dict[str, ArgumentParser] = choices.choices
    titles = {choice.dest: str(choice.help) for choice in choices._choices_actions}
    folder = Path(app.srcdir) / 'commands'
    folder.mkdir(exist_ok=True)
    for name in COMMANDS:
        (folder / f'{name}.md').write_text('\n'.join(_page(name, titles[name], parsers[name])))
    rows = [f'| [`dynid {name}`](commands/{name}.md) | {titles[name]} | '
            f'[guide]({GUIDES[name]}.md) |' for name in COMMANDS]
    (folder.parent / 'commands.md').write_text('\n'.join([
        '# Commands', '', f'{top.description} `dynid COMMAND --help` prints these pages.', '',
        '| command | purpose | |', '|---|---|---|', *rows, '', str(top.epilog), '',
        '```{toctree}', ':hidden:', '', *(f'commands/{name}' for name in COMMANDS), '```', '']))


def write_api(app: Sphinx) -> None:
    """Write ``api.rst``: the public names by kind."""
    kinds: dict[str, list[str]] = {'Functions': [], 'Classes': [], 'Errors': []}
    for name in dynid_ros.__all__:
        value = getattr(dynid_ros, name)
        if not inspect.isclass(value):
            kinds['Functions'].append(name)
        else:
            kinds['Errors' if issubclass(value, Exception) else 'Classes'].append(name)
    lines = ['Python', '======', '', '``import dynid_ros as dyn`` offers these names, which keep '
             'their meaning between versions. :doc:`python` shows them at work.', '']
    for kind, names in kinds.items():
        lines += [kind, '-' * len(kind), '', '.. autosummary::', '   :toctree: api', '']
        lines += [f'   dynid_ros.{name}' for name in names] + ['']
    (Path(app.srcdir) / 'api.rst').write_text('\n'.join([*lines, '']))


def _page(name: str, title: str, parser: ArgumentParser) -> Iterator[str]:
    yield from (f'# dynid {name}', '', f'{title[:1].upper()}{title[1:]}.', '')
    usage = parser.format_usage().removeprefix('usage: ')
    yield from ('```text', usage.rstrip(), '```', '', parser.description or '', '')
    for group in parser._action_groups:
        shown = [action for action in group._group_actions if action.help != SUPPRESS]
        if shown:
            heading = str(group.title).replace('positional arguments', 'arguments').capitalize()
            yield from (f'## {heading}', '', '| argument | meaning |', '|---|---|')
            yield from (f'| {_names(parser, action)} | {_help(parser, action)} |'
                        for action in shown)
            yield ''
    yield from (f'Guide: [](../{GUIDES[name]}.md)', '')


def _names(parser: ArgumentParser, action: Action) -> str:
    formatter = parser._get_formatter()
    return _cell(f'`{formatter._format_action_invocation(action)}`')


def _help(parser: ArgumentParser, action: Action) -> str:
    if action.help is None:
        return 'one or more' if action.nargs == '+' else 'see above'
    return _cell(parser._get_formatter()._expand_help(action))


def _cell(text: str) -> str:
    return ' '.join(text.split()).replace('|', r'\|').replace('*', r'\*').replace('<', '&lt;')
