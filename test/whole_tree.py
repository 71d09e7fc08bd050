"""
A run that collects fewer tests than it should fails, instead of passing with what is left.

A module that skips while it is imported, or a plugin that ends the collection, leaves a run that
is green and tests little. Such a run gets one test more, which fails and says what is missing: as
a test it is in every report, and counts once wherever a run is divided among processes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).resolve().parent
#: Fewest tests of each folder.
LEAST = FOLDER / 'least_tests.yaml'


class Incomplete(pytest.Item):
    """The test that fails."""

    def __init__(self, *, lost: list[str], **options: object) -> None:
        super().__init__(**options)
        self._lost = lost

    def runtest(self) -> None:
        """Say what is missing."""
        pytest.fail('\n'.join(self._lost), pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return what a report says instead of a line of a file."""
        return FOLDER, None, self.name


def check(session: pytest.Session, items: list[pytest.Item], left_out: Collection[Path]) -> None:
    """
    Add a test that fails if tests are missing.

    Parameters
    ----------
    session : pytest.Session
        The run.
    items : list of pytest.Item
        All tests that were collected, before any are deselected.
    left_out : collection of Path
        Test files that need what is not there; the run names them.

    """
    if lost := list(_lost(session.config, items, left_out)):
        items.insert(0, Incomplete.from_parent(
            session, name='all_tests_are_collected', nodeid='test::all_tests_are_collected',
            lost=lost))


def _lost(
    config: pytest.Config, items: list[pytest.Item], left_out: Collection[Path],
) -> Iterator[str]:
    """Say of each file and folder that was asked for what is missing."""
    if config.getoption('lf', False) or config.getoption('ignore_glob'):
        # Files are left out one by one: those that passed, or those that fit a pattern.
        return
    asked = _asked_for(config)
    counts: Counter[Path] = Counter()
    for path, count in Counter(item.path for item in items).items():
        counts[path.resolve()] += count
    folders: dict[str, list[Path]] = {name: [] for name in yaml.safe_load(LEAST.read_text())}
    for path in sorted(FOLDER.rglob('test_*.py')):
        # '.' for what is in none.
        folders.setdefault(path.relative_to(FOLDER).parent.as_posix(), []).append(path)
        if not asked(path) or path in left_out or counts[path]:
            continue
        if not items:
            yield ('no test was collected: a file that skips while it is imported, or a plugin, '
                   'has ended the collection')
            return
        yield f'{_said(path)}: no test was collected; does the file skip while it is imported?'
    for name, paths in folders.items():
        if asked(FOLDER / name) and all(asked(path) and path not in left_out for path in paths):
            yield from _too_few(name, sum(counts[path] for path in paths))


def _asked_for(config: pytest.Config) -> Callable[[Path], bool]:
    """Return what says whether the command line asks for all tests of a file or folder."""
    here = config.invocation_params.dir
    named = [(here / word).resolve() for word in config.args if '::' not in word]
    ignored = [(here / word).resolve() for word in config.getoption('ignore') or ()]
    return lambda path: (any(path.is_relative_to(each) for each in named)
                         and not any(path.is_relative_to(each) for each in ignored))


def _too_few(name: str, count: int) -> Iterator[str]:
    """Compare the number of tests of a folder with the least."""
    least = yaml.safe_load(LEAST.read_text()).get(name)
    if least is None:
        yield f'{_said(LEAST)} does not say how many tests {name} has at least: now {count}'
    elif count < least:
        yield (f'{_said(FOLDER / name)}: {count} tests were collected, at least {least} are '
               f'expected; if the others went on purpose, say so in {_said(LEAST)}')


def _said(path: Path) -> str:
    return str(path.relative_to(FOLDER.parent))
