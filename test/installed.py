# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The package as colcon has installed it, whose nodes launch files start."""

import subprocess
import sys

from ament_index_python.packages import get_package_prefix


def compile_installed(arm: str) -> None:
    """Compile the kernels for an arm once, which are not those beside the tests."""
    subprocess.run(
        [sys.executable, '-m', 'dynid_ros.ros.nodes.warm_up', arm], check=True,
        cwd=get_package_prefix('dynid_ros'))
