# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Tables that tools write in forms of their own are read right, or refused by name."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.model import Table
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import RecordingError

T = np.arange(40) / 100
Q = np.sin(1.3 * T[:, None] + np.arange(3))
TAU = 1500 * np.cos(T[:, None] + np.arange(3))
NAMES = ['t', *(f'{stem}{k}' for stem in ('q', 'tau') for k in (1, 2, 3))]
ROWS = np.column_stack([T, Q, TAU]).tolist()
BEGIN = datetime(2026, 1, 31, 23, 59, 59, 900_000)


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), 3, prismatic=False)


def table(rows, names=NAMES, separator=','):
    lines = [names, *([cell if isinstance(cell, str) else f'{cell:.9f}' for cell in row]
                      for row in rows)]
    return '\n'.join(separator.join(line) for line in lines) + '\n'


def cells(form):
    return [[form(cell) for cell in row] for row in ROWS]


def german(text):
    return text.translate(str.maketrans(',.', '.,'))


def dated(form):
    return [[(BEGIN + timedelta(seconds=row[0])).strftime(form),
             *(german(f'{cell:.9f}') for cell in row[1:])] for row in ROWS]


def in_units(time, position, signal):
    return [f't [{time}]', *(f'q{k} [{position}]' for k in (1, 2, 3)),
            *(f'tau{k} [{signal}]' for k in (1, 2, 3))]


RIGHT = {
    'separators behind all rows': table([[*row, ''] for row in ROWS], [*NAMES, ''], ';'),
    'separators behind rows alone': table([[*row, ''] for row in ROWS]),
    'separators behind the header alone': table(ROWS, [*NAMES, '', '']),
    'cells behind the names': table([[*row, '', '7'] for row in ROWS], [*NAMES, '', '']),
    'bars': table(ROWS, separator='|'),
    'commas in quoted names': table(ROWS, [f'"{name}, {unit}"' for name, unit in zip(
        NAMES, ['s', *['rad'] * 3, *['Nm'] * 3], strict=True)]),
    'quoted decimal commas': table(cells(lambda cell: '"' + german(f'{cell:.9f}') + '"')),
    'no decimals in some cells': table(
        [['0', '0', '0.841470985', '0.909297427', '1500', *ROWS[0][5:]], *ROWS[1:]],
        separator=';').replace('.', ','),
    'turns and minutes': table(
        np.column_stack([T / 60, Q / (2 * np.pi), TAU / 1e3]), in_units('min', 'rev', 'kNm')),
    'units in brackets below': table([['(ms)', *['(deg)'] * 3, *['[mNm]'] * 3], *np.column_stack(
        [1e3 * T, np.degrees(Q), 1e3 * TAU]).tolist()]),
    'day first': table(dated('%d.%m.%Y %H:%M:%S.%f'), ['Datum', *NAMES[1:]], ';'),
    'day first, decimal commas': table(
        dated('%d.%m.%Y %H:%M:%S,%f'), ['Datum', *NAMES[1:]], '\t'),
}


@pytest.mark.parametrize('kind', RIGHT)
def test_odd_forms_are_read_right(tmp_path, arm, kind):
    path = tmp_path / 'a.csv'
    path.write_text(RIGHT[kind])
    log = read_recording(path, arm)
    np.testing.assert_allclose(log.t, T, atol=1e-6)
    np.testing.assert_allclose(log.q, Q, atol=1e-7)
    np.testing.assert_allclose(log.u, TAU, atol=1e-4)
    assert not [defect for defect in log.defects if defect.severity != 'info']


def test_words_for_a_lost_value_are_no_damage(tmp_path, arm):
    words = ('NA', '-nan(ind)', 'null', 'n/a', '', 'NaN')
    rows = [[row[0], words[k % len(words)] if k % 3 else row[1], *row[2:]]
            for k, row in enumerate(ROWS)]
    path = tmp_path / 'a.csv'
    path.write_text(table(rows))
    log = read_recording(path, arm)
    np.testing.assert_array_equal(np.isnan(log.q[:, 0]), np.arange(40) % 3 > 0)
    assert log.defects == ()


#: Contents, each of which once gave a recording with wrong values, or none that named the cause.
REFUSED = {
    # As R writes numbers of rows, without a name of their own.
    'a column without a name': (
        table([[f'"{k}"', *row] for k, row in enumerate(ROWS)], [f'"{name}"' for name in NAMES]),
        r'7 names in its header \(t, q1 \.\.\. q3, tau1 \.\.\. tau3\), but rows of 8 cells'),
    'decimal commas between commas': (
        table(ROWS).replace('.', ','), r'rows of 14 cells.* decimal commas by semicolons'),
    'thousands without decimals': (
        table([[*row[:4], *(f'{cell:,.0f}' for cell in row[4:])] for row in ROWS], separator='\t'),
        r'column tau1: "1,500" is not a number with "\." before its decimals'),
    'thousands with decimals': (
        table(cells(lambda cell: german(f'{cell:,.6f}')), separator=';'),
        r'column tau1: "1\.500,000000" is not a number with "," before its decimals'),
    'quoted thousands': (
        table(cells(lambda cell: f'"{cell:,.6f}"')), r'"1,500\.000000" is not a number with "\."'),
    'counts of encoders': (
        table(ROWS, in_units('s', 'counts', 'Nm')), r'q1 \[counts\] is in counts.*table\.unit'),
}


@pytest.mark.parametrize('kind', REFUSED)
def test_what_could_be_another_number_is_refused(tmp_path, arm, kind):
    content, said = REFUSED[kind]
    path = tmp_path / 'a.csv'
    path.write_text(content)
    with pytest.raises(RecordingError, match=said):
        read_recording(path, arm)


def test_counts_are_read_where_the_drive_turns_them_into_angles(tmp_path, arm):
    path = tmp_path / 'a.csv'
    path.write_text(REFUSED['counts of encoders'][0])
    log = read_recording(path, replace(arm, table=Table(unit='rad')))
    np.testing.assert_allclose(log.q, Q, atol=1e-8)
