# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Texts of the live page: state and reports of the nodes, and the course of a start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.motion.feasibility.planning_limits import PlanningLimits
from dynid_ros.pages.report.templating import part
from dynid_ros.pages.viewer.sources.course import Course
from dynid_ros.pages.viewer.sources.live import LiveState, PUBLISHER, Report, STATES

#: Silence of the server after which the page itself reports it, s, by its style, without a script
#: or the server.
NO_NEWS = 1.6


def state_text(state: LiveState, beat: int, remark: str) -> str:
    """
    Describe what the arm and its nodes do.

    Parameters
    ----------
    state : LiveState
        State of the nodes.
    beat : int
        A number that differs from the last one, which restarts the alarm of the style.
    remark : str
        The last command and its answer.

    """
    return part('watch_state.html', state=state, beat=beat, remark=remark,
                no_news=NO_NEWS, states=STATES, publisher=PUBLISHER)


def report_text(reports: Mapping[str, Report], percent: Mapping[str, float]) -> str:
    """Describe the quality of the streams, the verdict, and how well torque is predicted."""
    overall = percent.get('', np.nan)
    unseen = any(report.values.get('validating') == 'True' for report in reports.values())
    return part('watch_reports.html', reports=sorted(reports.items()),
                overall=overall if np.isfinite(overall) else None, unseen=unseen)


def course_text(
    course: Course, names: Sequence[str], prismatic: NDArray[np.bool_], allowed: PlanningLimits,
    report: Report | None,
) -> str:
    """Show the course of a start: duration, and range and largest velocity of each joint."""
    scale = np.where(prismatic, 1e3, 180 / np.pi)
    left, right = (100 * np.clip((edge - allowed.lower) / (allowed.upper - allowed.lower), 0, 1)
                   for edge in (course.lower, course.upper))
    rows = zip(names, np.where(prismatic, 'mm', '°'), scale * course.lower, scale * course.upper,
               left, np.maximum(right - left, 1), scale * course.velocity,
               100 * course.velocity / allowed.velocity, strict=True)
    return part('watch_course.html', course=course, rows=rows, report=report)
