"""Every curve of the PlotJuggler layout is one that the messages of the nodes make."""

from pathlib import Path
from xml.etree import ElementTree

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters

LAYOUT = Path(__file__).resolve().parents[1] / 'config' / 'plotjuggler_layout.xml'
ARM = load_arm('panda')


def published():
    """
    Name the numbers in the messages of the panda as PlotJuggler does.

    Its parser of ROS messages (ParserROS/ros_parser.cpp, commit ddcbd05) names efforts
    topic/joint/effort and values of diagnostics topic/hardware_id/status/key.
    """
    for topic in ('/joint_states', '/identifier/predicted_effort', '/identifier/residuals'):
        yield from (f'{topic}/{joint}/effort' for joint in ARM.joint_names)
    for kind in ('values', 'std'):
        yield from (f'/identifier/estimates/{ARM.name}/{kind}/{name}'
                    for name in base_parameters(ARM).names)
    for name in ('all joints', *ARM.joint_names):
        yield f'/identifier/validation/{ARM.name}/{name}/relative_error_percent'


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
