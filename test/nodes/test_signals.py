"""Nodes that are told to end."""

import signal
import time

from diagnostic_msgs.msg import DiagnosticArray
import pytest


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signal_that_comes_again_and_again_ends_a_node_well(start, talker, tmp_path, number):
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    node = start('recorder', arm='two_axis', output_folder=tmp_path)
    talker.until(lambda: heard, 'the recorder')
    while not node.ended:
        node.send(number)
        # Some come while the node answers the one before.
        time.sleep(0.0002)
    status, printed = node.end()
    assert status == 0, printed
    assert 'Traceback' not in printed
