# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes that are told to end."""

import signal
import subprocess
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
import pytest
from ros.nodes.conftest import PATIENCE


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signal_that_comes_again_and_again_ends_a_node_well(talker, tmp_path, number):
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    with (tmp_path / 'log').open('wb') as log:
        # As users start it: the interpreter, too, has to end well.
        node = subprocess.Popen(
            [sys.executable, '-m', 'dynid_ros.ros.nodes.recorder', '--ros-args', '-p',
             'arm:=two_axis', '-p', f'output_folder:={tmp_path}'],
            stdout=log, stderr=subprocess.STDOUT)
    talker.until(lambda: heard, 'the recorder')
    while node.poll() is None:
        node.send_signal(number)
        # Some come while the node answers the one before.
        time.sleep(0.0002)
    printed = (tmp_path / 'log').read_text()
    assert node.wait(PATIENCE) == 0, printed
    assert 'Traceback' not in printed
