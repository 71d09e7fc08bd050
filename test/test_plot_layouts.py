# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Every curve of the shipped layouts is one that the messages of the nodes make."""

import json
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import ros.nodes.conftest  # noqa: F401 - ROS 2, or what stands in for it

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.ros.nodes.common.estimate_messages import (
    joint_numbers,
    numbers_of,
    parameter_numbers,
    summary_numbers,
)

LAYOUT = Path(__file__).resolve().parents[1] / 'config' / 'plotjuggler_layout.xml'
FOXGLOVE = LAYOUT.with_name('foxglove_layout.json')
ARM = load_arm('panda')


def numbers():
    """Name the numbers of the panda that the identifier publishes: topic, place and label."""
    for kind in (0, 1):
        yield from (('/identifier/estimates', k, kind, name)
                    for k, name in enumerate(base_parameters(ARM).names))
    yield from (('/identifier/validation', k, 1, name) for k, name in enumerate(ARM.joint_names))
    yield '/identifier/summary', 0, 4, 'all joints'


def published():
    """
    Name the numbers in the messages of the panda as PlotJuggler does.

    Its parser of ROS messages (ParserROS/ros_parser.cpp, commit ddcbd05) names efforts
    topic/joint/effort, and all else by places.
    """
    for topic in ('/joint_states', '/identifier/predicted_effort', '/identifier/residuals'):
        yield from (f'{topic}/{joint}/effort' for joint in ARM.joint_names)
    yield from (f'{topic}/interface_values[{k}]/values[{kind}]' for topic, k, kind, _ in numbers())


def test_places_are_those_that_the_nodes_publish():
    names = list(base_parameters(ARM).names)
    ones = np.ones(len(names))
    told, columns = numbers_of(parameter_numbers(0, names, 2 * ones, 3 * ones, ones > 0))
    assert told == tuple(names) and list(columns)[:2] == ['value', 'std']
    joints = np.ones(ARM.n)
    metrics = SimpleNamespace(rmse=joints, relative_error_percent=joints, r2=joints,
                              overall_percent=5.0)
    estimate = SimpleNamespace(metrics=metrics, left_out=joints, determined=ones > 0,
                               condition_number=9.0)
    assert list(numbers_of(joint_numbers(ARM, 0, estimate))[1])[1] == 'relative_error_percent'
    summary = list(numbers_of(summary_numbers(ARM, 0, estimate, 7))[1])
    assert summary[3:] == ['condition_number', 'relative_error_percent']


def test_foxglove_shows_every_number_once_with_its_label():
    panels = json.loads(FOXGLOVE.read_text())['configById'].values()
    shown = [(series['value'], series['label']) for panel in panels for series in panel['paths']]
    expected = [(f'{topic}.interface_values[{k}].values[{kind}]', label)
                for topic, k, kind, label in (
                    *numbers(), ('/identifier/summary', 0, 3, 'condition number'))]
    expected += [(f'/identifier/residuals.effort[{k}]', joint)
                 for k, joint in enumerate(ARM.joint_names)]
    assert sorted(shown) == sorted(expected)


def test_layout_shows_each_published_curve_once_and_no_other():
    curves = [curve.get('name') for curve in ElementTree.parse(LAYOUT).iter('curve')]
    assert sorted(curves) == sorted(published())


def test_layout_subscribes_to_the_topics_of_its_curves():
    root = ElementTree.parse(LAYOUT).getroot()
    (plugin,) = root.iter('plugin')
    selected = plugin.find('selected_topics').get('value').split(';')
    assert plugin.get('ID') == root.find('previouslyLoaded_Streamer').get('name')
    for curve in root.iter('curve'):
        assert sum(curve.get('name').startswith(f'{topic}/') for topic in selected) == 1


def test_grids_hold_as_many_plots_as_they_say():
    splitters = list(ElementTree.parse(LAYOUT).iter('DockSplitter'))
    assert splitters
    for splitter in splitters:
        sizes = [float(size) for size in splitter.get('sizes').split(';')]
        assert len(splitter) == len(sizes) == int(splitter.get('count'))
        # Six digits each.
        assert abs(sum(sizes) - 1) < 1e-5
