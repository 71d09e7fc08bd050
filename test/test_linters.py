# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
No linter finds anything, offline; those of ROS 2 have tests of their own.

Each must find a planted flaw, too, since a linter that reads no file is content.
"""

from importlib.util import find_spec
import os
from pathlib import Path
import runpy
import shutil
import subprocess
import sys

import pytest
from sources import ROOT, sources


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


@pytest.mark.linter
def test_every_mutant_finds_the_rule_that_it_changes():
    """Rules are rewritten, and a mutant whose text is gone kills nothing."""
    script = runpy.run_path(str(ROOT / 'benchmarks' / 'mutants.py'), run_name='mutants')
    assert script['MUTANTS']
    assert [each.name for each in script['MUTANTS'] if script['stale'](each)] == []


@pytest.mark.linter
def test_codespell_knows_every_word(tmp_path):
    kinds = ('*.py', '*.md', '*.rst', '*.yaml', '*.yml', '*.cff', '*.xml', '*.html', '*.toml')
    files = [str(path) for kind in kinds for path in sources(kind)]
    assert len(files) > 500
    assert report_of('codespell_lib', *files) == (0, [])
    (tmp_path / 'a.md').write_text('Recieve it.\n')  # codespell:ignore recieve
    assert report_of('codespell_lib', str(tmp_path / 'a.md'))[0] == 65


@pytest.mark.linter
def test_yamllint_finds_nothing(tmp_path):
    # Relative to where .yamllint is, which leaves some out.
    files = [str(path.relative_to(ROOT)) for kind in ('*.yaml', '*.yml', '*.cff')
             for path in sources(kind)]
    assert {'ci.yml', '.pre-commit-config.yaml', '.readthedocs.yaml', 'CITATION.cff'} <= {
        Path(name).name for name in files}
    assert report_of('yamllint', '--strict', *files) == (0, [])
    (tmp_path / 'a.yaml').write_text('a: 1\na: 2\n')
    assert report_of('yamllint', str(tmp_path / 'a.yaml'))[0] == 1


@pytest.mark.linter
@pytest.mark.parametrize(('schema', 'name', 'fault'), [
    ('github-workflows', '.github/workflows/ci.yml', ('runs-on:', 'run-on:')),
    ('readthedocs', '.readthedocs.yaml', ('version: 2', 'version: two')),
    ('citation-file-format', 'CITATION.cff', ('family-names: Swevers', 'family-name: Swevers')),
])
def test_files_for_others_have_the_form_that_they_read(schema, name, fault, tmp_path):
    # The schemas come with the linter.
    words = ('check_jsonschema', '--builtin-schema', f'vendor.{schema}')
    assert report_of(*words, str(ROOT / name))[0] == 0
    wrong = tmp_path / Path(name).name
    wrong.write_text((ROOT / name).read_text(encoding='utf-8').replace(*fault), encoding='utf-8')
    assert report_of(*words, str(wrong))[0] == 1


@pytest.mark.linter
def test_hadolint_finds_nothing_in_the_container_recipe(tmp_path):
    # Beside this Python, where no environment is activated.
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ['PATH']])
    hadolint = shutil.which('hadolint', path=places)
    if hadolint is None:
        pytest.skip('hadolint is not installed')

    def status(file):
        return subprocess.run([hadolint, file], check=False, stdout=subprocess.DEVNULL).returncode

    assert status(ROOT / 'Dockerfile') == 0
    recipe = (ROOT / 'Dockerfile').read_text()
    (tmp_path / 'Dockerfile').write_text(recipe.replace('WORKDIR /ws', 'WORKDIR ws'))
    assert status(tmp_path / 'Dockerfile') == 1


def test_no_page_holds_the_marks_of_a_merge():
    pages = [*ROOT.glob('*.rst'), *ROOT.glob('*.md'), *(ROOT / 'docs').glob('*.md')]
    assert len(pages) > 15
    for page in pages:
        assert not {'<<<<<<<', '>>>>>>>'} & {line[:7] for line in page.read_text().splitlines()}


def test_every_source_file_states_copyright_and_licence():
    # As REP-2004 asks of each quality level.
    line = '# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.'
    lacking = [str(path.relative_to(ROOT)) for path in sources('*.py')
               if line not in path.read_text(encoding='utf-8').splitlines()[:2]]
    assert lacking == [], f'begin these files with: {line}'
