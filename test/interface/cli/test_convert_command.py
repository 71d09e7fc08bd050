# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid convert`` writes a rosbag2 of any recording, and says what was taken for what."""

from __future__ import annotations

import json

from bag_files import Motion
import numpy as np

from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.interface.cli.main import main

ARM = load_arm('two_axis')
MOTION = Motion(list(ARM.joint_names), samples=300)


def log(path, names):
    rows = np.column_stack([MOTION.t, MOTION.q, MOTION.effort])
    path.write_text('\n'.join([names, *(','.join(map(repr, row)) for row in rows.tolist())]))
    return str(path)


def test_names_of_the_recording_or_of_the_arm_stand_in_the_bag(tmp_path, capsys):
    path = log(tmp_path / 'log.csv', 'timestamp,pos_1,pos_2,u_1,u_2')
    assert main(['convert', path, '-o', str(tmp_path / 'numbers')]) == 0
    told = capsys.readouterr().out
    assert '300 samples of joint_1 and joint_2 in 3.0 s' in told
    assert 'columns_guessed' in told and 'position from pos_1 ... pos_2' in told
    assert main(['convert', path, '--arm', 'two_axis', '-o', str(tmp_path / 'bag'), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['joints'] == list(ARM.joint_names)
    # Values as recorded, so that the arm's drive still applies to them.
    ours, theirs = (read_recording(source, ARM) for source in (tmp_path / 'bag', path))
    np.testing.assert_allclose(ours.t, theirs.t, atol=1e-9)
    np.testing.assert_array_equal(ours.q, theirs.q)
    np.testing.assert_array_equal(ours.u, theirs.u)


def test_what_cannot_be_told_needs_an_arm(tmp_path, capsys):
    path = log(tmp_path / 'log.csv', 'a,b,c,d,e')
    assert main(['convert', path, '-o', str(tmp_path / 'bag')]) == 2
    assert str(path) in capsys.readouterr().err
    assert not (tmp_path / 'bag').exists()
