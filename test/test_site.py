# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The site of docs/ is built without a warning, and the notebooks run."""

import asyncio
from functools import cache
from html.parser import HTMLParser
import os
from pathlib import Path
import re
import runpy
import shutil
import subprocess
import sys

from matplotlib import pyplot
import pytest
from short_pages import shorten

import dynid_ros as dyn
from dynid_ros.interface.cli.main import build_parser, COMMANDS

ROOT = Path(__file__).resolve().parents[1]
#: First cell of a notebook, in a kernel that others have used.
FIRST = """
%reset -f
%cd -q {folder}
from short_pages import shorten
shorten(period=7.0)
"""


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    for needed in ('furo', 'myst_parser', 'sphinx', 'sphinx_gallery'):
        pytest.importorskip(needed, reason=f'{needed} is not installed')
    folder = tmp_path_factory.mktemp('site')
    for name in ('docs', 'examples', 'config'):
        shutil.copytree(ROOT / name, folder / name)
    # The scripts of the gallery have tests of their own.
    done = subprocess.run(
        [sys.executable, '-m', 'sphinx', '-q', '-W', '--keep-going', '-D', 'plot_gallery=0',
         folder / 'docs', folder / 'html'],
        cwd=ROOT, capture_output=True, text=True, check=False, env=_environment())
    assert done.returncode == 0, done.stderr
    return folder / 'html'


def _environment():
    path = os.pathsep.join(filter(None, [
        str(ROOT), str(ROOT / 'test'), os.environ.get('PYTHONPATH')]))
    return {**os.environ, 'PYTHONPATH': path}


PAGES = sorted([*(ROOT / 'docs').glob('*.md'), ROOT / 'README.md', ROOT / 'CONTRIBUTING.md'])


def prose(page):
    """Return a page without code."""
    text = re.sub(r'^```.*?^```', '', page.read_text(encoding='utf-8'), flags=re.S | re.M)
    return re.sub(r'`[^`\n]*`', '`', text)


def anchors(page):
    """Return the anchors of the headings, as GitHub makes them."""
    headings = re.findall(r'^#+ (.*)$', page.read_text(encoding='utf-8'), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading)).strip()
            .lower().replace(' ', '-') for heading in headings}


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_links_work_in_a_checkout(page):
    for target, anchor in re.findall(r'\]\(([^)#\s]*)(?:#([^)\s]*))?\)', prose(page)):
        if re.match(r'\w+:', target):
            continue
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor and file.suffix == '.md':
            assert anchor in anchors(file), f'{target}#{anchor}'


def test_the_site_leads_to_its_own_pages():
    pytest.importorskip('sphinx', reason='sphinx is not installed')
    links = runpy.run_path(str(ROOT / 'docs' / 'generated_pages.py'))['link_pages']
    made = set()
    for page in PAGES:
        source = [page.read_text(encoding='utf-8')]
        links(None, page.stem, source)
        made |= set(re.findall(r'\]\((gallery/\w+\.rst|api\.rst|commands\.md)\)', source[0]))
        assert not re.search(r'\]\(\.\./(dynid_ros|examples/gallery)', source[0])
    assert {'api.rst', 'commands.md', 'gallery/index.rst', 'gallery/plot_geometry.rst'} <= made


class Texts(HTMLParser):
    """All words of a page."""

    def __init__(self, page):
        super().__init__()
        self.words = []
        self.feed(page.read_text(encoding='utf-8'))

    def handle_data(self, data):
        self.words += data.split()


@pytest.mark.slow
def test_site_holds_every_command_with_its_arguments(site):
    parsers = next(action for action in build_parser()._actions if action.dest == 'command')
    for name in COMMANDS:
        words = set(Texts(site / 'commands' / f'{name}.html').words)
        options = parsers.choices[name]._option_string_actions
        assert {option for option in options if option.startswith('--')} <= words, name


@pytest.mark.slow
def test_site_holds_every_public_name(site):
    for name in dyn.__all__:
        assert (site / 'api' / f'dynid_ros.{name}.html').is_file()
    assert 'identify' in (site / 'searchindex.js').read_text(encoding='utf-8')


@pytest.fixture(scope='module')
def once():
    """
    Functions for all examples together, which begin with the same recordings and models.

    What an example has simulated or identified is given to the next one that asks for the same.
    """
    load, simulate, identify = cache(dyn.load_arm), dyn.simulate, dyn.identify
    recorded, identified = cache(simulate), cache(identify)

    def arm_of(arm):
        return load(arm) if isinstance(arm, str) else arm

    # Arms, motions and recordings are equal to themselves alone.
    return {'load_arm': load,
            'simulate': lambda arm, *motion, **seed: recorded(arm_of(arm), *motion, **seed),
            'identify': lambda arm, *logs, **friction: (
                identified if isinstance(logs[0], dyn.Recording) else identify)(
                    arm_of(arm), *logs, **friction)}


@pytest.mark.slow
@pytest.mark.parametrize('script', sorted((ROOT / 'examples' / 'gallery').glob('*.py')),
                         ids=lambda path: path.stem)
@pytest.mark.filterwarnings('error::UserWarning')
def test_example_of_the_gallery_runs(script, once, tmp_path, monkeypatch):
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    monkeypatch.chdir(tmp_path)
    shorten(monkeypatch.setattr)
    for name, function in once.items():
        monkeypatch.setattr(dyn, name, function)
    with pyplot.rc_context({'backend': 'agg'}):
        runpy.run_path(str(script), run_name='__main__')
        pyplot.close('all')


@pytest.fixture(scope='module')
def kernel():
    """One process for all notebooks, which takes longer to start than most cells to run."""
    for needed in ('ipykernel', 'mujoco', 'nbclient', 'pandas'):
        pytest.importorskip(needed, reason=f'{needed} is not installed')
    from jupyter_client.manager import AsyncKernelManager

    manager = AsyncKernelManager(kernel_name='python3')
    asyncio.run(manager.start_kernel(env=_environment()))
    yield manager
    asyncio.run(manager.shutdown_kernel(now=True))


@pytest.mark.slow
@pytest.mark.parametrize('path', sorted((ROOT / 'examples' / 'notebooks').glob('*.ipynb')),
                         ids=lambda path: path.stem)
def test_notebook_runs_and_is_kept_without_outputs(path, kernel, tmp_path):
    from nbclient import NotebookClient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == 'code']
    assert code
    assert not any(cell.outputs or cell.execution_count for cell in code)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(FIRST.format(folder=tmp_path)))
    NotebookClient(notebook, timeout=300, km=kernel).execute()
    # Of pyplot, or within the HTML of a picture of this package.
    assert 'image/png' in str([cell.outputs for cell in code])
