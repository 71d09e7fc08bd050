"""JointTrajectory files are read as they were written; each mistake is named by its point."""

import numpy as np
import pytest
import yaml

from dynid_ros.errors import DynidError
from dynid_ros.trajectory.trajectory_file import read_trajectory, Trajectory, write_trajectory


def made(points=5, joints=3):
    rng = np.random.default_rng(4)
    t = np.cumsum(rng.uniform(0.01, 2.0, points)) + 12.0
    return Trajectory(('a', 'b/c', 'd')[:joints], t, *rng.normal(size=(4, points, joints)))


def test_points_come_back_within_their_digits(tmp_path):
    wanted = made()
    write_trajectory(tmp_path / 'm.yaml', wanted)
    found = read_trajectory(tmp_path / 'm.yaml')
    assert found.joint_names == wanted.joint_names
    for name in ('t', 'q', 'qd', 'qdd'):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-9)


def test_the_file_has_the_fields_of_the_message(tmp_path):
    wanted = made()
    write_trajectory(tmp_path / 'm.yaml', wanted)
    content = yaml.safe_load((tmp_path / 'm.yaml').read_text())
    assert set(content) == {'joint_names', 'points'}
    assert all(set(point) == {'positions', 'velocities', 'accelerations', 'effort',
                              'time_from_start'} for point in content['points'])
    np.testing.assert_allclose([point['effort'] for point in content['points']], wanted.effort,
                               atol=1e-9)


def changed(change):
    point = {'positions': [0.0, 1.0], 'velocities': [0, 0], 'accelerations': [0, 0]}
    content = {'joint_names': ['a', 'b'], 'points': [
        {**point, 'time_from_start': {'sec': k}} for k in range(3)]}
    change(content)
    return content


@pytest.mark.parametrize(('change', 'told'), [
    (lambda c: c['points'][1].pop('velocities'), r'"points\[1\].velocities".*are missing'),
    (lambda c: c['points'][2].update(accelerations=[]), r'"points\[2\].accelerations".*missing'),
    (lambda c: c['points'][0].update(positions=[1.0]), r'"points\[0\].positions".*has 1 numbers'),
    (lambda c: c['points'][2].update(time_from_start={'sec': 1}), r'points\[2\] \(1 s\) is not'),
    (lambda c: c.update(points=[]), r'"points".*two points or more'),
    (lambda c: c.pop('joint_names'), '"joint_names".*must list'),
    (lambda c: c.update(joint_names=['a', 'a']), 'joint_names'),
    (lambda c: c.update(joints=[]), 'unknown key "joints"'),
])
def test_each_mistake_is_named(tmp_path, change, told):
    path = tmp_path / 'm.yaml'
    path.write_text(yaml.safe_dump(changed(change)))
    with pytest.raises(DynidError, match=told) as error:
        read_trajectory(path)
    assert str(path) in str(error.value)
