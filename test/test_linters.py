"""Ruff and mypy find nothing; the linters of ROS 2 have tests of their own."""

from importlib.util import find_spec
import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.linter
@pytest.mark.parametrize('command', [
    pytest.param(('ruff', 'check', '.'), id='ruff'),
    pytest.param(('mypy',), id='mypy', marks=pytest.mark.slow),
])
def test_linter_finds_nothing(command):
    if find_spec(command[0]) is None:
        pytest.skip(f'{command[0]} is not installed')
    # Not by `rclpy`, for which the embedded layer stands in beside the tests of nodes.
    if os.environ.get('AMENT_PREFIX_PATH'):
        pytest.skip('with the packages of ROS 2, which are typed in part, mypy finds others')
    done = subprocess.run(
        [sys.executable, '-m', *command], cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.linter
@pytest.mark.slow
def test_benchmarks_call_what_there_is():
    """No test runs them, and a call that no longer fits would only be seen by who repeats them."""
    if find_spec('mypy') is None or os.environ.get('AMENT_PREFIX_PATH'):
        pytest.skip('mypy is not installed, or is beside the packages of ROS 2')
    scripts = map(str, sorted((ROOT / 'benchmarks').glob('*.py')))
    done = subprocess.run(
        [sys.executable, '-m', 'mypy', '--ignore-missing-imports', *scripts],
        cwd=ROOT, text=True, capture_output=True, check=False)
    assert 'benchmarks' in done.stdout
    assert not [line for line in done.stdout.splitlines()
                if line.endswith(('[call-arg]', '[attr-defined]'))]


def test_no_page_holds_the_marks_of_a_merge():
    pages = [*ROOT.glob('*.rst'), *ROOT.glob('*.md'), *(ROOT / 'docs').glob('*.md')]
    assert len(pages) > 15
    for page in pages:
        assert not {'<<<<<<<', '>>>>>>>'} & {line[:7] for line in page.read_text().splitlines()}
