# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The documented table of faults has the rows of the launch test, and no others."""

import ast
from pathlib import Path
import re

TEST = Path(__file__).resolve().parent
LAUNCH = TEST / 'launch'


def rows():
    (assigned,) = ast.parse((LAUNCH / 'fault_names.py').read_text()).body[1:]
    return ast.literal_eval(assigned.value)


def documented():
    """Return the cells of the table of faults, line by line."""
    text = (TEST.parent / 'docs' / 'faults.md').read_text(encoding='utf-8')
    table = re.search(r'(?:^\| fault \|.*\n)(?:^\|[-|]+\n)((?:^\| .*\n)+)', text, re.MULTILINE)[1]
    return [[cell.strip() for cell in line.strip('|').split('|')] for line in table.splitlines()]


def test_documented_faults_are_those_of_the_launch_test():
    assert tuple(row[0] for row in documented()) == rows()


def test_every_row_has_all_columns_and_a_measured_time():
    for row in documented():
        assert len(row) == 5 and all(row), row
        assert re.fullmatch(r'\d+\.\d{3} s|when it is read', row[-1]), row


def test_every_row_is_made_by_the_launch_test():
    made = ''.join(path.read_text() for path in LAUNCH.glob('fault_*_rows.py'))
    assert [row for row in rows() if made.count(f"'{row}'") != 1] == []
