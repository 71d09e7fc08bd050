# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The identifier node as it estimates a load, with real messages."""

import json

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import InertiaStamped
from identifier_rig import learned, save_after, summaries
from loaded_arms import arm_named, free_model, LOAD, recorded
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from dynid_ros.applications.payload.body import INERTIA_FIELDS
from dynid_ros.applications.payload.live_payload import LivePayload
from dynid_ros.estimation.result_files.result_file import write_result
from dynid_ros.ros.nodes.common.estimate_messages import numbers_of


@pytest.fixture
def model(tmp_path):
    write_result(free_model(), tmp_path / 'model')
    return tmp_path / 'model'


def fields(message):
    own = message.inertia
    return np.array([own.m, own.com.x, own.com.y, own.com.z,
                     own.ixx, own.ixy, own.ixz, own.iyy, own.iyz, own.izz])


def session_of(log):
    """Return a session of the same samples."""
    session = LivePayload(free_model())
    session.push_ns(10**18 + np.rint(log.t * 1e9).astype(np.int64), log.q, log.u)
    return session


def test_the_load_is_published_with_its_error_bars_and_saved(start, talker, model, tmp_path):
    log = recorded(arm_named(), LOAD, seed=1, seconds=12.0)
    payloads = talker.listen(InertiaStamped, '/identifier/payload')
    summary, estimates = summaries(talker, 'estimates')
    residuals = talker.listen(JointState, '/identifier/residuals', 100)
    process = start('identifier', payload=True, model=model, report_rate=10.0,
                    tool_frame='tool0', output_folder=tmp_path / 'out')
    talker.play(talker.states(), log.joint_names, log.t, log.q, log.u)
    learned(talker, summary, len(log.t))
    expected = session_of(log).load()
    # The last block of samples, half a second, may be missing: far less than an error bar.
    talker.until(lambda: bool(payloads) and (
        np.abs(fields(payloads[-1]) - expected.body.fields)
        < 0.5 * expected.body.fields_std)[:4].all(), 'the load of all samples')
    assert payloads[-1].header.frame_id == 'tool0'
    assert abs(payloads[-1].inertia.m / LOAD[0] - 1) < 0.03
    names, columns = numbers_of(estimates[-1])
    assert names == tuple(INERTIA_FIELDS) and columns['from_data'][0]
    np.testing.assert_allclose(columns['std'][:4], expected.body.fields_std[:4], rtol=0.2)
    assert residuals[-1].name == list(log.joint_names)
    save_after(talker, len(log.t))
    saved = json.loads((tmp_path / 'out' / 'payload.json').read_text())
    assert saved['trustworthy'] and saved['mass'] == pytest.approx(expected.body.mass, rel=1e-5)
    assert saved['messages']['ur_set_payload']['mass'] == pytest.approx(saved['mass'], rel=1e-5)
    assert talker.call(Trigger, '/identifier/reset').success
    answer = talker.call(Trigger, '/identifier/save')
    assert not answer.success and 'leave the mass of the load open' in answer.message
    status, printed = process.stop()
    assert status == 0, printed


def test_an_arm_memoryless_publishes_zero_and_a_load_that_falls_is_named(start, talker, model):
    log = recorded(arm_named(), seed=3, after=LOAD)
    payloads = talker.listen(InertiaStamped, '/identifier/payload', 100)
    heard = talker.listen(DiagnosticArray, '/diagnostics', 100)
    start('identifier', payload=True, model=model, report_rate=10.0)
    publisher, half = talker.states(), len(log.t) // 2
    talker.play(publisher, log.joint_names, log.t[:half], log.q[:half], log.u[:half])
    talker.until(lambda: bool(payloads), 'the load')
    assert payloads[-1].header.frame_id == 'tool'
    assert not fields(payloads[-1]).any()
    talker.play(publisher, log.joint_names, log.t[half:], log.q[half:], log.u[half:])
    talker.until(lambda: any(
        'payload_changed' in pair.value for message in heard for status in message.status
        for pair in status.values if status.name == 'identifier: verdict'), 'the change')


def test_a_model_of_another_arm_is_refused_in_one_line(start, model):
    status, printed = start('identifier', payload=True, model=model, arm='panda').end()
    assert status == 2 and 'leave the arm out' in printed, printed
    assert printed.count('\n') == 1
