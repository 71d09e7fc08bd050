# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid replay`` as a user calls it."""

from pathlib import Path

import numpy as np
import pytest
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.data.files.bag_writer import write_joint_states
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import DynidError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.interface.cli.common.output import print_answer
from dynid_ros.interface.cli.main import build_parser
from dynid_ros.motion.excitation.random_motion import random_motion

pytestmark = pytest.mark.slow
EXCERPT = Path(__file__).resolve().parents[2] / 'excerpts/panda/excerpt.npz'


@pytest.fixture
def run():
    parser = build_parser(['replay'])

    def call(*arguments):
        parsed = parser.parse_args(['replay', *map(str, arguments)])
        return print_answer(parsed.run(parsed), parsed)

    return call


def test_it_writes_result_history_and_plot(run, shared_data, tmp_path, capsys):
    bag = shared_data / 'panda' / 'panda_exciting_trajectory.db3'
    assert run(bag, '--arm', 'panda', '-o', tmp_path) == 0
    said = 'predicts torque on the last third of the samples before their use'
    assert said in capsys.readouterr().out
    result = read_result(tmp_path)
    with np.load(tmp_path / 'history.npz') as history:
        assert history['theta'].shape[1] == len(history['names']) == len(result.theta)
        assert history['std'].shape == history['source'].shape == history['theta'].shape
        # Estimates are unconstrained until the result, which is the possible one nearest to them.
        near = np.abs(history['theta'][-1] - result.theta) < 2 * history['std'][-1]
        assert near.mean() > 0.9 and (history['source'][-1] == 'data').mean() > 0.89
    assert (tmp_path / 'history.svg').read_text().lstrip().startswith('<?xml')
    described = load_arm(tmp_path / 'robot_description.urdf')
    np.testing.assert_allclose(
        described.inertial, result.possible_arm.inertial, rtol=1e-6, atol=1e-9)


@pytest.fixture(scope='module')
def batch(tmp_path_factory):
    """Make a bag of a simulated arm, and a batch result with friction that its arm.yaml lacks."""
    folder, arm = tmp_path_factory.mktemp('batch'), load_arm('two_axis')
    log = followed(arm, random_motion(arm, 3, period=5.0, periods=2, tries=30), 200.0, seed=3)
    write_joint_states(folder / 'bag', log.joint_names, log.t, log.q, log.qd, log.u)
    log = read_recording(folder / 'bag', arm)
    result = identify(arm, [log], friction=('viscous', 'coulomb_smooth', 'load'))
    write_result(result, folder / 'result')
    return folder


def test_it_starts_from_a_result_without_an_arm(run, batch, tmp_path):
    first = read_result(batch / 'result')
    assert run(batch / 'bag', '--start', batch / 'result', '-o', tmp_path) == 0
    result = read_result(tmp_path)
    assert result.arm.friction == first.arm.friction == ('viscous', 'coulomb_smooth', 'load')
    assert result.treatment.cutoff_hz == first.treatment.cutoff_hz
    assert load_arm(tmp_path / 'robot_description.urdf').joint_names == first.arm.joint_names
    # The same arm may be given, too.
    assert run(batch / 'bag', '--start', batch / 'result', '--arm', 'two_axis',
               '-o', tmp_path / 'both') == 0
    np.testing.assert_array_equal(read_result(tmp_path / 'both').theta, result.theta)


def test_a_description_of_an_earlier_run_does_not_stay_beside_a_poor_result(run, batch, tmp_path):
    log = read_recording(batch / 'bag', load_arm('two_axis'))
    # Two seconds are too few for the online estimator.
    np.savez(tmp_path / 'log.npz', t=log.t[:400], q=log.q[:400], u=log.u[:400])
    (tmp_path / 'robot_description.urdf').write_text('<robot/><!-- by dynid_ros -->')
    assert run(tmp_path / 'log.npz', '--arm', 'two_axis', '-o', tmp_path) == 1
    assert not (tmp_path / 'robot_description.urdf').exists()


@pytest.mark.parametrize(('arguments', 'words'), [
    (('--start', 'nowhere'), 'nowhere cannot be read'),
    (('--start', 'RESULT', '--arm', 'panda'), "the arm 'panda' has another joint_names"),
    (('--start', 'RESULT', '--payload', 'RESULT'), 'or --payload DIR alone'),
    ((), 'give --arm ARM'),
])
def test_a_start_that_cannot_be_is_one_sentence(run, batch, tmp_path, arguments, words):
    given = [batch / 'result' if word == 'RESULT' else word for word in arguments]
    with pytest.raises(DynidError, match=words) as error:
        run(batch / 'bag', *given, '-o', tmp_path)
    assert '\n' not in str(error.value)


def test_a_start_of_other_joints_than_the_recording_is_refused(run, batch, tmp_path):
    with pytest.raises(DynidError, match=r'for arm_joint, .*: q_0 \.\.\. q_6 do not fit'):
        run(EXCERPT, '--start', batch / 'result', '-o', tmp_path)
