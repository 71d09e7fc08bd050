# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Log lines as ROS 2 writes them."""

from __future__ import annotations

from functools import partialmethod
import sys
import time


class Logger:
    """Logger of a node, on the standard error stream, with the methods of rclpy's."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: dict[tuple[str, int], float] = {}

    def _say(self, level: str, text: str, *, throttle_duration_sec: float = 0.0) -> None:
        caller = sys._getframe(1)
        place = caller.f_code.co_filename, caller.f_lineno
        now = time.monotonic()
        if throttle_duration_sec and now - self._told.get(place, -1e9) < throttle_duration_sec:
            return
        self._told[place] = now
        # Text from the network must not look like lines of its own.
        plain = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text)
        # One write a line: print() writes its end separately, and threads mix their lines.
        sys.stderr.write(f'[{level}] [{time.time():.9f}] [{self._name}]: {plain}\n')
        sys.stderr.flush()

    info = partialmethod(_say, 'INFO')
    warning = partialmethod(_say, 'WARN')
    error = partialmethod(_say, 'ERROR')
    fatal = partialmethod(_say, 'FATAL')
