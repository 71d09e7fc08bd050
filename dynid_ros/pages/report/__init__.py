"""Pages and drawings of results."""

from dynid_ros.pages.report.page import write_report

__all__ = ['write_report']
