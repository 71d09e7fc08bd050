# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Whatever a release consists of: one package, one version, its changelog and its contacts."""

import re
import shutil
import subprocess
import sys
import tarfile
from xml.etree import ElementTree
import zipfile

import pytest
from sources import ROOT, sources

import dynid_ros
from dynid_ros.interface.cli.main import main

MANIFEST = ElementTree.parse(ROOT / 'package.xml').getroot()
VERSION = MANIFEST.findtext('version')
#: Beside the code, in an archive of the sources.
BESIDE = {
    'CHANGELOG.rst', 'CITATION.cff', 'LICENSE', 'MANIFEST.in', 'PKG-INFO', 'README.md',
    'package.xml', 'pyproject.toml', 'resource/dynid_ros', 'setup.cfg', 'setup.py'}


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


@pytest.mark.filterwarnings('ignore:nodes.Node.traverse:DeprecationWarning')
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


def names_below(*folders, without=()):
    """Names of files, from the top, that belong into an archive."""
    return {path.relative_to(ROOT).as_posix() for folder in folders for path in sources('*')
            if path.is_relative_to(ROOT / folder)} - set(without)


@pytest.fixture(scope='module')
def archives(tmp_path_factory):
    """Sdist, and wheel that is built from it, of a copy with stray files."""
    for needed in ('build', 'wheel'):
        pytest.importorskip(needed, reason=f'{needed} is not installed')
    folder = tmp_path_factory.mktemp('release')
    copy = folder / 'copy'
    wanted = names_below('dynid_ros', 'config', 'launch', 'resource', 'test') | BESIDE
    for name in sorted(wanted - {'PKG-INFO'}):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    for stray in ('notes.txt', 'launch/__pycache__/arm.launch.cpython-311.pyc',
                  'dynid_ros/arm/scratch.npz', 'build/old.py', 'demo/result.yaml'):
        (copy / stray).parent.mkdir(parents=True, exist_ok=True)
        (copy / stray).touch()
    subprocess.run(
        [sys.executable, '-m', 'build', '--no-isolation', '--skip-dependency-check', '-o',
         folder, copy], check=True, stdout=subprocess.DEVNULL)
    (sdist,), (wheel,) = folder.glob('*.tar.gz'), folder.glob('*.whl')
    assert (sdist.name, wheel.name) == (
        f'dynid_ros-{VERSION}.tar.gz', f'dynid_ros-{VERSION}-py3-none-any.whl')
    with tarfile.open(sdist) as tar, zipfile.ZipFile(wheel) as zipped:
        names = [member.name.partition('/')[2] for member in tar if member.isfile()]
        return names, zipped.namelist(), zipped.read(
            f'dynid_ros-{VERSION}.dist-info/METADATA').decode()


def test_the_sdist_has_the_sources_and_nothing_else(archives):
    names = {name for name in archives[0] if not name.startswith('dynid_ros.egg-info/')}
    assert names == names_below('dynid_ros', 'config', 'launch') | BESIDE


def test_the_wheel_has_the_package_and_its_share_and_nothing_else(archives):
    _, names, metadata = archives
    data = f'dynid_ros-{VERSION}.data/data/share'
    share = {f'{data}/dynid_ros/{name}' for name in names_below('config', 'launch')}
    assert {name for name in names if '.dist-info/' not in name} == {
        *names_below('dynid_ros'), *share, f'{data}/dynid_ros/package.xml',
        f'{data}/ament_index/resource_index/packages/dynid_ros'}
    told = dict(re.findall(r'^([\w-]+): (.*)$', metadata.partition('\n\n')[0], re.MULTILINE))
    assert told['Version'] == VERSION and told['License'] == MANIFEST.findtext('license')
    assert MANIFEST.find('maintainer').get('email') in told['Maintainer-email']
    assert MANIFEST.findtext('url[@type="repository"]') in metadata
