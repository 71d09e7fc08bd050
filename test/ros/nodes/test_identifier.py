# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The identifier node in a process of its own, with real messages."""

from dataclasses import replace
import subprocess

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from estimates import without_suspects
from identifier_rig import (
    ARM,
    counted,
    learned,
    ready,
    recording,
    replayed,
    save_after,
    summaries,
)
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import FrictionShape
from dynid_ros.data.files.bag_writer import write_joint_states
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.online.replay import replay
from dynid_ros.estimation.online.row_pipeline import PROCESSED_TOGETHER
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.ros.nodes.common.estimate_messages import numbers_of
from dynid_ros.ros.nodes.common.qos import LATCHED
from dynid_ros.utilities.compiled import NOTICE


def test_saved_result_is_that_of_a_replay_whatever_the_joint_order(start, talker, tmp_path):
    log = recording()
    process, publisher = ready(start, talker, output_folder=tmp_path / 'out')
    half = len(log.t) // 2
    talker.play(publisher, log.joint_names, log.t[:half], log.q[:half], log.u[:half])
    # From here on the joints come in another order, with those of a gripper.
    names = ('finger', *log.joint_names[::-1])
    q, u = (np.column_stack([np.full(len(x), 9.0), x[:, ::-1]]) for x in (log.q, log.u))
    talker.play(publisher, names, log.t[half:], q[half:], u[half:])
    save_after(talker, len(log.t))
    saved = read_result(tmp_path / 'out')
    expected, _ = replay(load_arm(ARM), log, cutoff_hz=5.0)
    scale = np.abs(expected.theta).max()
    # Stamps are rounded to nanoseconds, nothing else differs.
    np.testing.assert_allclose(saved.theta, expected.theta, rtol=1e-6, atol=1e-8 * scale)
    np.testing.assert_allclose(saved.std, expected.std, rtol=1e-5)
    assert saved.samples == len(log.t)
    assert saved.verdict.trustworthy == expected.verdict.trustworthy
    assert 'topic_order_changed' in {defect.code for defect in saved.defects}
    status, printed = process.stop()
    assert status == 0, printed


