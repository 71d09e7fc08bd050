# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Launch files of this package in files of others: each include in a group of its own."""

import json
import re

from launches import dumped, need_workspace
import pytest

#: A launch file as those of this package, which writes what it was given.
INCLUDED = """
import json
from pathlib import Path
from launch.actions import DeclareLaunchArgument
from dynid_ros.ros.nodes.launch_arguments import launch_file

def generate_launch_description():
    def begin(given):
        with Path(__file__).with_name('given.txt').open('a') as file:
            print(json.dumps([given.values, sorted(given.given)]), file=file)
        return []
    return launch_file(begin, DeclareLaunchArgument('arm'), *(
        DeclareLaunchArgument(name, default_value='')
        for name in ('model', 'namespace', 'topics')))
"""
#: Includes of it in a file whose own `model` is not that of the arms, and is used after them.
OUTER = {
    'xml': """<launch>
      <arg name="model" default="of the laboratory"/>
      {group}<include file="INCLUDED"><arg name="arm" value="panda"/>
      <arg name="namespace" value="left"/><arg name="topics" value="[a]"/></include>{end}
      {group}<include file="INCLUDED"><arg name="arm" value="ur10"/>
      <arg name="model" value="result"/></include>{end}
      {group}<include file="INCLUDED"><arg name="arm" value="tx40"/></include>{end}
      <log message="still $(var model)"/></launch>""",
    'yaml': """launch:
- arg: {{name: model, default: of the laboratory}}
- {group}include: {{file: INCLUDED, arg: [
    {{name: arm, value: panda}}, {{name: namespace, value: left}},
    {{name: topics, value: '[a]'}}]}}{end}
- {group}include: {{file: INCLUDED, arg: [
    {{name: arm, value: ur10}}, {{name: model, value: result}}]}}{end}
- {group}include: {{file: INCLUDED, arg: [{{name: arm, value: tx40}}]}}{end}
- log: {{message: still $(var model)}}""",
    'py': """
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, LogInfo)
from launch.substitutions import LaunchConfiguration

def generate_launch_description():
    return LaunchDescription([DeclareLaunchArgument('model', default_value='of the laboratory'), *(
        {group}IncludeLaunchDescription('INCLUDED', launch_arguments=given.items()){end}
        for given in (dict(arm='panda', namespace='left', topics='[a]'),
                      dict(arm='ur10', model='result'), dict(arm='tx40'))),
        LogInfo(msg=['still ', LaunchConfiguration('model')])])
""",
}
#: Groups that pass the arguments of the file around on, as launch does, and groups that do not.
GROUPS = {
    ('xml', True): ('<group>', '</group>'),
    ('xml', False): ('<group forwarding="false">', '</group>'),
    ('yaml', True): ('group: [{', '}]'),
    ('yaml', False): ('group: {forwarding: false, children: [{', '}]}'),
    ('py', True): ('GroupAction([', '])'),
    ('py', False): ('GroupAction([', '], forwarding=False)')}


@pytest.fixture(autouse=True)
def _built() -> None:
    need_workspace()


@pytest.mark.parametrize('forwarding', [False, True])
@pytest.mark.parametrize('form', ['xml', 'yaml', 'py'])
def test_include_in_a_group_has_its_own_arguments(begin, tmp_path, form, forwarding):
    included = tmp_path / 'record.launch.py'
    included.write_text(INCLUDED)
    # The end of its name is that of the file it includes.
    outer = tmp_path / f'we_record.launch.{form}'
    group, end = GROUPS[form, forwarding]
    outer.write_text(OUTER[form].format(group=group, end=end).replace('INCLUDED', str(included)))
    launch = begin('launch', str(outer), 'model:=of us', 'unknown:=to the included')
    assert launch.end() == 0, launch.printed
    assert 'still of us' in launch.printed
    given = [json.loads(line) for line in (tmp_path / 'given.txt').read_text().splitlines()]
    around = {'model': 'of us', 'unknown': 'to the included'} if forwarding else {'model': ''}
    names = ['model'] if forwarding else []
    others = {'namespace': '', 'topics': '', **around}
    assert given == [
        [{**others, 'arm': 'panda', 'namespace': 'left', 'topics': '[a]'},
         ['arm', *names, 'namespace', 'topics']],
        [{**others, 'arm': 'ur10', 'model': 'result'}, ['arm', 'model']],
        [{**others, 'arm': 'tx40'}, ['arm', *names]]]


@pytest.mark.parametrize('form', ['xml', 'yaml'])
def test_two_arms_are_recorded_by_one_file(begin, tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    arms = {'left': 'panda', 'right': 'two_axis'}
    launch = begin('launch', 'dynid_ros', f'two_arms.launch.{form}',
                   *(f'{name}:={arm}' for name, arm in arms.items()))
    for name, arm in arms.items():
        launch.until(f'[{name}.identifier]: ready: {arm} on /{name}/joint_states')
        launch.until(f'[{name}.recorder]: /{name}/joint_states: no message')
        recorded = dumped(f'/{name}/recorder')
        assert (recorded['arm'], recorded['output_folder']) == (arm, f'{name}/recordings')
        assert dumped(f'/{name}/identifier')['output_folder'] == f'{name}/dynid_result'
    launch.until_all_can_answer()
    launch.press_ctrl_c()
    launch.end()
    assert not re.search('Traceback|ERROR', launch.printed), launch.printed
