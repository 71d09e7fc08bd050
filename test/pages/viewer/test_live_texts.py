# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Texts and charts of the page: what they say, and what hostile names cannot do."""

from xml.etree import ElementTree

import numpy as np
import pytest
from viewer_rig import ARM, motion

from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.pages.report.axes import runs
from dynid_ros.pages.report.templating import words
from dynid_ros.pages.viewer import live_charts as charts
from dynid_ros.pages.viewer import live_texts as panels
from dynid_ros.pages.viewer.sources.course import Course
from dynid_ros.pages.viewer.sources.live import LiveState, Report

HOSTILE = ['<img src=x onerror=alert(1)>', '"><script>alert(1)</script>', "' onload='alert(1)",
           '</style><b>', 'a' * 100_000, '\u202egnp.exe', '\x00\x1b[2J', '&lt;']
T = np.arange(50.0)


def parsed(text):
    """Read it as XML, which fails where anything breaks out of its place."""
    return ElementTree.fromstring(f'<all>{text.replace("&nbsp;", " ")}</all>')


def tags(text):
    return {each.tag for each in parsed(text).iter()}


@pytest.mark.parametrize('name', HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_shown_and_not_obeyed(name):
    state = LiveState((name, 'elbow'))
    state.hear_publisher(Report(2, name, {'phase': name, 'dry_run': name}))
    state.hear_report(name, Report(99, name, {'remedy': name}))
    rows = np.ones((50, 2))
    course = Course(motion(), np.zeros(2), planning_limits(ARM), 0.2)
    texts = [
        panels.state_text(state, 1, name), panels.report_text(state.reports, {}),
        panels.course_text(course, (name, 'elbow'), ARM.prismatic, planning_limits(ARM), None),
        charts.estimate_tiles((name, 'b'), T, rows, rows, np.ones(2, dtype=bool)),
        charts.error_strips((name, 'b'), ('Nm', 'Nm'), T, rows, {})]
    for text in texts:
        assert not tags(text) & {'script', 'img'}
        assert {key for each in parsed(text).iter() for key in each.attrib}.isdisjoint(
            {'onerror', 'onload', 'src', 'href'})
        assert len(text) < 20_000
        assert '\u202e' not in text


@pytest.mark.parametrize(('validating', 'said'), [('True', 'unseen'), ('False', 'before use')])
def test_the_error_says_which_motion_it_is_of(validating, said):
    reports = {'identifier: stream': Report(0, 'good', {'validating': validating})}
    assert f'torque error {said}' in ' '.join(
        parsed(panels.report_text(reports, {'': 2.5})).itertext()).replace(
            'on the validation motion, ', '')


@pytest.mark.parametrize(('clearance', 'said'), [
    (0.125, '43 % done; least clearance so far 0.125 m; condition number 31'),
    (np.nan, '43 % done; condition number 31')])
def test_progress_of_a_motion_is_shown_while_it_moves(clearance, said):
    state = LiveState(('elbow',))
    state.condition = 31.2
    for phase, shown in (('running', True), ('holding', False)):
        state.hear_publisher(Report(0, phase, {
            'phase': phase, 'share': '0.43', 'least_clearance': str(clearance)}))
        text = ' '.join(parsed(panels.state_text(state, 1, '')).itertext())
        assert (said in text) == shown


def test_words_are_cut():
    assert words('x' * 500, 40) == 'x' * 40 + '…'


def test_question_names_duration_joints_ranges_and_speeds():
    there, allowed = motion(), planning_limits(ARM)
    course = Course(there, there.q[0], allowed, 0.2)
    text = panels.course_text(course, ARM.joint_names, ARM.prismatic, allowed, None)
    plain = ' '.join(parsed(text).itertext())
    assert f'for {course.duration:.1f} s' in plain
    for j, name in enumerate(ARM.joint_names):
        assert name in plain
        scale, unit = (1e3, 'mm') if ARM.prismatic[j] else (180 / np.pi, '°')
        assert f'{scale * course.lower[j]:.0f}{unit}' in plain
        assert f'{scale * course.velocity[j]:.0f}{unit}/s' in plain
    dry = Report(0, 'idle', {'dry_run': 'True'})
    assert 'nothing moves' in panels.course_text(
        course, ARM.joint_names, ARM.prismatic, allowed, dry)


def test_each_beat_begins_the_alarm_of_the_page_anew():
    state = LiveState(ARM.joint_names)
    first, second = (panels.state_text(state, beat, '') for beat in (7, 8))
    assert 'no-news-7 0s' in first
    assert 'no-news-7' not in second
    # With a quarter of a second between texts, within two.
    assert panels.NO_NEWS < 1.75


def test_bands_of_the_data_are_coloured_and_those_of_the_prior_are_marked():
    std = np.column_stack([np.full_like(T, 0.5), 1 / (1 + T), 1 / (1 + T)])
    from_data = np.array([False, False, True])
    tiles = [charts.estimate_tiles(('a',), T, np.ones((50, 1)), std[:, [k]], from_data[[k]])
             for k in range(3)]
    assert all(text.count('<polygon') == 1 for text in tiles)
    assert ['#0b5cad' in text for text in tiles] == [False, False, True]
    for text, value in zip(tiles, (
            '1.00 ± 0.980, prior<', '1.00 ± 0.0392, prior<', '1.00 ± 0.0392<'),
                           strict=True):
        assert value in text


def test_bands_are_drawn_where_they_are_finite_only():
    # No node of this package publishes others, but anybody may publish.
    std = np.where(T[:, None] < 20, np.inf, 1 / (1 + T[:, None])) * np.ones(2)
    std[:, 1] = np.inf
    text = charts.estimate_tiles(
        ('known', 'unknown'), T, np.ones((50, 2)), std, np.ones(2, dtype=bool))
    assert text.count('<polygon') == 1
    assert '1.00 ± 0.0392' in text
    assert '1.00 ± −' in text
    assert 'nan' not in text
    assert 'inf' not in text.replace('info', '')


def test_gaps_of_errors_stay_gaps():
    error = np.ones((50, 1))
    error[20:30] = np.nan
    assert charts.error_strips(('a',), ('Nm',), T, error, {}).count('<polyline') == 2
    assert runs(error[:, 0]) == [slice(0, 20), slice(30, 50)]
    nothing = charts.error_strips(('a',), ('Nm',), T, np.full((50, 1), np.nan), {})
    assert 'nan' not in nothing
