"""A run that collects fewer tests than it should fails, and no other run does."""

from importlib.util import find_spec
import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

HERE = Path(__file__).parent
#: What a file of tests holds: two tests, one, or none.
PAIR = """
import pytest

def test_1():
    pass

@pytest.mark.slow
def test_2():
    pass
"""
ONE = 'def test_1():\n    pass\n'
SKIPS = "import pytest\npytest.skip('no', allow_module_level=True)\n"
#: What launch_testing's plugin does: it imports a module while its folder is listed.
PLUGIN = """
import pytest

def pytest_pycollect_makemodule(module_path, parent):
    exec(module_path.read_text(), {})
"""


class Tree:
    """A small copy of the tree: two folders, with two files of two tests each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write('pyproject.toml', "[tool.pytest.ini_options]\ntestpaths = ['test']\n"
                                     "pythonpath = ['test']\nmarkers = ['slow']\n")
        self.write('test/least_tests.yaml', 'arm: 4\ncli: 4\n')
        for name in ('conftest.py', 'whole_tree.py'):
            shutil.copy(HERE / name, folder / 'test')
        for name in ('arm/test_a', 'arm/test_b', 'cli/test_c', 'cli/test_d'):
            self.write(f'test/{name}.py', PAIR)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, *words: str) -> tuple[int, str]:
        """Return the exit status of pytest, and what it prints."""
        # What is set for the pytest that runs this must not reach the other.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith('PYTEST_')}
        done = subprocess.run(
            [sys.executable, '-m', 'pytest', *words], cwd=self.folder, text=True,
            capture_output=True, check=False,
            env={**environment, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1', 'PYTHONPATH':
                 os.pathsep.join([str(HERE.parent), environment.get('PYTHONPATH', '')])})
        assert not done.stderr
        return done.returncode, done.stdout


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_whole_tree_passes(tree):
    status, printed = tree.run()
    assert status == 0, printed
    assert '8 passed in' in printed


def test_file_that_skips_while_it_is_imported_is_named(tree):
    tree.write('test/arm/test_b.py', SKIPS)
    for words in ((), ('test/arm',), ('test/arm/test_a.py', 'test/arm/test_b.py')):
        status, printed = tree.run(*words)
        assert status == 1, printed
        assert 'test/arm/test_b.py: no test was collected; does the file skip' in printed
        assert ' 1 failed, ' in printed


def test_run_that_a_plugin_ends_while_it_collects_fails(tree):
    tree.write('test/arm/test_b.py', SKIPS)
    tree.write('conftest.py', PLUGIN)
    status, printed = tree.run()
    assert status == 1, printed
    if pytest.version_tuple < (8,):
        assert 'no test was collected: a file that skips while it is imported, or a' in printed
    else:
        # Since pytest 8 a skip ends the folder that is listed, not the whole run.
        assert 'test/arm/test_a.py: no test was collected' in printed
        assert 'test/arm/test_b.py: no test was collected' in printed


def test_folder_with_fewer_tests_than_before_is_named(tree):
    tree.write('test/arm/test_b.py', ONE)
    status, printed = tree.run()
    assert status == 1, printed
    assert ('test/arm: 3 tests were collected, at least 4 are expected; if the others went on '
            'purpose, say so in test/least_tests.yaml') in printed


def test_folder_that_is_gone_and_one_that_is_not_known_are_named(tree):
    (tree.folder / 'test' / 'cli').rename(tree.folder / 'test' / 'commands')
    status, printed = tree.run()
    assert status == 1, printed
    assert 'test/cli: 0 tests were collected, at least 4' in printed
    assert 'least_tests.yaml does not say how many tests commands has at least: now 4' in printed


@pytest.mark.parametrize(('words', 'held', 'passed'), [
    ('test/cli', SKIPS, 4),
    ('test/arm/test_a.py', SKIPS, 2),
    ('test/arm/test_a.py::test_1', SKIPS, 1),
    ('-k test_1', ONE, 4),
    ('-m slow', ONE, 3),
    ('--deselect=test/arm', PAIR, 4),
    ('--ignore=test/arm', SKIPS, 4),
    ('--ignore=test/arm/test_b.py', SKIPS, 6),
    ('--ignore-glob=*_b.py', SKIPS, 6),
])
def test_run_of_a_part_that_is_whole_passes(tree, words, held, passed):
    tree.write('test/arm/test_b.py', held)
    status, printed = tree.run(*words.split())
    assert status == 0, printed
    assert f' {passed} passed' in printed


def test_run_of_what_failed_last_passes(tree):
    tree.write('test/arm/test_a.py', PAIR.replace('pass', 'assert False', 1))
    assert tree.run()[0] == 1
    tree.write('test/arm/test_a.py', PAIR)
    status, printed = tree.run('--lf')
    assert status == 0, printed
    assert '1 passed' in printed


@pytest.mark.slow
@pytest.mark.skipif(find_spec('xdist') is None, reason='xdist is not installed')
def test_run_in_several_processes_is_counted_once(tree):
    status, printed = tree.run('-p', 'xdist', '-n', '2')
    assert status == 0, printed
    assert '8 passed in' in printed
    tree.write('test/arm/test_b.py', SKIPS)
    status, printed = tree.run('-p', 'xdist', '-n', '2')
    assert status == 1, printed
    assert '1 failed, 6 passed' in printed
    assert 'test/arm/test_b.py: no test was collected' in printed


def test_every_file_of_tests_has_a_name_of_its_own():
    """launch_testing's plugin imports all of them as modules without a package."""
    names = [path.name for path in HERE.rglob('test_*.py')]
    assert sorted(names) == sorted(set(names))
