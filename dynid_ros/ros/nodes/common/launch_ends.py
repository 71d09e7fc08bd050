# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Ends of a launch other than by Ctrl-C: with a node that it needs, and with its terminal."""

from __future__ import annotations

import signal
import threading

from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext


def end_with_node(event: ProcessExited, context: LaunchContext) -> None:
    """End the launch with a node, with the status of a node that failed."""
    if event.returncode or not context.is_shutdown:
        raise RuntimeError(f'{event.process_name} ended with status {event.returncode}')


def end_with_terminal(context: LaunchContext) -> None:
    """End the nodes with their terminal, which signals only launch, and would kill it."""
    def end(_number: int, _frame: object) -> None:
        if not context.is_shutdown:
            context.emit_event_sync(Shutdown(reason='the terminal was closed'))

    if (threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL):
        signal.signal(signal.SIGHUP, end)
