"""Ruff and mypy find nothing; the linters of ROS 2 have tests of their own."""

from importlib.util import find_spec
import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]


def report_of(linter, *arguments):
    """Return the exit status of a linter and the lines that it prints."""
    if find_spec(linter) is None:
        pytest.skip(f'{linter} is not installed')
    # Not by `rclpy`, for which the embedded layer stands in beside the tests of nodes.
    if os.environ.get('AMENT_PREFIX_PATH'):
        pytest.skip('with the packages of ROS 2, which are typed in part, mypy finds others')
    done = subprocess.run(
        [sys.executable, '-m', linter, *arguments], cwd=ROOT, text=True, capture_output=True,
        check=False)
    return done.returncode, done.stdout.splitlines()


@pytest.fixture(scope='module')
def typed():
    """Lines of mypy about package and benchmarks, which one run checks in half of the time."""
    scripts = map(str, sorted((ROOT / 'benchmarks').glob('*.py')))
    return report_of('mypy', 'dynid_ros', *scripts)[1]


@pytest.mark.linter
def test_ruff_finds_nothing():
    status, lines = report_of('ruff', 'check', '.')
    assert status == 0, lines


@pytest.mark.linter
@pytest.mark.slow
def test_mypy_finds_nothing_in_the_package(typed):
    # The last line counts the checked files.
    assert 'source files' in typed[-1]
    assert not [line for line in typed if line.startswith('dynid_ros')]


@pytest.mark.linter
@pytest.mark.slow
def test_benchmarks_call_what_there_is(typed):
    """No test runs them, and a call that no longer fits would only be seen by who repeats them."""
    assert any(line.startswith('benchmarks') for line in typed)
    assert not [line for line in typed if line.endswith(('[call-arg]', '[attr-defined]'))]


def test_no_page_holds_the_marks_of_a_merge():
    pages = [*ROOT.glob('*.rst'), *ROOT.glob('*.md'), *(ROOT / 'docs').glob('*.md')]
    assert len(pages) > 15
    for page in pages:
        assert not {'<<<<<<<', '>>>>>>>'} & {line[:7] for line in page.read_text().splitlines()}
