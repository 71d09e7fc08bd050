# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""package.xml is what the tools of ROS 2 take it for; ``colcon test`` runs this linter."""

import ast
from pathlib import Path
import re
import sys
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'package.xml'
#: Imports without a key of rosdep: extras of setup.py, what comes with another package, what a
#: command names when it is missing.
EXTRAS = {
    'argcomplete', 'cyclonedds', 'dask', 'distributed', 'fsspec', 'markupsafe', 'mcap', 'mujoco',
    'pandas', 'pyarrow', 'rich', 'rosbags', 'threadpoolctl', 'trimesh', 'viser', 'websockets'}


def _imported(path):
    """Return the packages that a file imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name.partition('.')[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition('.')[0]


@pytest.mark.linter
def test_every_import_has_a_key_or_is_an_extra():
    keys = {each.text for each in ElementTree.parse(PACKAGE).iter('exec_depend')}
    files = [*(ROOT / 'dynid_ros').rglob('*.py'), *(ROOT / 'launch').glob('*.py')]
    names = {name for path in files for name in _imported(path)} - {'dynid_ros'}
    lacking = {name for name in names - set(sys.stdlib_module_names)
               if not keys & {name, f'python3-{name}'}}
    assert lacking == EXTRAS


@pytest.mark.linter
def test_what_pip_requires_has_a_key_or_may_be_missing():
    keys = {each.text for each in ElementTree.parse(PACKAGE).iter('exec_depend')}
    block = re.search(r'install_requires=\[(.*?)\]', (ROOT / 'setup.py').read_text(), re.DOTALL)
    required = set(re.findall(r"'([a-z0-9]+)", block[1]))
    keyed = {'pin': 'pinocchio', 'pyyaml': 'python3-yaml'}
    assert {name for name in required
            if keyed.get(name, f'python3-{name}') not in keys} == {'setuptools', 'threadpoolctl'}


@pytest.mark.linter
def test_the_oldest_versions_are_those_that_are_tested():
    stated = dict(re.findall(r"'([\w-]+)>=([\d.]+)',\n", (ROOT / 'setup.py').read_text()))
    tested = dict(re.findall(r'^([\w-]+)==([\d.]+)$', ''.join(
        path.read_text() for path in (ROOT / 'constraints').glob('*.txt')), re.MULTILINE))
    assert len(stated) > 5
    for name, oldest in stated.items():
        if name != 'pin':
            assert f'{tested[name]}.'.startswith(f'{oldest}.'), name


@pytest.mark.linter
def test_package_xml_is_valid():
    # What colcon, ament and rosdep read it with. ament_xmllint would fetch the schema that the
    # file names from the internet.
    reader = pytest.importorskip('catkin_pkg.package', reason='catkin_pkg is not installed')
    warnings = []
    package = reader.parse_package_string(PACKAGE.read_text(), str(PACKAGE), warnings=warnings)
    package.validate(warnings=warnings)
    assert warnings == []
    assert package.get_build_type() == 'ament_python'
