# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Tables with damaged rows are read as far as possible; damaged files give one clear line."""

from dataclasses import replace
import io
import tracemalloc
from unittest.mock import patch
import zipfile

from bag_files import Motion
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.model import Table
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.tables import array_table
from dynid_ros.errors import RecordingError

N, ROWS = 3, 1000
MOTION = Motion(['j1', 'j2', 'j3'], samples=ROWS)
HEADER = ['t', *(f'{stem}_{i}' for stem in ('q', 'tau') for i in range(N))]
BLOCK = np.column_stack([MOTION.t, MOTION.q, MOTION.effort])


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), N, prismatic=False)


def lines(header=HEADER, values=BLOCK):
    """Lines of a table; line 1 is the header, as editors count."""
    rows = [','.join(map(repr, row)).encode() for row in np.asarray(values).tolist()]
    return [','.join(header).encode(), *rows]


def written(path, content):
    path.write_bytes(b'\n'.join(content) + b'\n')
    return path


def cell(line, name, value):
    cells = line.split(b',')
    cells[HEADER.index(name)] = value
    return b','.join(cells)


DAMAGE = {
    'a word': (lambda line: cell(line, 'tau_1', b'abc'), 'column tau_1: "abc" is not a number'),
    'no time': (lambda line: cell(line, 't', b''), 'column t: the cell is empty'),
    'cut': (lambda line: b','.join(line.split(b',')[:2]), 'column q_1: the cell is empty'),
    'two lines in one': (lambda line: line + b',' + line, ': 14 cells, where other rows have 7'),
    'bytes': (lambda _: b'\x00\xff\xfe\x80' * 5, 'column t: "'),
    'bytes and separators': (lambda line: b'\xff,\x80' + line, 'is not a number'),
}


@pytest.mark.parametrize('kind', DAMAGE)
def test_few_damaged_rows_are_left_out_and_reported_with_their_lines(tmp_path, arm, kind):
    spoil, why = DAMAGE[kind]
    content = lines()
    places = [42, 97, *range(600, 640)]
    for place in places:
        content[place - 1] = spoil(content[place - 1])
    log = read_recording(written(tmp_path / 'a.csv', content), arm)
    kept = np.delete(np.arange(ROWS), np.array(places) - 2)
    np.testing.assert_array_equal(log.t, MOTION.t[kept])
    np.testing.assert_array_equal(log.q, MOTION.q[kept])
    np.testing.assert_array_equal(log.u, MOTION.effort[kept])
    (defect,) = log.defects
    assert (defect.code, defect.severity, defect.count) == ('rows_unreadable', 'warning', 42)
    assert 'a.csv' in defect.message and 'lines 42, 97, 600, ' in defect.message
    assert 'line 42' in defect.message and why in defect.message
    assert defect.message.isprintable()


def test_an_empty_cell_beside_numbers_is_a_lost_value_of_its_column(tmp_path, arm):
    # So pandas writes NaN; such rows may be many, as each column has its own.
    content = lines()
    for k, name in enumerate(('q_0', 'tau_1', 'tau_2')):
        content[20 + k::30] = [cell(line, name, b'') for line in content[20 + k::30]]
    log = read_recording(written(tmp_path / 'a.csv', content), arm)
    q, u = MOTION.q.copy(), MOTION.effort.copy()
    q[19::30, 0] = u[20::30, 1] = u[21::30, 2] = np.nan
    np.testing.assert_array_equal(log.q, q)
    np.testing.assert_array_equal(log.u, u)
    assert log.defects == ()


def test_blanks_of_any_kind_beside_a_number_are_no_damage(tmp_path, arm):
    content = lines()
    content[41] = content[41].replace(b',', b'\x1f,', 1)
    content[42] = content[42] + b',1'
    log = read_recording(written(tmp_path / 'a.csv', content), arm)
    np.testing.assert_array_equal(log.q, np.delete(MOTION.q, 41, axis=0))


@pytest.mark.parametrize('kind', DAMAGE)
def test_many_damaged_rows_are_refused_with_the_first(tmp_path, arm, kind):
    spoil, why = DAMAGE[kind]
    content = lines()
    content[41::18] = map(spoil, content[41::18])
    with pytest.raises(RecordingError, match=r'a\.csv, line 42') as caught:
        read_recording(written(tmp_path / 'a.csv', content), arm)
    assert why in str(caught.value) and '5 % of the 1000 rows' in str(caught.value)
    assert '\n' not in str(caught.value)


