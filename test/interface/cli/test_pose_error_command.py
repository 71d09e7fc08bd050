# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid pose-error`` and ``dynid external-force`` as a user runs them."""

import json
import re

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.external_force import external_force as force_matrix
from dynid_ros.dynamics.rigid_body import inverse_dynamics
from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.output import print_answer
from dynid_ros.interface.cli.main import build_parser, main


def run(*words):
    args = build_parser(words[:1]).parse_args(words)
    return print_answer(args.run(args), args)


def test_table_at_one_position_names_groups_and_largest_sources(capsys):
    assert run('pose-error', 'hand_leg', '--at', '0', '-30', '90', '-90', '--deg', '-v') == 0
    text = capsys.readouterr().out
    assert 'at q = [0, -0.5236' in text
    assert re.search(r'^  base +0\.6164° +6\.7507 mm +83\.5 %$', text, re.MULTILINE)
    assert re.search(r'^  all +0\.7348° +7\.3880 mm +100\.0 %$', text, re.MULTILINE)
    assert 'base, about y' in text


def test_workspace_says_where_errors_are_largest(capsys):
    assert run('pose-error', 'panda', '--workspace', '--json') == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['positions'] == 500
    assert facts['assumed']
    assert facts['worst']['position_std'] > facts['position_std'] > 0
    assert len(facts['worst']['q']) == 7


def test_assumed_tolerances_are_stated_and_scale_the_answer(capsys):
    run('pose-error', 'panda')
    text = capsys.readouterr().out
    assert 'The arm states no tolerances: 0.05 degrees for every angle and 0.2 mm' in text
    run('pose-error', 'panda', '--json')
    once = json.loads(capsys.readouterr().out)
    run('pose-error', 'panda', '--angle-std', '0.1', '--length-std', '0.4', '--json')
    twice = json.loads(capsys.readouterr().out)
    assert twice['position_std'] == pytest.approx(2 * once['position_std'])


@pytest.mark.parametrize('ending', ['svg', 'png'])
def test_the_picture_is_written(tmp_path, ending, capsys):
    path = tmp_path / f'arm.{ending}'
    assert run('pose-error', 'hand_leg', '-o', str(path)) == 0
    start = path.read_bytes()[:300]
    assert (b'PNG' if ending == 'png' else b'<svg') in start or b'<?xml' in start
    assert f'Wrote {path}.' in capsys.readouterr().out


def test_a_picture_of_unknown_kind_is_refused(tmp_path):
    with pytest.raises(InputError, match=r'must end in one of \.svg, \.png, \.pdf'):
        run('pose-error', 'hand_leg', '-o', str(tmp_path / 'arm.gif'))


def test_too_few_positions_are_refused_with_the_joints():
    with pytest.raises(InputError, match='--at needs 4 numbers, not 2: one for each of hip'):
        run('pose-error', 'hand_leg', '--at', '0', '1')


def test_a_position_outside_the_limits_is_warned_of_in_one_line(capsys):
    assert main(['pose-error', 'panda', '--at', *['0'] * 7]) == 0
    error = capsys.readouterr().err
    assert error.count('\n') == 1
    assert error.startswith("warning: q of joint 'fer_joint4' is 0, outside its limits")


def test_external_force_prints_the_torque_that_holds_the_arm(capsys):
    q = ['0', '-1', '1', '0.5', '0.5', '0']
    assert run('external-force', 'ur10', '--wrench', '0', '0', '0', '0', '0', '-50',
               '--at', *q, '--json') == 0
    facts = json.loads(capsys.readouterr().out)
    arm, at = load_arm('ur10'), np.array(q, dtype=float)
    fext = force_matrix(arm, 'tool', [0, 0, 0, 0, 0, -50.0], at)
    np.testing.assert_allclose(
        [joint['holding'] for joint in facts['joints']], inverse_dynamics(arm, at, fext=fext))


def test_a_wrench_beyond_the_drives_gives_status_one_and_names_the_joint(capsys):
    assert run('external-force', 'panda', '--wrench', '0', '0', '0', '0', '0', '-500',
               '--in-base') == 1
    text = capsys.readouterr().out
    assert re.search(r'fer_joint6 .*above its limit', text)


def test_wrong_wrench_and_body_are_refused_in_words():
    with pytest.raises(InputError, match=r'\[Tx Ty Tz Fx Fy Fz\]'):
        run('external-force', 'panda', '--wrench', '1', '2')
    with pytest.raises(InputError, match='did you mean "elbow_joint"'):
        run('external-force', 'ur10', '--body', 'elbow', '--wrench', *['0'] * 6)
