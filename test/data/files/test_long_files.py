# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Long bags and tables are read part by part, and hold the same samples."""

from dataclasses import replace
import tracemalloc

from bag_files import Motion, write_bag
import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.drive import DriveTopic
from dynid_ros.arm.load import load_arm
from dynid_ros.data.files import bags
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.quality import clean, defects_of
from dynid_ros.utilities import in_blocks

NAMES = ['j1', 'j2', 'j3']


@pytest.fixture(autouse=True)
def as_if_long(monkeypatch):
    for module, name, value in (
            (in_blocks, 'SAMPLES_PER_BLOCK', 61), (bags, 'DECODED_TOGETHER', 47)):
        monkeypatch.setattr(module, name, value)


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), 3, prismatic=False)


def reversed_order(message):
    return replace(message, names=message.names[::-1], position=message.position[::-1],
                   velocity=message.velocity[::-1], effort=message.effort[::-1])


@pytest.mark.parametrize('mixed', [False, True])
@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_bag(tmp_path, arm, mixed, storage):
    motion = Motion(NAMES, samples=400)
    messages = [reversed_order(message) if mixed and k % 7 < 3 else message
                for k, message in enumerate(motion.messages())]
    log = read_recording(write_bag(tmp_path / 'bag', messages, storage), arm)
    np.testing.assert_allclose(log.t, motion.t, atol=1e-9)
    np.testing.assert_array_equal(log.q, motion.q)
    np.testing.assert_array_equal(log.qd, motion.qd)
    np.testing.assert_array_equal(log.u, motion.effort)


def test_a_bag_with_a_topic_for_the_drive_signal(tmp_path, arm):
    motion = Motion(NAMES, samples=400)
    states = motion.messages()
    # Signals come between joint states, at a third of their rate, and are linear in time.
    slope = np.linspace(0.0, 1.0, 400)[:, None] * [1.0, -2.0, 3.0]
    signals = [replace(message, effort=list(u), topic='/currents')
               for message, u in zip(states[::3], slope[::3], strict=True)]
    arm = replace(arm, drive=replace(arm.drive, topic=DriveTopic('currents')))
    both = sorted([*states, *signals], key=lambda message: message.stamp)
    log = read_recording(write_bag(tmp_path / 'bag', both), arm)
    np.testing.assert_array_equal(log.q, motion.q)
    np.testing.assert_allclose(log.u, slope, atol=1e-12)


@pytest.mark.parametrize('damaged', [(), (200,)])
def test_a_text_table(tmp_path, arm, damaged):
    motion = Motion(NAMES, samples=400)
    rows = [','.join(map(repr, map(float, row)))
            for row in np.column_stack([motion.t, motion.q, motion.effort])]
    for row in damaged:
        rows[row] = rows[row].replace('.', 'x', 1)
    header = ','.join(['t', *(f'{name}_{k}' for name in ('q', 'tau') for k in range(3))])
    path = tmp_path / 'walk.csv'
    path.write_text('\n'.join([header, *rows]))
    log = read_recording(path, arm)
    kept = np.setdiff1d(np.arange(400), damaged)
    np.testing.assert_array_equal(log.q, motion.q[kept])
    np.testing.assert_array_equal(log.u, motion.effort[kept])
    assert len(log.defects) == len(damaged)


def test_an_npz_file_without_stamps(tmp_path, arm):
    motion = Motion(NAMES, samples=400)
    path = tmp_path / 'walk.npz'
    np.savez(path, q=np.asfortranarray(motion.q.astype(np.float32)), tau=motion.effort)
    log = read_recording(path, arm, rate_hz=100.0)
    np.testing.assert_array_equal(log.t, np.arange(400) / 100.0)
    np.testing.assert_array_equal(log.q, motion.q.astype(np.float32))
    np.testing.assert_array_equal(log.u, motion.effort)


def test_samples_of_an_npz_file_are_not_copied_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(in_blocks, 'SAMPLES_PER_BLOCK', 1024)
    arm, path = load_arm('panda'), tmp_path / 'walk.npz'
    t = np.arange(60_000) / 1000.0
    middle = (arm.limits.upper + arm.limits.lower) / 2
    phase = np.linspace(1.0, 2.0, arm.n) * t[:, None]
    np.savez(path, t=t, q=middle + 0.2 * np.sin(phase), tau=5.0 * np.cos(phase))
    # What is imported once does not count.
    defects_of(read_recording(path, arm), arm)
    tracemalloc.start()
    log = read_recording(path, arm)
    held, reading = t.nbytes * (1 + 2 * arm.n), tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    defects_of(log, arm)
    checking = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Both are 2.8 and more with copies of all samples.
    assert reading < 1.4 * held
    assert checking < 1.4 * held
    assert clean(log, arm).q is log.q