@settings(max_examples=25)
@given(st.dictionaries(st.integers(2, ROWS + 1), st.binary(max_size=40), max_size=5))
def test_any_bytes_in_few_lines_leave_the_other_rows(tmp_path_factory, wrong):
    arm = random_arm(np.random.default_rng(0), N, prismatic=False)
    content = lines()
    for place, data in wrong.items():
        content[place - 1] = b'x' + data.replace(b'\n', b'').replace(b'\r', b'').replace(b'#', b'')
    log = read_recording(written(tmp_path_factory.mktemp('any') / 'a.csv', content), arm)
    kept = np.delete(np.arange(ROWS), np.array(list(wrong), dtype=int) - 2)
    np.testing.assert_array_equal(log.q, MOTION.q[kept])
    assert [d.count for d in log.defects] == ([len(wrong)] if wrong else [])


def test_a_row_that_one_of_two_files_lacks_is_left_out_of_both(tmp_path, arm):
    axes = ('a', 'b', 'c')
    table = Table(rate_hz=100.0, position=axes, signal=axes, signal_file='current.csv')
    positions, currents = lines(axes, MOTION.q), lines(axes, MOTION.effort)
    positions[10], currents[20] = b'broken', b'1,2'
    written(tmp_path / 'current.csv', currents)
    log = read_recording(
        written(tmp_path / 'position.csv', positions), replace(arm, table=table))
    kept = np.delete(np.arange(ROWS), [9, 19])
    # The clock of a table without stamps counts the rows that are left out.
    np.testing.assert_array_equal(log.t, MOTION.t[kept])
    np.testing.assert_array_equal(log.q, MOTION.q[kept])
    np.testing.assert_array_equal(log.u, MOTION.effort[kept])
    assert [d.message.split(' rows of ')[1][:9] for d in log.defects] == ['position.', 'current.c']


@pytest.mark.parametrize('first', [np.nan, np.inf, 0.0, 1e18])
def test_a_wrong_first_stamp_does_not_cost_the_others_their_digits(tmp_path, arm, first):
    t = MOTION.t + 1.7e9
    t[0] = first
    np.savez(tmp_path / 'a.npz', t=t, q=MOTION.q, tau=MOTION.effort)
    log = read_recording(tmp_path / 'a.npz', arm)
    # Stamps of 1.7e9 s have a resolution of 2.4e-7 s.
    np.testing.assert_allclose(np.diff(log.t[1:]), 0.01, atol=5e-7)


@pytest.mark.parametrize('names', [
    ('q_1', 'q_01', 'q_2'), ('q_0', 'q_1', 'q_9'), ('q_0', 'q_3', 'q_1'), ('q_4', 'q_5', 'q_6')])
def test_columns_that_cannot_be_assigned_are_named(tmp_path, arm, names):
    path = written(tmp_path / 'a.csv', lines(['t', *names, *HEADER[4:]]))
    with pytest.raises(RecordingError, match='no columns of position for j1, j2, j3: ') as caught:
        read_recording(path, arm)
    assert f'{path} ' in str(caught.value) and f'{names[0]}' in str(caught.value)
    assert f'{names[2]} do not fit; it has t' in str(caught.value)


def test_a_column_that_is_named_twice_is_refused_if_it_is_used(tmp_path, arm):
    table = Table(position=('a', 'b', 'c'))
    content = lines(['t', 'a', 'b', 'b', *HEADER[4:]])
    with pytest.raises(RecordingError, match='the name b 2 times, for the columns 3 and 4;'):
        read_recording(written(tmp_path / 'a.csv', content),
                       replace(arm, table=replace(table, position=('a', 'b', 'b'))))
    content = lines(['t', 'q_1', 'q_1', 'q_2', *HEADER[4:]])
    with pytest.raises(RecordingError, match='the name q_1 2 times, for the columns 2 and 3;'):
        read_recording(written(tmp_path / 'a.csv', content), arm)
    unused = [line + b',0,0' for line in lines([*HEADER, 'x', 'x'])]
    unused[0] = unused[0][:-4]
    log = read_recording(written(tmp_path / 'b.csv', unused), arm)
    np.testing.assert_array_equal(log.q, MOTION.q)


