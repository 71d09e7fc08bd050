# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Feed mutated inputs to every command, and count how they end.

    python test/fuzz/fuzz.py --count 20000 --seed 1

Cases run inside worker processes with bounded memory and time, in folders of their own. A status
of 70, a traceback, a line that is too long, half a file, a number that JSON does not have, a hang
and too much memory are failures; each is printed with the words that repeat it, and the exit
status is 1. ``--case 17`` runs one case alone and keeps its files.
"""

from __future__ import annotations

import argparse
from collections import Counter
import multiprocessing
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
import os
from pathlib import Path
import signal
import sys
import tempfile
import time

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

from outcomes import FAILURES, HANG, LOST, Outcome, run_case  # noqa: E402

#: Processor seconds of a case, also of one that starts the worker and compiles.
LONGEST, LONGEST_FIRST = 20.0, 120.0
#: Seconds on the clock by those of the processor: other work may run beside.
WAITING = 10.0
#: Bytes of address space of a worker, and cases after which it starts afresh.
MEMORY, RECYCLED = 2 * 2**30, 1000
#: Failures of one kind that are printed.
SHOWN = 3


class Worker:
    """A process that runs every so many cases, and the clock of its case."""

    def __init__(
        self, seed: int, cases: list[int], good: Path, work: Path, longest: float,
    ) -> None:
        self.cases, self.done, self._later = cases, 0, longest
        self.read, write = multiprocessing.Pipe(duplex=False)
        # A fork of a process with threads, such as that of the tests, may wait for ever.
        self.process: BaseProcess = multiprocessing.get_context('spawn').Process(
            target=_work, args=(seed, cases[:RECYCLED], good, work, write, longest))
        self.process.start()
        write.close()
        self.since, self.longest = time.monotonic(), max(longest, LONGEST_FIRST)

    def results(self) -> list[Outcome]:
        """Take what has ended, a hang and the loss of the process included."""
        found = []
        while self.done < len(self.cases[:RECYCLED]):
            late = time.monotonic() - self.since > WAITING * self.longest
            try:
                if self.read.poll():
                    found.append(self.read.recv())
                elif late:
                    found.append(Outcome(
                        self.cases[self.done], HANG, f'more than {WAITING * self.longest:g} s'))
                else:
                    return found
            except EOFError:
                self.process.join()
                hung = self.process.exitcode == -signal.SIGPROF
                found.append(Outcome(
                    self.cases[self.done], HANG, f'more than {self.longest:g} s of processor time'
                ) if hung else Outcome(
                    self.cases[self.done], LOST, f'ended with {self.process.exitcode}'))
            self.done += 1
            self.since, self.longest = time.monotonic(), self._later
            if found[-1].end in (HANG, LOST):
                break
        self.stop()
        return found

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def _work(
    seed: int, cases: list[int], good: Path, work: Path, results: Connection, longest: float,
) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # Parsers in C++ and C write to the terminal themselves.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    allowed = max(longest, LONGEST_FIRST)
    for case in cases:
        signal.setitimer(signal.ITIMER_PROF, allowed)
        allowed = longest
        results.send(run_case(seed, case, good, work / f'{os.getpid()}'))
    results.close()


def fuzz(
    seed: int, count: int, workers: int, good: Path, work: Path, longest: float = LONGEST,
) -> list[Outcome]:
    """Run cases from zero on, each for so many seconds at most, and return how each ended."""
    every = [list(range(first, count, workers)) for first in range(workers)]
    running = [Worker(seed, cases, good, work, longest) for cases in every if cases]
    ended: list[Outcome] = []
    shown: Counter[tuple[str, str]] = Counter()
    told = time.monotonic()
    while running:
        wait([each.read for each in running], timeout=0.5)
        for worker in list(running):
            found = worker.results()
            ended += found
            for each in found:
                _show(each, seed, shown)
            if not worker.process.is_alive() and worker.done:
                running.remove(worker)
                if rest := worker.cases[worker.done:]:
                    running.append(Worker(seed, rest, good, work, longest))
        if time.monotonic() - told > 30:
            told = time.monotonic()
            print(f'{len(ended)} of {count} cases', flush=True)
    return ended


def _show(each: Outcome, seed: int, shown: Counter[tuple[str, str]]) -> None:
    """Print a failure and what repeats it, unless enough of its kind were printed."""
    kind = each.end, each.detail[:60]
    shown[kind] += 1
    if each.end in FAILURES and shown[kind] <= SHOWN:
        print(f'{each.end}: {each.detail}\n    {each.words}\n'
              f'    make fuzz SEED={seed} CASE={each.case}', flush=True)


def report(ended: list[Outcome]) -> int:
    """Print counts by outcome; 1 if there is a failure."""
    counts = Counter(each.end for each in ended)
    for end, number in sorted(counts.items()):
        print(f'{number:8} {end}')
    return int(any(end in FAILURES for end in counts))


def main() -> int:
    """Run the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--count', type=int, default=20_000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--workers', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--case', type=int)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix='dynid-fuzz-'))
    good = folder / 'good'
    make_corpus(good)
    if given.case is not None:
        outcome = run_case(given.seed, given.case, good, folder / 'case', keep=True)
        print(outcome.output)
        print(f'{outcome.end}: {outcome.detail}\n{outcome.words}\nin {folder / "case"}')
        return int(outcome.end in FAILURES)
    print(f'seed {given.seed}, {given.count} cases', flush=True)
    ended = fuzz(given.seed, given.count, given.workers, good, folder / 'work')
    return report(ended)


def make_corpus(good: Path) -> None:
    """Write the good inputs in a process of its own: workers begin without threads."""
    from corpus import write_corpus

    good.mkdir(parents=True)
    process = multiprocessing.get_context('spawn').Process(target=write_corpus, args=(good,))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError('the good inputs could not be written')


if __name__ == '__main__':
    sys.exit(main())
