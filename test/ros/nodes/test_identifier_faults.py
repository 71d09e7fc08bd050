# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The identifier in a process of its own, when it or its stream fails."""

from dataclasses import replace
import re
import signal

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from identifier_rig import counted, part, ready, recording, replayed, save_after
import numpy as np
from sensor_msgs.msg import JointState

from dynid_ros.estimation.result_files.result_file import read_result


def test_killed_identifier_goes_on_from_its_saved_state_and_loses_only_the_time_since(
        start, talker, tmp_path):
    log, folder = recording(rate_hz=250.0), tmp_path / 'out'
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    saved_at, killed_at = 1257, 1757
    process, publisher = ready(start, talker, output_folder=folder)
    talker.play(publisher, *part(log, slice(0, saved_at)))
    save_after(talker, saved_at)
    talker.play(publisher, *part(log, slice(saved_at, killed_at)))
    status, _ = process.stop(signal.SIGKILL)
    assert status == -signal.SIGKILL
    process, publisher = ready(start, talker, output_folder=folder, resume=True)

    def arrives():
        # The subscription of the killed node is still counted.
        publisher.publish(JointState(name=['nobody']))
        return any(0 < count < saved_at for count in counted(heard, 'messages')[-1:])

    talker.until(arrives, 'a message of many')
    talker.play(publisher, *part(log, slice(killed_at, None)))
    kept = np.r_[0:saved_at, killed_at:len(log.t)]
    save_after(talker, len(kept))
    expected = replayed(replace(log, t=log.t[kept], q=log.q[kept], u=log.u[kept], qd=None))
    saved = read_result(folder)
    scale = np.abs(expected.theta).max()
    np.testing.assert_allclose(saved.theta, expected.theta, rtol=1e-6, atol=1e-8 * scale)
    status, printed = process.stop()
    assert status == 0
    assert f'resumed after {saved_at} samples' in printed


def test_identifier_that_heard_nothing_says_so_and_ends_well(start, talker, tmp_path):
    process, _ = ready(start, talker, output_folder=tmp_path / 'out', save_at_end=True)
    status, printed = process.stop()
    assert status == 0
    assert printed.splitlines()[-1].endswith(
        'nothing was saved: /joint_states: no row was fitted from 0 samples; let the arm move '
        'for some seconds first')
    assert 'Warning' not in printed and 'Traceback' not in printed
    assert not (tmp_path / 'out').exists()


def test_faults_of_the_stream_are_named_and_spoil_no_estimate(start, talker, tmp_path):
    log = recording(rate_hz=250.0)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    process, publisher = ready(start, talker, output_folder=tmp_path / 'out')

    def said(word):
        return any(word in s.message and s.level == DiagnosticStatus.WARN
                   for m in heard for s in m.status)

    names, t, q, u = log.joint_names, log.t, log.q.copy(), log.u
    # At 250 Hz, 52 ms are 13 samples, more than the five that are interpolated.
    kept = np.ones(len(t), dtype=bool)
    for stop, length in ((500, 13), (750, 50), (1000, 250)):
        kept[stop:stop + length] = False
    q[1500:1510, 0] = np.nan
    kept[1750:] = False
    talker.play(publisher, names, t[kept], q[kept], u[kept])
    talker.until(lambda: 3 in counted(heard, 'gaps'), 'three gaps')
    talker.until(lambda: 10 in counted(heard, 'not_finite'), 'NaN positions')
    assert said('starts a new stretch') and said('NaN')
    few = slice(1750, 2250)
    talker.play(publisher, names[::-1], t[few], q[few, ::-1], u[few, ::-1])
    talker.until(lambda: said('1 changes of the order'), 'the order')
    gripper = np.zeros((500, 1))
    few = slice(2250, 2750)
    talker.play(publisher, ('finger', *names), t[few], np.hstack([gripper, q[few]]),
                np.hstack([gripper, u[few]]))
    talker.until(lambda: said('2 changes of the order'), 'the gripper')
    few = slice(2750, None)
    talker.play(publisher, names, t[few] - 2.0, q[few], u[few])
    talker.until(lambda: said('stepped back'), 'the clock')
    save_after(talker, kept.sum() + len(t) - 1750)
    saved, expected = read_result(tmp_path / 'out'), replayed(log)
    assert saved.verdict.trustworthy
    # Four fifths of the same data, with filters that start six times: both predict the same torque
    # to within what either leaves unexplained. Error bars know of noise only, and these data have
    # so little that the batch, too, moves by 2.7 standard deviations for such gaps.
    motion = log.q, log.qd, np.gradient(log.qd, log.t, axis=0)
    torque, other = (each.predict_torque(*motion) for each in (expected, saved))
    apart = 100 * np.linalg.norm(other - torque, axis=0) / np.linalg.norm(torque, axis=0)
    assert (apart < [joint.relative_error_percent for joint in expected.fit.joints]).all()
    assert process.stop()[0] == 0


def test_collision_is_named_while_it_is_left_out(start, talker, tmp_path):
    log = recording(rate_hz=250.0)
    u = log.u.copy()
    u[1750:1800, 1] += 20.0
    hit = replace(log, u=u)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    process, publisher = ready(start, talker, output_folder=tmp_path / 'out')
    talker.play(publisher, *part(hit, slice(None)))
    talker.until(lambda: any(
        s.name == 'identifier: estimate' and s.level == DiagnosticStatus.WARN
        and re.search(rf'outliers were left out: .*\d of {log.joint_names[1]}', s.message)
        for m in heard for s in m.status), 'the collision')
    save_after(talker, len(log.t))
    saved, expected = read_result(tmp_path / 'out'), replayed(log)
    assert any('a collision' in note for note in saved.treatment.notes)
    assert (np.abs(saved.theta - expected.theta) < 3 * expected.std).all()
    assert process.stop()[0] == 0
