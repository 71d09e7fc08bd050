# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Pages and drawings of results."""

from dynid_ros.pages.report.page import write_report

__all__ = ['write_report']
