# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Where the disk is full, a command says so in one line and leaves nothing under a final name."""

from contextlib import contextmanager
from pathlib import Path
import resource

import numpy as np
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_file import write_motion

ARM = """\
description: {mdh: {units: {length: m, angle: deg}, rows: [
  {alpha: 0, a: 0, d: 0.1, theta: 0}, {alpha: 90, a: 0.3, d: 0, theta: 0}]}}
limits: {lower: [-2, -2], upper: [2, 2], velocity: [2, 2], acceleration: [5, 5]}
nominal: {links: [{mass: 2, com: [0.1, 0, 0], inertia: [0.01, 0, 0, 0.02, 0, 0.02]},
                  {mass: 1, com: [0.1, 0, 0], inertia: [0.01, 0, 0, 0.02, 0, 0.02]}]}
"""
GIVEN = {'arm.yaml', 'log.npz', 'motion.yaml'}
T = np.arange(600) / 100
Q = np.stack([np.sin(2 * T), np.cos(2.6 * T)], axis=1)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'arm.yaml').write_text(ARM)
    arm = load_arm(tmp_path / 'arm.yaml')
    write_motion(tmp_path / 'motion.yaml', random_motion(arm, 0, 3.0, periods=1, tries=30), arm)
    np.savez(tmp_path / 'log.npz', t=T, q=Q, tau=np.stack([-Q[:, 0], 3 * Q[:, 1]], axis=1))
    return tmp_path


@contextmanager
def largest_file(size):
    """Let no file grow beyond a size, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def files(folder: Path):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob('*') if p.is_file())


@pytest.mark.slow
@pytest.mark.usefixtures('figures_alone')
@pytest.mark.parametrize(('command', 'sizes'), [
    (['identify', 'log.npz', '--arm', 'arm.yaml', '--friction', 'viscous', '-o', 'out'],
     (40_000,)),
    (['replay', 'log.npz', '--arm', 'arm.yaml', '-o', 'out'], (60_000,)),
    (['simulate', 'arm.yaml', 'motion.yaml', '-o', 'out'], (5_000,)),
    (['design', 'arm.yaml', '--harmonics', '2', '--starts', '1', '--time', '1', '-o', 'out',
      '--export', 'out.csv'], (100, 5_000)),
    (['pose-error', 'arm.yaml', '-o', 'out.svg'], (1_000,)),
])
def test_nothing_is_left_half_written(command, sizes, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    # Caches of compiled functions and of fonts are written before.
    assert main(command) in (0, 1)
    whole = set(files(folder)) - GIVEN
    assert whole
    capsys.readouterr()
    for size in sizes:
        again = folder / str(size)
        again.mkdir()
        monkeypatch.chdir(again)
        for name in GIVEN:
            (again / name).symlink_to(folder / name)
        with largest_file(size):
            assert main(command) == 2
        told = capsys.readouterr().err.splitlines()
        # rosbag2 does not tell why.
        assert ('cannot be written: file too large' in told[-1]
                or 'cannot be written: the file was cut short' in told[-1]), told
        left = set(files(again)) - GIVEN
        # A motion may be complete where its samples are too large.
        assert left <= {'out'} and not (left and size < 1_000), left
