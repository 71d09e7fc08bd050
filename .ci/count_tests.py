# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Count the tests that ``colcon test`` ran, as ``count_tests.py REPORT SUMMARY``.

REPORT is the XML file of pytest, SUMMARY the last line of ``colcon test-result``. Exits with
status 1 if they disagree, or if too few tests ran: no test at all is a success for colcon.
"""

import re
import sys
from xml.etree import ElementTree

LEAST = 1000


def main(report: str, summary: str) -> int:
    """Print the count, and return the exit status."""
    cases = list(ElementTree.parse(report).iter('testcase'))
    found = [len(cases), *(sum(case.find(kind) is not None for case in cases)
                           for kind in ('error', 'failure', 'skipped'))]
    ran = found[0] - found[3]
    print(f'== colcon test: {ran} tests ran, {found[3]} were skipped')
    if found != [int(number) for number in re.findall(r'\d+', summary)]:
        print(f'== colcon test-result disagrees: {summary}')
        return 1
    if ran < LEAST:
        print(f'== at least {LEAST} must run')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
