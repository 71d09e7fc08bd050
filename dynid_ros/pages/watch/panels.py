"""Texts of the page: what the nodes do, what they say, and what a start would move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.motion.feasibility.planning_limits import PlanningLimits
from dynid_ros.pages.watch.live_state import PUBLISHER, Report, Snapshot, STATES
from dynid_ros.pages.watch.markup import AMBER, chip, GREEN, GREY, NAME, RED, words
from dynid_ros.pages.watch.planned_motion import Course

#: Time without news from the server after which the page itself says so, s. It is in the style, so
#: that it needs neither a script nor a server.
NO_NEWS = 1.6
LEVELS = ('good', 'warning', 'error', 'stale')
LEVEL_COLOURS = (GREEN, AMBER, RED, GREY)
PHASE_COLOURS = {'idle': GREY, 'moving to the start': AMBER, 'running': GREEN,
                 'validating': GREEN, 'stopping': AMBER, 'holding': GREY, 'aborted': RED}
BOX = 'padding:6px 12px;font-size:13px;line-height:1.4'
ALARM = (f'background:{RED};color:#fff;font-weight:600;border-radius:4px;padding:5px 8px;'
         'margin-bottom:6px')


def state_text(snapshot: Snapshot, beat: int, remark: str) -> str:
    """
    Describe what the arm and its nodes do.

    Parameters
    ----------
    snapshot : Snapshot
        What is known.
    beat : int
        A number that differs from the last one: the alarm of the style begins anew with it.
    remark : str
        The last command and its answer.

    """
    return (f'<div style="{BOX}" data-beat="{beat}">{_no_news(beat)}{_losses(snapshot)}'
            f'{_phase(snapshot)}<div style="color:{GREY}">{words(remark)}</div></div>')


def _no_news(beat: int) -> str:
    # Each beat has a name of its own, by which the browser starts the animation again.
    return (f'<style>@keyframes no-news-{beat} {{ to {{ visibility: visible; max-height: 4em }} }}'
            f'.no-news {{ visibility: hidden; max-height: 0; overflow: hidden; '
            f'animation: no-news-{beat} 0s {NO_NEWS}s forwards }}</style>'
            f'<div class="no-news"><div style="{ALARM}">This page has lost its server: what it '
            'shows is old, and its buttons do nothing. Use the emergency stop.</div></div>')


def _losses(snapshot: Snapshot) -> str:
    if not snapshot.lost:
        return ''
    said = '; '.join(f'nothing from {name} for {snapshot.ages[name]:.1f} s'
                     for name in snapshot.lost)
    return f'<div class="lost" style="{ALARM}">Lost: {words(said)}.</div>'


def _phase(snapshot: Snapshot) -> str:
    report = snapshot.publisher
    if report is None:
        there = 'the arm is here' if STATES in snapshot.ages else 'waiting for joint_states'
        return f'{chip("watching", GREY)} {there}; no {PUBLISHER} yet'
    phase = report.values.get('phase', '')
    old = PUBLISHER in snapshot.lost
    said = chip(f'{phase}?' if old else phase, GREY if old else PHASE_COLOURS.get(phase, GREY))
    dry = ' dry run: nothing is commanded' if report.values.get('dry_run') == 'True' else ''
    why = f'<div style="color:{RED}">{words(report.text)}</div>' if report.level > 1 else ''
    return f'{said}{dry}{why}'


def report_text(reports: Mapping[str, Report], percent: Mapping[str, float]) -> str:
    """Describe the quality of the streams, the verdict, and how well torque is predicted."""
    rows = [_row(name, report) for name, report in sorted(reports.items())]
    unseen = any(report.values.get('validating') == 'True' for report in reports.values())
    if '' in percent and np.isfinite(percent['']):
        rows.insert(0, '<div style="margin-bottom:4px"><span style="font-size:22px;'
                    f'font-weight:600">{percent[""]:.2f} %</span> torque error '
                    f'{"on the validation motion, unseen" if unseen else "before use"}</div>')
    if not rows:
        rows = [f'<span style="color:{GREY}">no node has reported yet</span>']
    return f'<div style="{BOX}">{"".join(rows)}</div>'


def _row(name: str, report: Report) -> str:
    level = min(max(report.level, 0), len(LEVELS) - 1)
    remedy = report.values.get('remedy', '')
    remedied = f'<br/><i>{words(remedy)}</i>' if remedy else ''
    return (f'<div style="border-left:4px solid {LEVEL_COLOURS[level]};padding-left:7px;'
            f'margin-bottom:5px" title="{LEVELS[level]}"><b>{words(name, NAME)}</b><br/>'
            f'{words(report.text)}{remedied}</div>')


def course_text(
    course: Course, names: Sequence[str], prismatic: NDArray[np.bool_], allowed: PlanningLimits,
    report: Report | None,
) -> str:
    """Show what a start would move: duration, and range and largest velocity of each joint."""
    rows = ''.join(
        _joint_row(course, j, name, bool(prismatic[j]), allowed) for j, name in enumerate(names))
    dry = report is not None and report.values.get('dry_run') == 'True'
    return (
        f'<div style="{BOX}"><b>{"Dry run: nothing moves" if dry else "The arm will move"}</b> '
        f'for {course.duration:.1f} s, of which {course.approach:.1f} s to the start of the '
        'motion. The translucent arm shows it.'
        '<table style="width:100%;font-size:12px;border-spacing:0 2px"><tr style="color:'
        f'{GREY};text-align:right"><th style="text-align:left">joint</th><th>from</th><th>to</th>'
        f'<th style="width:70px">in its limits</th><th>fastest</th></tr>{rows}</table></div>')


def _joint_row(
    course: Course, j: int, name: str, prismatic: bool, allowed: PlanningLimits,
) -> str:
    scale, unit = (1e3, 'mm') if prismatic else (180 / np.pi, '°')
    lower, upper = scale * course.lower[j], scale * course.upper[j]
    span = allowed.upper[j] - allowed.lower[j]
    left, right = (100 * np.clip((edge[j] - allowed.lower[j]) / span, 0, 1)
                   for edge in (course.lower, course.upper))
    share = 100 * course.velocity[j] / allowed.velocity[j]
    return (
        f'<tr style="text-align:right"><td style="text-align:left">{words(name, 24)}</td>'
        f'<td>{lower:.0f}{unit}</td><td>{upper:.0f}{unit}</td>'
        '<td><div style="background:#dee2e6;height:8px;position:relative">'
        f'<div style="background:{GREEN};height:8px;position:absolute;left:{left:.0f}%;'
        f'width:{max(right - left, 1):.0f}%"></div></div></td>'
        f'<td>{scale * course.velocity[j]:.0f}{unit}/s ({share:.0f}&nbsp;%)</td></tr>')
