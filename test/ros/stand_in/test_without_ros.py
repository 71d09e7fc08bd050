# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Where rclpy is there, what tests the layer itself runs in processes that see nothing of it."""

from pathlib import Path
import subprocess
import sys

import pytest
from ros.nodes.conftest import PATIENCE
from ros.stand_in.embedded_rig import EMBEDDED
from ros_shell import environment

HERE = Path(__file__).parent
#: What the layer and its tests need.
NEEDED = {'cyclonedds', 'hypothesis', 'numpy', 'pinocchio', 'rosbags', 'scipy', 'yaml'}
FIND = """
from importlib.util import find_spec
import sys
print(*filter(find_spec, sys.argv[1:]))
"""


def python(*words, seconds=PATIENCE):
    """Run Python in the environment of a login, in which no ROS 2 is sourced."""
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=HERE.parents[2], env=environment(), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=seconds, check=False)


@pytest.fixture(scope='module')
def no_ros():
    found = set(python('-c', FIND, 'rclpy', *NEEDED).stdout.split())
    if 'rclpy' in found:
        pytest.skip('rclpy is part of this Python, and cannot be left out of it')
    if NEEDED - found:
        pytest.skip(f'without ROS 2 this Python lacks {", ".join(sorted(NEEDED - found))}')


@pytest.mark.skipif(EMBEDDED, reason='rclpy is not there, so the files run as they are')
@pytest.mark.usefixtures('no_ros')
@pytest.mark.timeout(700)
@pytest.mark.parametrize('name', [
    'embedded_nodes', 'embedded_parameters', 'interoperation', 'malformed_traffic'])
def test_layer_holds_where_no_ros_is_in_sight(name):
    done = python(
        '-m', 'pytest', '-p', 'no:cacheprovider', HERE / f'test_{name}.py', seconds=600.0)
    assert done.returncode == 0, done.stdout
    if ' passed' not in done.stdout:
        lines = done.stdout.splitlines()
        pytest.skip('; '.join(line for line in lines if line.startswith('SKIPPED')))
