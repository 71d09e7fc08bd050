"""``dynid replay`` as a user calls it."""

import argparse
from pathlib import Path

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.cli import replay
from dynid_ros.storage.result_file import read_result

pytestmark = pytest.mark.slow
EXCERPT = Path(__file__).resolve().parents[1] / 'data/panda/excerpt.npz'


@pytest.fixture
def run():
    parser = argparse.ArgumentParser()
    replay.add_parser(parser.add_subparsers())

    def call(*arguments):
        parsed = parser.parse_args(['replay', *map(str, arguments)])
        return parsed.run(parsed)

    return call


def test_it_writes_result_history_and_plot(run, shared_data, tmp_path, capsys):
    bag = shared_data / 'panda' / 'panda_exciting_trajectory.db3'
    assert run(bag, '--arm', 'panda', '-o', tmp_path) == 0
    assert 'predicted before it was used' in capsys.readouterr().out
    result = read_result(tmp_path)
    with np.load(tmp_path / 'history.npz') as history:
        np.testing.assert_array_equal(history['theta'][-1], result.theta)
        assert history['std'].shape == history['theta'].shape
        assert len(history['names']) == len(result.theta)
    assert (tmp_path / 'history.svg').read_text().lstrip().startswith('<?xml')
    described = load_arm(tmp_path / 'robot_description.urdf')
    np.testing.assert_allclose(
        described.inertial, result.possible_arm.inertial, rtol=1e-6, atol=1e-9)


def test_a_description_of_an_earlier_run_does_not_stay_beside_a_poor_result(run, tmp_path):
    (tmp_path / 'robot_description.urdf').write_text('of another run')
    # Five seconds are too few for the online estimator.
    assert run(EXCERPT, '--arm', 'panda', '-o', tmp_path) == 1
    assert not (tmp_path / 'robot_description.urdf').exists()
