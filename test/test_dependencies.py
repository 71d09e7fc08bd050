# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes and ``dynid identify`` work with what rosdep installs, and name what else is missing."""

from functools import cache
from importlib.metadata import distribution, PackageNotFoundError, packages_distributions
import json
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from dynid_ros.interface.cli.doctor import PACKAGES

ROOT = Path(__file__).resolve().parents[1]
EXCERPT = ROOT / 'test/excerpts/panda/excerpt.npz'
KEYS = {each.text for each in ElementTree.parse(ROOT / 'package.xml').iter('exec_depend')}
NODES = [path.stem for path in (ROOT / 'dynid_ros/ros/nodes').glob('*.py')
         if '\nmain = ' in path.read_text()]
#: Without ROS 2, these stand in for rclpy and the messages. The node `bag_recorder` is theirs.
STAND_IN = ('cyclonedds', 'rosbags')
IMPORT_NODES = """
import importlib, sys
from dynid_ros.ros.stand_in import step_in
step_in()
for node in sys.argv[1:]:
    assert importlib.import_module(f'dynid_ros.ros.nodes.{node}').main
"""

pytestmark = pytest.mark.skipif(
    bool(os.environ.get('AMENT_PREFIX_PATH')),
    reason='a workspace of ROS 2 has its packages in one place with all others')


def _with_requirements(names):
    """Return distributions with all that they require, without extras."""
    found, open_ = {}, list(names)
    while open_:
        name = re.sub('[-_.]+', '-', open_.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # For another version of Python.
            continue
        open_ += [re.match(r'[\w.-]+', line)[0] for line in found[name].requires or ()
                  if 'extra ==' not in line]
    return found.values()


@pytest.fixture(scope='module')
def packages(tmp_path_factory):
    """Return folders that hold only the packages of package.xml, and further ones."""
    provided = packages_distributions()
    wanted = {name for key in KEYS for name in provided.get(key.removeprefix('python3-'), ())}

    @cache
    def folder_with(*further):
        folder = tmp_path_factory.mktemp('packages')
        for each in _with_requirements({*wanted, *further}):
            for top in {file.parts[0] for file in each.files if file.parts[0] != '..'}:
                source = Path(each.locate_file(top))
                if source.exists() and not (folder / top).exists():
                    (folder / top).symlink_to(source)
        return folder

    return folder_with


@pytest.fixture
def environment(packages, tmp_path):
    """Run Python where only the packages of package.xml are installed, and further ones."""
    def run(*words, further=()):
        folder = packages(*further)
        # As the site does for files *.pth, by which Pinocchio is found.
        begin = f'import site; site.addsitedir({str(folder)!r}); import sys; '
        return subprocess.run(
            [sys.executable, '-S', '-c', f'{begin}{words[0]}', *words[1:]], cwd=tmp_path,
            env={**os.environ, 'PYTHONPATH': str(ROOT)},
            text=True, capture_output=True, check=False)

    return run


SETUP = """
import json, setuptools, sys
def show(extras_require, install_requires, **_):
    print(json.dumps([*extras_require['all'], *install_requires]))
setuptools.setup = show
exec(compile(sys.stdin.read(), 'setup.py', 'exec'), {'__file__': 'setup.py'})
"""
DYNID = 'from dynid_ros.interface.cli.main import main; raise SystemExit(main())'


@pytest.mark.slow
def test_identify_needs_the_packages_of_package_xml_alone(environment, tmp_path):
    shutil.copy(EXCERPT, tmp_path / 'log.npz')
    done = environment(DYNID, 'identify', 'log.npz', '--arm', 'panda', '-o', 'result')
    assert done.returncode in (0, 1), done.stderr
    assert 'Traceback' not in done.stderr
    assert (tmp_path / 'result').is_dir() and any((tmp_path / 'result').iterdir())


@pytest.mark.slow
def test_nodes_import_the_packages_of_package_xml_alone(environment):
    done = environment(IMPORT_NODES, *sorted(set(NODES) - {'bag_recorder'}), further=STAND_IN)
    assert done.returncode == 0, done.stderr
    assert len(NODES) > 6


def test_all_has_what_each_command_but_fleet_imports():
    done = subprocess.run(
        [sys.executable, '-c', SETUP], input=(ROOT / 'setup.py').read_text(), cwd=ROOT,
        text=True, capture_output=True, check=True)
    required = {re.match(r'[\w-]+', line)[0] for line in json.loads(done.stdout)}
    assert {name for _, name, gives in PACKAGES if not re.search(
        'fleet|completion', gives)} <= required


@pytest.mark.parametrize(('package', 'words'), [
    ('mujoco', ('simulate', 'two_axis', '-o', 'out')),
    ('viser', ('view', 'two_axis')),
])
def test_an_extra_that_is_missing_is_named(environment, package, words):
    done = environment(DYNID, *words)
    assert done.returncode == 2
    assert done.stderr.count('\n') == 1 and f'pip install {package})' in done.stderr
