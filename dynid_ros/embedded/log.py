"""Log lines as ROS 2 writes them."""

from __future__ import annotations

import sys
import time


class Logger:
    """Logger of a node, on the standard error stream."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: dict[tuple[str, int], float] = {}

    def info(self, text: str, *, throttle_duration_sec: float = 0.0) -> None:
        """Say what happens."""
        self._say('INFO', text, throttle_duration_sec)

    def warning(self, text: str, *, throttle_duration_sec: float = 0.0) -> None:
        """Say what may be wrong."""
        self._say('WARN', text, throttle_duration_sec)

    def error(self, text: str, *, throttle_duration_sec: float = 0.0) -> None:
        """Say what is wrong."""
        self._say('ERROR', text, throttle_duration_sec)

    def _say(self, level: str, text: str, throttle: float) -> None:
        caller = sys._getframe(2)
        place = caller.f_code.co_filename, caller.f_lineno
        now = time.monotonic()
        if throttle and now - self._told.get(place, -throttle) < throttle:
            return
        self._told[place] = now
        # What comes from the network must not look like lines of its own.
        plain = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text)
        print(f'[{level}] [{time.time():.9f}] [{self._name}]: {plain}',
              file=sys.stderr, flush=True)
