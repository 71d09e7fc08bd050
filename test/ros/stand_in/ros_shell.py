# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Commands of a ROS 2 installation, in processes that see nothing of this one's Python."""

from functools import cache
import os
from pathlib import Path
import subprocess

import pytest
from ros.nodes.conftest import PATIENCE

#: What a login gives, and where the user wants nodes to talk.
KEPT = ('HOME', 'LANG', 'PATH', 'TMPDIR', 'USER', 'ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE')
#: The middleware of ROS 2 whose services the embedded nodes understand, and its usual one.
CYCLONE, FAST = 'rmw_cyclonedds_cpp', 'rmw_fastrtps_cpp'


def shell(*words: str, rmw: str = '') -> list[str]:
    """Words that run a command where ROS 2 is sourced; skip if it or its middleware is missing."""
    setup, python = installation()
    if rmw and rmw not in middlewares():
        pytest.skip(f'{rmw} is not installed')
    chosen = f'export RMW_IMPLEMENTATION={rmw} && ' if rmw else ''
    return ['bash', '-c', f'PATH={python}:$PATH; source {setup} && {chosen}exec "$@"', 'ros',
            *words]


def environment() -> dict[str, str]:
    """Environment of a login."""
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def ros(
    *words: str, check: bool = True, seconds: float = PATIENCE, rmw: str = '', **options,
) -> str:
    """Run a command with words and return what it printed, both streams."""
    done = subprocess.run(
        shell(*words, rmw=rmw), env=environment(), text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=seconds, check=False, **options)
    assert done.returncode == 0 or not check, done.stdout
    return done.stdout


def ros_python(*words: str, **options) -> str:
    """Run a Python program with rclpy."""
    return ros('python3', *words, **options)


@cache
def installation() -> tuple[Path, Path]:
    """
    Find the newest installation and the folder of the Python that its rclpy runs with.

    An installation that was built for a virtual environment does not run with the system's
    Python: all that stand beside it, and that of PATH, are tried.
    """
    setups = sorted(Path('/opt/ros').glob('*/setup.bash'))
    if not setups:
        pytest.skip('no ROS 2 under /opt/ros')
    folders = [Path(folder) for folder in os.environ['PATH'].split(':')]
    folders += sorted(Path('/opt').glob('*/bin'))
    for folder in dict.fromkeys(folders):
        if not (folder / 'python3').exists():
            continue
        tried = subprocess.run(
            ['bash', '-c', f'PATH={folder}:$PATH; source {setups[-1]} && ros2 topic --help && '
             'python3 -c "import rclpy"'], env=environment(), capture_output=True,
            check=False)
        if tried.returncode == 0:
            return setups[-1], folder
    pytest.skip(f'{setups[-1]} is there, but no Python that runs its ros2')


@cache
def middlewares() -> list[str]:
    """List those that are installed."""
    return ros('python3', '-c', 'import ament_index_python as index\n'
               "print(*index.get_resources('rmw_typesupport'))").split()
