# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Topics in one table, each in rows of its own, as PlotJuggler exports them."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.quality import check_recording
from dynid_ros.errors import RecordingError

JOINTS = ('pan', 'lift', 'elbow')
SECONDS = 20.0


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), 3, prismatic=False).with_tree(joint_names=JOINTS)


def positions(t):
    return np.sin(1.3 * t[:, None] + np.arange(3))


def signals(t):
    return 5 * np.cos(0.9 * t[:, None] + np.arange(3))


def exported(path, topics):
    """Write topics, each of names, times and values, in the order of time, one a row."""
    names = [name for columns, _, _ in topics for name in columns]
    rows, first = [], 0
    for columns, t, values in topics:
        for time, row in zip(t, values, strict=True):
            cells = [''] * len(names)
            cells[first:first + len(columns)] = [f'{x:.12g}' for x in row]
            rows.append((time, [f'{1.7e9 + time:.6f}', *cells]))
        first += len(columns)
    rows.sort(key=lambda row: row[0])
    lines = [['__time', *names], *(cells for _, cells in rows)]
    path.write_text('\n'.join(','.join(line) for line in lines) + '\n')
    return path


def named(kind):
    return [f'/{kind}s/{name}/{kind}' for name in JOINTS]


def times(rate, shift=0.0):
    return np.arange(shift, SECONDS, 1 / rate)


@pytest.mark.parametrize(('rate', 'other'), [(100, 100), (100, 250), (250, 100), (100, 1000)])
def test_signals_are_interpolated_to_the_rows_of_positions(tmp_path, arm, rate, other):
    t, own = times(rate, 0.005), times(other, 0.0013)
    log = read_recording(exported(tmp_path / 'a.csv', [
        (named('position'), t, positions(t)), (named('effort'), own, signals(own))]), arm)
    inner = t[(t >= own[0]) & (t <= own[-1])]
    # Times since the first row that is kept; the file has microseconds of a clock of 1.7e9 s.
    np.testing.assert_allclose(log.t - log.t[0], inner - inner[0], atol=2e-6)
    np.testing.assert_allclose(log.q, positions(inner), atol=1e-5)
    # Between samples, a line differs by an eighth of the square of the step.
    np.testing.assert_allclose(log.u, signals(inner), atol=4 / other**2 + 1e-5)
    (joined,) = (d for d in log.defects if d.code == 'rows_joined')
    assert (joined.severity, joined.count) == ('info', len(t))
    assert 'signal values are in rows of their own' in joined.message
    assert not [d for d in check_recording(log, arm) if d.severity != 'info']


def test_each_joint_may_have_topics_of_its_own(tmp_path, arm):
    topics = []
    for k, name in enumerate(JOINTS):
        t, own = times(100, 0.001 + 0.003 * k), times(100, 0.0007 + 0.002 * k)
        topics += [([f'/{name}/position/data'], t, positions(t)[:, k:k + 1]),
                   ([f'/{name}/effort/data'], own, signals(own)[:, k:k + 1])]
    log = read_recording(exported(tmp_path / 'a.csv', topics), arm)
    start = 0.011
    np.testing.assert_allclose(
        log.q, positions(start + log.t - log.t[0]), atol=2e-5)
    np.testing.assert_allclose(log.u, signals(start + log.t - log.t[0]), atol=2e-3)
    assert not [d for d in check_recording(log, arm) if d.severity != 'info']


def test_a_stamp_that_some_rows_lack_is_no_time_of_all(tmp_path, arm):
    t, own = times(100), times(100, 0.003)
    path = exported(tmp_path / 'a.csv', [
        (['/positions/header/stamp', *named('position')], t,
         np.column_stack([1.7e9 + t, positions(t)])),
        (named('effort'), own, signals(own))])
    with pytest.raises(RecordingError, match=(
            r'column /positions/header/stamp: the cell is empty \(where another column holds the '
            r'time of all rows, name it in table\.time of arm\.yaml\)')):
        read_recording(path, arm)
    log = read_recording(path, replace(arm, table=replace(arm.table, time='__time')))
    np.testing.assert_allclose(log.u, signals(t[1:]), atol=1e-3)


def test_positions_far_from_signals_are_left_out(tmp_path, arm):
    t, own = times(100), times(100, 0.003)
    own = own[(own < 8) | (own > 9)]
    log = read_recording(exported(tmp_path / 'a.csv', [
        (named('position'), t, positions(t)), (named('effort'), own, signals(own))]), arm)
    assert not ((log.t > 8.01) & (log.t < 8.99)).any() and np.isfinite(log.u).all()
    (joined,) = (d for d in log.defects if d.code == 'rows_joined')
    assert joined.severity == 'info' and '102 of which are left out' in joined.message


def test_a_signal_without_rows_is_lost_as_before(tmp_path, arm):
    t = times(100)
    u = signals(t)
    u[:1500, 1] = np.nan
    path = exported(tmp_path / 'a.csv', [
        ([*named('position'), *named('effort')], t, np.column_stack([positions(t), u]))])
    path.write_text(path.read_text().replace('nan', ''))
    log = read_recording(path, arm)
    assert np.isnan(log.u[:1500, 1]).all() and len(log.t) == len(t)
    assert [d.code for d in check_recording(log, arm) if d.severity == 'error'] == ['effort_nan']


def test_a_passive_joint_has_no_signal_in_any_row(tmp_path, arm):
    t, own = times(100), times(100, 0.003)
    u = signals(own)
    u[:, 2] = np.nan
    path = exported(tmp_path / 'a.csv', [
        (named('position'), t, positions(t)), (named('effort'), own, u)])
    path.write_text(path.read_text().replace('nan', ''))
    free = replace(arm, drive=replace(arm.drive, passive=np.array([False, False, True])))
    assert not [d for d in check_recording(read_recording(path, free), free)
                if d.severity == 'error']
