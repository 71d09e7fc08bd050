# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The answers of the nodes to faults, and the time of the arm that they take."""

from collections.abc import Mapping
import re
from typing import NamedTuple
from unittest import SkipTest

from fault_chain import RATE, REPORTS
from fault_names import ROWS

from dynid_ros.ros.nodes.common.lockstep import ANSWER_INTERVAL, MOST_BEHIND

#: Time in which a node answers that is asked for each state, s: some states, as messages of two
#: topics may overtake each other.
AT_ONCE = 5 / RATE
#: Time in which a node reports that only learns, s: it may be behind by so many states before the
#: time of the arm stands still, and the report after them has all of them.
REPORTED = (MOST_BEHIND + ANSWER_INTERVAL) / RATE + 2 / REPORTS

#: Time in which a node notices who came or went, by a look every 0.2 s, or a report, s. DDS may
#: tell of it later on a busy machine; the time of the arm waits there.
GRAPH = 1.0


class Said(NamedTuple):
    """
    One line of a log, or one status.

    Attributes
    ----------
    time : float
        Time of the arm at which it came, s.
    name, text : str
        Who said it, and all of it.
    values : mapping
        Of a status.

    """

    time: float
    name: str
    text: str
    values: Mapping[str, str]


class Answers:
    """
    What is said after a fault, and the table of it.

    Parameters
    ----------
    bench : Bench
        Spins, and has the time of the arm.

    """

    def __init__(self, bench) -> None:
        self._bench = bench
        self._said: list[Said] = []
        self._rows: dict[str, str] = {}

    def hear(self, name: str, text: str, values: Mapping[str, str] | None = None) -> None:
        """Take in what came now."""
        self._said.append(Said(self._bench.now, name, text, values or {}))

    def forget(self) -> None:
        """Look only at what comes from here on."""
        self._said.clear()

    def until(
        self, name: str, words: str, since: float = 0.0, grown: tuple[str, int] | None = None,
    ) -> Said:
        """Wait for words of one whose name begins so, maybe with a count above one before."""
        def first():
            return next((said for said in self._said if (
                said.time >= since and said.name.startswith(name)
                and re.search(words, said.text)
                and (grown is None or int(said.values.get(grown[0], '0')) > grown[1]))), None)

        self._bench.until(first, f'{words!r} of {name}')
        return first()

    def time_by_graph(self, fault: str, since: float, name: str, words: str, **more) -> None:
        """Do the same as `time` where a node hears of the fault by a look at the graph."""
        self.time_by_dds(fault, since, name, words, GRAPH, **more)

    def time_by_dds(
        self, fault: str, since: float, name: str, words: str, looks: float = 0.0, **more,
    ) -> None:
        """Do the same as `time` where a node hears of the fault by DDS alone, or then looks."""
        with self._bench.time_until(since + looks):
            self.time(fault, since, name, words, looks + AT_ONCE, **more)

    def time(
        self, fault: str, since: float, name: str, words: str, bound: float,
        grown: tuple[str, int] | None = None,
    ) -> None:
        """See that a fault is answered in time, and add it to the table."""
        said = self.until(name, words, since, grown)
        seconds = said.time - since
        self.note(fault, f'{said.name}: {re.search(words, said.text)[0]}', f'{seconds:.3f} s')
        assert seconds <= bound, f'{fault}: {said.text!r} came after {seconds:.3f} s'

    def note(self, fault: str, said: str, seconds: str) -> None:
        """Add a fault to the table, in which it has its row."""
        assert fault in ROWS
        self._rows[fault] = f'{said} | {seconds}'

    def skip(self, fault: str, why: str) -> None:
        """Leave a fault out that cannot be made here."""
        self.note(fault, why, 'skipped')
        raise SkipTest(why)

    def check_complete(self) -> None:
        """See that every row of the table was met."""
        assert set(self._rows) == set(ROWS), set(ROWS) - set(self._rows)

    def show(self) -> None:
        """Print the table."""
        rows = (f'{fault} | {self._rows[fault]}' for fault in ROWS if fault in self._rows)
        print('\nfault | answer | reaction time', *rows, sep='\n', flush=True)
