# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The verdict of the identifier in /diagnostics, while it runs."""

from dataclasses import replace

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from identifier_rig import part, ready, recording, save_after
import numpy as np
from std_srvs.srv import Trigger

from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.ros.nodes.common.lockstep import nanoseconds


def verdicts(heard):
    """Return the verdicts in the diagnostics, newest last: level, message and values."""
    return [(s.level, s.message, {pair.key: pair.value for pair in s.values})
            for m in heard for s in m.status if s.name == 'identifier: verdict']


def test_reversed_effort_is_named_with_joint_errors_and_remedy_and_reset_forgets_it(
        start, talker, tmp_path):
    log = recording()
    sign = np.ones(len(log.joint_names))
    sign[1] = -1.0
    heard = talker.listen(DiagnosticArray, '/diagnostics', 100)
    process, publisher = ready(start, talker, output_folder=tmp_path / 'out')
    talker.play(publisher, *part(replace(log, u=log.u * sign), slice(None)))
    talker.until(lambda: any(values.get('code') == 'effort_sign'
                             for _, _, values in verdicts(heard)), 'the reversed effort')
    level, _, values = next(
        each for each in verdicts(heard) if each[2].get('code') == 'effort_sign')
    assert level == DiagnosticStatus.WARN
    assert values['joints'] == log.joint_names[1]
    assert values['trustworthy'] == 'False'
    save_after(talker, len(log.t))
    result = read_result(tmp_path / 'out')
    first = result.verdict.findings[0]
    assert first.remedy
    # The verdict on all samples, which the result has, too.
    talker.until(lambda: (headline(result), first.code, first.remedy) == (
        verdicts(heard)[-1][1], *(verdicts(heard)[-1][2].get(key) for key in ('code', 'remedy'))),
        'the finding that opens the result')
    # The first verdict may know little of the motion yet.
    values = verdicts(heard)[-1][2]
    before, after = (float(values[f'error_{when}_percent']) for when in ('before', 'after'))
    assert 0 < after < 0.5 * before
    assert talker.call(Trigger, '/identifier/reset').success
    # Messages from before may still be on their way.
    reset = talker.node.get_clock().now().nanoseconds

    def later():
        return [m for m in heard if nanoseconds(m.header.stamp) > reset]

    talker.until(lambda: len(later()) > 3, 'diagnostics after the reset')
    assert not verdicts(later())
    status, printed = process.stop()
    assert status == 0 and 'Traceback' not in printed, printed


def test_clean_stream_has_no_finding(start, talker):
    log = recording()
    heard = talker.listen(DiagnosticArray, '/diagnostics', 100)
    _, publisher = ready(start, talker)
    talker.play(publisher, *part(log, slice(None)))
    talker.until(lambda: any(message[:4] in ('Trus', 'Not ') and values['trustworthy'] == 'True'
                             for _, message, values in verdicts(heard)), 'a good verdict')
    # Too little motion so far is no fault of the stream.
    assert {level for level, _, _ in verdicts(heard)} == {DiagnosticStatus.OK}