def seconds(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def test_topics_name_every_parameter_and_every_joint(start, talker):
    log = recording()
    summary, estimates, validation = summaries(talker, 'estimates', 'validation')
    residuals = talker.listen(JointState, '/identifier/residuals', 100)
    predicted = talker.listen(JointState, '/identifier/predicted_effort', 100)
    _, publisher = ready(start, talker)
    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    learned(talker, summary, len(log.t))
    talker.until(lambda: all(heard and seconds(heard[-1]) >= seconds(summary[-1])
                             for heard in (estimates, validation)), 'its report')
    # Reports on another topic may come before the last residuals.
    near_the_end = 1e9 + 0.9 * log.t[-1]
    talker.until(lambda: all(heard and seconds(heard[-1]) > near_the_end
                             for heard in (residuals, predicted)), 'the residuals')
    names = list(base_parameters(load_arm(ARM)).names)
    told, columns = numbers_of(estimates[-1])
    assert list(told) == names and columns['from_data'].all()
    _, history = replay(load_arm(ARM), log, cutoff_hz=5.0)
    # All but the last block of samples is in: far less than a standard deviation.
    assert (np.abs(columns['value'] - history.theta[-1]) < history.std[-1]).all()
    np.testing.assert_allclose(columns['std'], history.std[-1], rtol=0.3)
    told, columns = numbers_of(validation[-1])
    assert told == log.joint_names
    assert (columns['relative_error_percent'] < 10).all()
    told, columns = numbers_of(summary[-1])
    assert told == (ARM,)
    assert columns['determined'] == columns['parameters'] == len(names)
    assert columns['samples'] > len(log.t) - PROCESSED_TOGETHER
    assert columns['condition_number'] > 1
    assert residuals[-1].name == list(log.joint_names) == predicted[-1].name
    late = np.array([m.effort for m in residuals if seconds(m) > 1e9 + 0.5 * log.t[-1]])
    assert np.nanstd(late) < 0.1 * np.nanstd([m.effort for m in predicted])


def values(talker, summary, estimates):
    """Return the estimates of the last summary."""
    talker.until(lambda: estimates and seconds(estimates[-1]) >= seconds(summary[-1]),
                 'the estimates')
    return numbers_of(estimates[-1])[1]['value']


def test_links_are_published_and_the_robot_description_once_it_is_trustworthy(
        start, talker, tmp_path):
    log = recording()
    standard = talker.listen(DynamicJointState, '/identifier/standard_parameters', LATCHED)
    _, publisher = ready(start, talker)
    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    # Latched: who comes late hears it, too.
    descriptions = talker.listen(String, '/identifier/robot_description', LATCHED)
    talker.until(lambda: bool(descriptions), 'the robot description')
    path = tmp_path / 'arm.urdf'
    path.write_text(descriptions[-1].data)
    read, expected = load_arm(path), replayed(log)
    assert read.joint_names == log.joint_names
    masses = read.inertial[:, 0]
    links = expected.standard_parameters()
    off = np.abs(masses - expected.possible_arm.inertial[:, 0])
    assert (off < np.array([links.std[links.names.index(f'm{k + 1}')] for k in range(2)])).all()
    names, columns = numbers_of(standard[-1])
    assert names == tuple(links.names)
    assert (columns['std'] > 0).all()
    assert (columns['data_share'] >= 0).all() and (columns['data_share'] <= 1).all()
    assert not columns['impossible'].any()


def test_a_validation_motion_of_the_publisher_is_not_learned_from(start, talker):
    log = recording()
    summary, estimates = summaries(talker, 'estimates')
    health = talker.listen(DiagnosticArray, '/diagnostics')
    _, publisher = ready(start, talker)
    half, begin = len(log.t) // 2, str(1e9 + log.t[len(log.t) // 2])
    talker.play(publisher, log.joint_names, log.t[:half], log.q[:half], log.u[:half])
    learned(talker, summary, half)
    status = talker.node.create_publisher(
        DiagnosticArray, '/trajectory_publisher/status', LATCHED)
    talker.until(lambda: status.get_subscription_count() == 1, 'the identifier')
    status.publish(DiagnosticArray(status=[DiagnosticStatus(values=[
        KeyValue(key=key, value=value) for key, value in (
            ('phase', 'validating'), ('since', begin), ('dry_run', 'False'))])]))
    talker.spin(0.5)
    late = slice(half, half + 2 * PROCESSED_TOGETHER)
    talker.play(publisher, log.joint_names, log.t[late], log.q[late], log.u[late])
    learned(talker, summary, half + 2 * PROCESSED_TOGETHER)
    before = values(talker, summary, estimates)
    late = slice(half + 2 * PROCESSED_TOGETHER, None)
    talker.play(publisher, log.joint_names, log.t[late], log.q[late], log.u[late])
    learned(talker, summary, len(log.t))
    np.testing.assert_array_equal(before, values(talker, summary, estimates))
    talker.until(lambda: any(
        pair.key == 'validating' and pair.value == 'True'
        for each in health[-1].status for pair in each.values), 'what the error is of')


def test_estimates_rest_while_frozen_and_are_forgotten_on_reset(start, talker):
    log = recording()
    summary, estimates = summaries(talker, 'estimates')
    _, publisher = ready(start, talker)
    half = len(log.t) // 2
    talker.play(publisher, log.joint_names, log.t[:half], log.q[:half], log.u[:half])
    learned(talker, summary, half)
    assert talker.call(SetBool, '/identifier/freeze', data=True).success
    block = slice(half, half + PROCESSED_TOGETHER)
    talker.play(publisher, log.joint_names, log.t[block], log.q[block], log.u[block])
    learned(talker, summary, half + PROCESSED_TOGETHER)
    before, count = values(talker, summary, estimates), len(summary)
    late = slice(half + PROCESSED_TOGETHER, None)
    talker.play(publisher, log.joint_names, log.t[late], log.q[late], log.u[late])
    learned(talker, summary, len(log.t))
    assert len(summary) > count
    np.testing.assert_array_equal(before, values(talker, summary, estimates))
    assert talker.call(Trigger, '/identifier/reset').success
    answer = talker.call(Trigger, '/identifier/save')
    assert not answer.success and 'output_folder' in answer.message


def test_resumed_session_ends_like_one_that_was_never_stopped(start, talker, tmp_path):
    log, folder = recording(6.0), tmp_path / 'out'
    cut = len(log.t) // 2 + 7
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    for part, count in ((slice(0, cut), cut), (slice(cut, None), len(log.t) - cut)):
        process, publisher = ready(
            start, talker, output_folder=folder, save_at_end=True, resume=True)
        talker.play(publisher, log.joint_names, log.t[part], log.q[part], log.u[part])
        heard.clear()
        talker.until(lambda count=count: counted(heard, 'messages')[-1:] == [count],
                     'all messages')
        status, printed = process.stop()
        assert status == 0, printed
        talker.node.destroy_publisher(publisher)
    saved, expected = read_result(folder), replayed(log)
    scale = np.abs(expected.theta).max()
    np.testing.assert_allclose(saved.theta, expected.theta, rtol=1e-6, atol=1e-8 * scale)
    assert saved.samples == len(log.t)


def test_second_publisher_and_clock_that_steps_back_are_named(start, talker):
    log = recording()
    heard = talker.listen(DiagnosticArray, '/diagnostics')

    def said(word, level):
        return any(word in s.message and s.level == level for m in heard for s in m.status)

    _, publisher = ready(start, talker)
    few = slice(0, 200)
    talker.play(publisher, log.joint_names, log.t[few], log.q[few], log.u[few])
    talker.until(lambda: said('is good', DiagnosticStatus.OK), 'a good stream')
    talker.play(publisher, log.joint_names, log.t[few] - 2.0, log.q[few], log.u[few])
    talker.until(lambda: said('stepped back', DiagnosticStatus.WARN), 'the clock')
    talker.states()
    talker.until(lambda: said('2 publishers', DiagnosticStatus.ERROR), 'the second publisher')
    talker.until(lambda: said('no message', DiagnosticStatus.STALE), 'the end of the stream')


def test_publisher_that_appears_later_with_best_effort_is_heard(start, talker):
    log = recording()
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    start('identifier', arm=ARM, report_rate=10.0)
    talker.until(lambda: bool(heard), 'the identifier')
    publisher = talker.states(reliable=False)
    few = slice(0, 400)
    talker.play(publisher, log.joint_names, log.t[few], log.q[few], log.u[few])
    talker.until(lambda: any('is good' in s.message for m in heard for s in m.status), 'states')


@pytest.fixture(scope='module')
@without_suspects()
def batch(tmp_path_factory):
    """Folder of a batch result with friction that the arm does not state."""
    arm = replace(load_arm(ARM), friction_shape=FrictionShape(smooth_speed=0.05))
    result = identify(arm, [recording()], friction=('viscous', 'coulomb_smooth', 'load'))
    folder = tmp_path_factory.mktemp('identified') / 'batch'
    write_result(result, folder)
    return folder


def test_start_gives_the_arm_its_friction_and_its_filters(start, talker, batch, tmp_path):
    log, first = recording(), read_result(batch)
    process = start('identifier', start=batch, report_rate=10.0, output_folder=tmp_path / 'out')
    publisher = talker.states()
    talker.until(lambda: publisher.get_subscription_count() > 0, 'the identifier')
    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    save_after(talker, len(log.t))
    saved = read_result(tmp_path / 'out')
    assert saved.arm.friction == first.arm.friction == ('viscous', 'coulomb_smooth', 'load')
    assert saved.arm.friction_shape == first.arm.friction_shape
    assert saved.treatment.cutoff_hz == first.treatment.cutoff_hz
    assert saved.treatment.delay == first.treatment.delay
    with without_suspects():
        expected, _ = replay(first.arm, log, start=first)
    scale = np.abs(expected.theta).max()
    # Stamps are rounded to nanoseconds, nothing else differs.
    np.testing.assert_allclose(saved.theta, expected.theta, rtol=1e-5, atol=1e-7 * scale)
    status, printed = process.stop()
    assert status == 0, printed


@pytest.mark.parametrize(('parameters', 'words'), [
    ({'arm': 'panda'}, "the arm 'panda' has another joint_names than that of the result"),
    ({'friction': '[viscous]'}, 'leave friction out'),
])
def test_start_that_contradicts_another_parameter_is_one_sentence(
        start, batch, parameters, words):
    status, printed = start('identifier', start=batch, **parameters).end()
    assert status == 2 and words in printed, printed
    # Kernels that no process has compiled yet are announced beside it.
    assert [line for line in printed.splitlines() if line != NOTICE] == [
        next(line for line in printed.splitlines() if words in line)]


@pytest.mark.parametrize(('parameters', 'words'), [
    ({'start': 'nowhere'}, 'nowhere cannot be read'),
    ({'arm': ''}, 'no arm is given'),
    ({'arm': 'nowhere.yaml'}, 'nowhere.yaml'),
    ({'arm': ARM, 'resume': True}, 'output_folder'),
])
def test_wrong_parameters_are_one_sentence(start, parameters, words):
    process = start('identifier', **{k: v or "''" for k, v in parameters.items()})
    status, printed = process.end()
    assert status == 2
    assert words in printed and 'Traceback' not in printed


def test_launched_replay_of_a_bag_gives_what_the_command_gives(tmp_path):
    packages = pytest.importorskip('ament_index_python.packages', reason='ROS 2 is not installed')
    try:
        packages.get_package_share_directory('dynid_ros')
    except packages.PackageNotFoundError:
        pytest.skip('dynid_ros is not built in a sourced workspace')
    # The player drops messages that a starved subscriber has not acknowledged: it plays slowly.
    log, bag, out = recording(9.0), tmp_path / 'bag', tmp_path / 'out'
    # As the recorder marks a motion that only validates.
    marks = (log.t[0] + np.array([[5.0, 8.5]])).tolist()
    write_joint_states(bag, log.joint_names, log.t, log.q, log.qd, log.u,
                       sidecar={'validation': marks})
    from installed import compile_installed

    compile_installed(ARM)
    ended = subprocess.run(
        ['ros2', 'launch', 'dynid_ros', 'replay.launch.py', f'bag:={bag}', f'arm:={ARM}',
         f'result:={out}', 'speed:=0.5'], capture_output=True, text=True, timeout=280, check=False)
    printed = ended.stdout + ended.stderr
    assert ended.returncode == 0, printed
    assert 'ERROR' not in printed, printed
    arm = load_arm(ARM)
    saved, expected = read_result(out), replay(arm, read_recording(bag, arm))[0]
    np.testing.assert_allclose(saved.theta, expected.theta, rtol=1e-6)
    assert saved.data_hash == expected.data_hash
    assert saved.validation.source.startswith('validation motion of ')
    np.testing.assert_allclose(
        saved.validation.relative_error_percent, expected.validation.relative_error_percent,
        rtol=1e-6)
