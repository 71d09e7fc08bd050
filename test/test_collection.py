# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A complete run fails if a file of tests yields none, and a run of a part does not."""

import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

HERE = Path(__file__).parent
PASSES = 'def test_1():\n    pass\n'
SKIPS = "import pytest\npytest.skip('no', allow_module_level=True)\n"
#: launch_testing's plugin imports a module while pytest lists its folder.
PLUGIN = """
import pytest

def pytest_pycollect_makemodule(module_path, parent):
    exec(module_path.read_text(), {})
"""


@pytest.fixture
def tree(tmp_path):
    """Make a small tree with this conftest.py and two files, one of which skips at import."""
    (tmp_path / 'test').mkdir()
    for name in ('conftest.py', 'left_behind.py'):
        shutil.copy(HERE / name, tmp_path / 'test')
    (tmp_path / 'pyproject.toml').write_text(
        "[tool.pytest.ini_options]\ntestpaths = ['test']\npythonpath = ['test']\n")
    (tmp_path / 'test' / 'test_a.py').write_text(PASSES)
    (tmp_path / 'test' / 'test_b.py').write_text(SKIPS)
    return tmp_path


def run(tree, *arguments):
    """Return the exit status of pytest, and what it prints."""
    # Settings for the pytest that runs this test must not reach the other one.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith('PYTEST_')}
    path = os.pathsep.join([str(HERE.parent), environment.get('PYTHONPATH', '')])
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', *arguments], cwd=tree, text=True, capture_output=True,
        check=False, env={**environment, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
                          'PYTHONPATH': path})
    return done.returncode, done.stdout


def test_file_without_a_test_fails_a_complete_run(tree):
    status, printed = run(tree)
    assert status == 1, printed
    assert 'no test was collected from test_b.py' in printed
    assert '1 failed, 1 passed' in printed
    (tree / 'test' / 'test_b.py').write_text(PASSES)
    assert run(tree)[0] == 0


def test_plugin_that_ends_the_collection_fails_a_complete_run(tree):
    (tree / 'conftest.py').write_text(PLUGIN)
    status, printed = run(tree)
    assert status == 1, printed
    assert 'test_b.py; a file that skips at import' in printed


@pytest.mark.parametrize('arguments', [
    ['test/test_a.py'], ['test/test_a.py::test_1'], ['--ignore=test/test_b.py'],
])
def test_run_of_a_part_passes(tree, arguments):
    status, printed = run(tree, *arguments)
    assert status == 0, printed


def test_every_file_of_tests_has_a_name_of_its_own():
    """launch_testing's plugin imports all of them as modules without a package."""
    names = [path.name for path in HERE.rglob('test_*.py')]
    assert sorted(names) == sorted(set(names))
