# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Lines of the log, which several threads of a node write."""

import io
from threading import Thread
import time

from dynid_ros.ros.stand_in.log import Logger


class SlowStream(io.StringIO):
    """A stream on which every write lets the other threads run."""

    def write(self, text):
        time.sleep(1e-3)
        return super().write(text)


def test_threads_do_not_mix_their_lines(monkeypatch):
    stream = SlowStream()
    monkeypatch.setattr('sys.stderr', stream)
    threads = [
        Thread(target=lambda name=name: [Logger(name).info('one line') for _ in range(10)])
        for name in ('first', 'second', 'third')]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 30
    assert all(line.startswith('[INFO]') and line.endswith(': one line') for line in lines)
