"""Whatever a release consists of: one package, one version, its changelog and its contacts."""

from pathlib import Path
import re
import shutil
from xml.etree import ElementTree

import pytest

import dynid_ros
from dynid_ros.interface.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ElementTree.parse(ROOT / 'package.xml').getroot()
VERSION = MANIFEST.findtext('version')
#: What `make`, colcon and pip write beside the sources.
MADE = {'build', 'install', 'log', 'dist', 'demo'}


def sources(pattern):
    """Files of the project, of a checkout or of a copy without Git."""
    for path in sorted(ROOT.rglob(pattern)):
        parts = path.relative_to(ROOT).parts
        if parts[0] not in MADE and not any(
                (part.startswith('.') and part != '.github') or part == '__pycache__'
                for part in parts[:-1]):
            yield path


def catkin(module):
    """Return a module of what bloom reads packages with."""
    return pytest.importorskip(f'catkin_pkg.{module}', reason='catkin_pkg is not installed')


def test_the_tools_of_ros_find_all_packages_that_there_are():
    # Like colcon, they look for none below one.
    found = catkin('packages').find_packages(str(ROOT))
    assert {name: package.name for name, package in found.items()} == {'.': 'dynid_ros'}
    assert [path.relative_to(ROOT).as_posix() for path in sources('package.xml')] == [
        'package.xml']


def test_there_is_one_version(tmp_path, capsys):
    assert dynid_ros.__version__ == VERSION
    with pytest.raises(SystemExit):
        main(['--version'])
    assert capsys.readouterr().out == f'dynid {VERSION}\n'
    # The tool that makes a release sets all places there are.
    for name in ('package.xml', 'setup.py'):
        assert VERSION in (ROOT / name).read_text()
        shutil.copy(ROOT / name, tmp_path)
    catkin('package_version').update_versions(
        {str(tmp_path): catkin('package').parse_package(str(tmp_path))}, '7.8.9')
    for name in ('package.xml', 'setup.py'):
        assert VERSION not in (tmp_path / name).read_text()
        assert '7.8.9' in (tmp_path / name).read_text()


def test_the_changelog_has_the_form_that_bloom_reads():
    reader = catkin('changelog')
    from docutils.core import publish_doctree

    text = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    # At this level docutils raises for each flaw of the markup.
    publish_doctree(text, settings_overrides={'halt_level': 1, 'report_level': 5})
    titles = re.findall(r'^(.+)\n-{3,}$', text, re.MULTILINE)
    changelog = reader.get_changelog_from_path(str(ROOT), 'dynid_ros')
    versions = [version for version, _, _ in changelog.foreach_version(reverse=True)]
    # bloom takes no notice of a title in another form.
    assert [title.partition(' ')[0] for title in titles if title != 'Forthcoming'] == versions
    assert versions[0] == VERSION and 'Forthcoming' not in titles[1:]
    for _, _, content in changelog.foreach_version():
        assert content and all(isinstance(each, reader.BulletList) for each in content)


def test_the_package_has_one_contact_and_one_address():
    owner = MANIFEST.findtext('url[@type="repository"]').removesuffix('/dynid_ros')
    domain = MANIFEST.find('maintainer').get('email').partition('@')[2]
    assert not re.search(r'example|invalid|localhost|noreply', domain)
    assert {each.get('type') for each in MANIFEST.iter('url')} == {
        'website', 'repository', 'bugtracker'}
    name, site = domain.partition('.')[0], MANIFEST.findtext('url[@type="website"]')
    for path in [*sources('*.md'), *sources('*.rst'), *sources('*.cff'), *sources('*.y*ml')]:
        text = path.read_text(encoding='utf-8')
        for address in re.findall(rf'[\w.+-]+@{name}\.\w+', text):
            assert address == MANIFEST.find('maintainer').get('email'), path
        for address in re.findall(rf'https://(?:github\.com/|){name}[\w./-]*', text):
            assert address.startswith((owner + '/dynid_ros', site)), (path, address)
