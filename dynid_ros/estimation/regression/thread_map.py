"""Work on several processors, with results in the order of the work."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
import os
from typing import TypeVar

Part = TypeVar('Part')
Result = TypeVar('Result')


def in_order(work: Callable[[Part], Result], parts: Sequence[Part]) -> Iterator[Result]:
    """
    Take parts on all processors that this process may use, and yield results in order.

    Only a few results wait at a time, as all of them may not fit the memory.
    """
    threads = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()
    if len(parts) < 2 or threads == 1:
        yield from map(work, parts)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for part in parts:
            waiting.append(pool.submit(work, part))
            if len(waiting) > 2 * (threads or 1):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
