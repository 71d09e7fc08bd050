# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Fast DDS, with the settings that launch files choose, loses nothing while rosbag2 is stopped."""

import os
from pathlib import Path
import subprocess
import sys

from launches import need_packages, need_workspace
import pytest

from dynid_ros.ros.nodes.launching import FAST_DDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(300)
def test_no_message_is_lost_while_the_recording_process_stands_still():
    need_workspace()
    need_packages('rmw_fastrtps_cpp', 'rosbag2_py')
    # Twice the time after which Fast DDS itself gives a process up.
    printed = subprocess.run(
        [sys.executable, ROOT / 'benchmarks' / 'lost_messages.py', '--rate', '1000', '--seconds',
         '6', '--stall', '2000', '--recordings', '1'], text=True, capture_output=True, check=True,
        env={**os.environ, 'RMW_IMPLEMENTATION': 'rmw_fastrtps_cpp',
             FAST_DDS: str(ROOT / 'config' / 'fastdds.xml')}).stdout
    assert '  1: 0 of ' in printed, printed
