# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid doctor`` tells which parts work, and completion offers commands."""

from itertools import islice
import json
import os
from pathlib import Path
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from dynid_ros.interface.cli import doctor
from dynid_ros.interface.cli.doctor import EVERY_COMMAND, ROS_PACKAGES
from dynid_ros.interface.cli.main import main


def test_parts_are_listed_with_what_missing_ones_would_give(capsys, monkeypatch):
    monkeypatch.setattr('dynid_ros.interface.cli.doctor.PACKAGES', (
        ('numpy', 'numpy', EVERY_COMMAND), ('no_such', 'nope', 'wings')))
    status, told = main(['doctor', '--json']), capsys.readouterr().out
    parts = {part['name']: part for part in json.loads(told)['parts']}
    assert status == 0 and parts['numpy']['there']
    assert not parts['no_such']['there'] and parts['no_such']['gives'] == 'wings'
    # A message went from one process to another.
    assert parts['DDS']['there'] == ('a message came' in parts['DDS']['found'])


def test_a_needed_package_that_is_missing_is_told_first(capsys, monkeypatch):
    monkeypatch.setattr('dynid_ros.interface.cli.doctor.PACKAGES', (
        ('no_such', 'nope', EVERY_COMMAND),))
    status, told = main(['doctor']), capsys.readouterr().out
    assert status == 1 and told.startswith('Not ready: no_such ')


def test_a_package_that_is_older_than_any_that_is_tested_is_named(capsys, monkeypatch, tmp_path):
    # As another installer might have left one.
    for name, version, stated in (
            ('tqdm', '3.9.1', ''), ('dynid_ros', '0.1.0', 'Requires-Dist: tqdm>=4.66\n')):
        folder = tmp_path / f'{name}-{version}.dist-info'
        folder.mkdir()
        (folder / 'METADATA').write_text(f'Name: {name}\nVersion: {version}\n{stated}')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        'dynid_ros.interface.cli.doctor.PACKAGES', (('tqdm', 'tqdm', EVERY_COMMAND),))
    status, told = main(['doctor']), capsys.readouterr().out
    assert status == 1 and told.startswith('Not ready: tqdm ')
    assert "3.9.1 is older than 4.66: pip install 'tqdm>=4.66'" in told


def test_packages_that_an_installation_of_ros_lacks_are_told(monkeypatch, tmp_path):
    (tmp_path / 'rclpy').mkdir()
    (tmp_path / 'rclpy/__init__.py').touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, 'ROS_PACKAGES', ('json', 'no_such_msgs'))
    ros, packages = islice(doctor._ros(), 2)
    assert ros.there and not packages.there
    assert packages.found == 'no_such_msgs missing: rosdep install --from-paths src -i'


def test_rosdep_installs_the_packages_of_ros_that_are_looked_for():
    keys = ElementTree.parse(Path(__file__).parents[3] / 'package.xml').iter('exec_depend')
    assert {key.text for key in keys if key.text.endswith(('_interfaces', '_msgs', '_py', '_srvs'))
            } == set(ROS_PACKAGES)


def test_the_shell_completes_commands(tmp_path):
    pytest.importorskip('argcomplete')
    answer = tmp_path / 'answer'
    subprocess.run(
        [sys.executable, '-m', main.__module__], check=False, env=os.environ | {
            '_ARGCOMPLETE': '1', 'COMP_LINE': 'dynid ident', 'COMP_POINT': '11',
            '_ARGCOMPLETE_STDOUT_FILENAME': str(answer)})
    assert answer.read_text().strip() == 'identify'