def test_binary_content_is_refused(tmp_path, arm):
    for name in ('a.csv', 'a.npz'):
        (tmp_path / name).write_bytes(b'\xff\xfe\x80binary')
        with pytest.raises(RecordingError, match=name) as caught:
            read_recording(tmp_path / name, arm)
        assert '\n' not in str(caught.value)


ARRAYS = {'t': MOTION.t, 'q': MOTION.q, 'tau': MOTION.effort}


def packed(method=zipfile.ZIP_STORED, header=None):
    """Write an npz file by hand: with any zip method, and any npy header of q."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, 'w', method) as file:
        for name, array in ARRAYS.items():
            data = io.BytesIO()
            np.save(data, array)
            raw = data.getvalue()
            if name == 'q' and header is not None:
                raw = raw.replace(b'(1000, 3)', header)
            file.writestr(f'{name}.npy', raw)
    return content.getvalue()


@pytest.fixture(params=[False, True], ids=['read', 'mapped'])
def mapped(request, monkeypatch):
    """Let arrays of any length stay in their file, or none."""
    monkeypatch.setattr(array_table, 'MAPPED', 0 if request.param else 2**26)


@pytest.mark.usefixtures('mapped')
@pytest.mark.parametrize('method', [
    zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_zip_method_of_python_is_read(tmp_path, arm, method):
    (tmp_path / 'a.npz').write_bytes(packed(method))
    log = read_recording(tmp_path / 'a.npz', arm)
    np.testing.assert_array_equal(log.q, MOTION.q)
    np.testing.assert_array_equal(log.u, MOTION.effort)


@pytest.mark.usefixtures('mapped')
def test_arrays_of_columns_in_a_row_are_read(tmp_path, arm):
    arrays = {name: np.asfortranarray(array) for name, array in ARRAYS.items()}
    np.savez(tmp_path / 'a.npz', **arrays)
    log = read_recording(tmp_path / 'a.npz', arm)
    np.testing.assert_array_equal(log.t, MOTION.t)
    np.testing.assert_array_equal(log.q, MOTION.q)


def refused(path, arm):
    tracemalloc.start()
    try:
        with pytest.raises(RecordingError) as caught:
            read_recording(path, arm)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    line = str(caught.value)
    assert line.startswith(f'{path} ') and '\n' not in line
    # The arrays take 56 kB.
    assert most < 5e6
    return line


def test_an_array_under_the_name_of_an_npz_file_is_refused(tmp_path, arm):
    np.save(tmp_path / 'a.npy', MOTION.q)
    (tmp_path / 'a.npy').rename(tmp_path / 'a.npz')
    assert 'not a zip file; write it again with numpy.savez' in refused(tmp_path / 'a.npz', arm)


@pytest.mark.usefixtures('mapped')
def test_a_header_that_claims_more_rows_than_the_file_holds_allocates_nothing(tmp_path, arm):
    # The header is padded, so that its length stays when the spaces behind it go.
    for claim in (b'(10000000000000, 3)', b'(-5, 3)', b'(999, 3)', b'(1000, 2)'):
        header = claim.ljust(len(b'(1000, 3)'))
        raw = packed(header=header)
        (tmp_path / 'a.npz').write_bytes(raw)
        refused(tmp_path / 'a.npz', arm)


def test_an_unknown_zip_method_is_refused(tmp_path, arm):
    raw = bytearray(packed())
    for mark, offset in ((b'PK\x03\x04', 8), (b'PK\x01\x02', 10)):
        at = raw.find(mark)
        while at >= 0:
            raw[at + offset:at + offset + 2] = (97).to_bytes(2, 'little')
            at = raw.find(mark, at + 1)
    (tmp_path / 'a.npz').write_bytes(bytes(raw))
    assert 'compression' in refused(tmp_path / 'a.npz', arm)


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.integers(0, 255), st.booleans(), st.booleans())
def test_a_flipped_byte_gives_the_recording_or_one_clear_line(
    tmp_path_factory, place, value, deflated, mapped
):
    arm = random_arm(np.random.default_rng(0), N, prismatic=False)
    raw = bytearray(packed(zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED))
    raw[place % len(raw)] = value
    path = tmp_path_factory.mktemp('flip') / 'a.npz'
    path.write_bytes(bytes(raw))
    try:
        with patch.object(array_table, 'MAPPED', 0 if mapped else 2**26):
            log = read_recording(path, arm)
    except RecordingError as error:
        assert str(path) in str(error) and '\n' not in str(error)
    else:
        np.testing.assert_array_equal(log.q, MOTION.q)
