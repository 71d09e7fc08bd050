# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A load from a live stream against the batch on the same rows, and against the truth."""

from dataclasses import replace
from functools import cache

from loaded_arms import arm_named, free_model, LOAD, recorded
import numpy as np
import pytest
from results import compress

from dynid_ros.applications.payload.body import INERTIA_FIELDS, load_body
from dynid_ros.applications.payload.estimate import estimate_payload
from dynid_ros.applications.payload.fit import LoadRegression
from dynid_ros.applications.payload.live_payload import LivePayload
from dynid_ros.applications.payload.load_estimate import Part
from dynid_ros.applications.payload.payload_replay import replay_payload
from dynid_ros.arm.parameters import inertial_to_com
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import load_columns
from dynid_ros.errors import RecordingError, ResultError

ARM = arm_named()
EPOCH = 17 * 10**17


@cache
def loaded(seconds=20.0, seed=1):
    return recorded(ARM, LOAD, seed=seed, seconds=seconds)


def feed(session, log, first=0, last=None, portion=37):
    """Push samples as they come, and return the blocks of rows."""
    stamps, blocks = EPOCH + np.rint(log.t * 1e9).astype(np.int64), []
    last = len(log.t) if last is None else last
    for start in range(first, last, portion):
        part = slice(start, min(start + portion, last))
        blocks += [block for block, _ in session.push_ns(stamps[part], log.q[part], log.u[part])]
    return blocks


def test_the_live_load_is_that_of_the_batch_on_the_same_rows():
    session = LivePayload(free_model())
    blocks = feed(session, loaded())
    live = session.load()
    batch = LoadRegression(free_model()).fit([Part(compress(base_parameters(ARM).count, blocks))])
    # Rotations row by row instead of a factorisation: rounding alone differs.
    assert live.masses['motion'][0] == pytest.approx(batch.load[0], rel=1e-8)
    assert live.masses['motion'][1] == pytest.approx(batch.std[0], rel=1e-6)
    np.testing.assert_allclose(
        live.body.parameters, load_body(batch).parameters, rtol=1e-6, atol=1e-9)


def test_a_recording_gives_what_the_batch_gives_of_it_within_the_error_bars():
    batch = estimate_payload(free_model(), [loaded()])
    live, history = replay_payload(free_model(), loaded())
    assert live.present and live.trustworthy
    assert (np.abs(live.body.fields - batch.body.fields) < 1.5 * batch.body.fields_std)[:4].all()
    ratio = live.body.fields_std[:4] / batch.body.fields_std[:4]
    assert ((ratio > 0.5) & (ratio < 2.0)).all()
    assert history.names == tuple(INERTIA_FIELDS) and history.determined[-1, :4].all()
    np.testing.assert_array_equal(history.theta[-1], live.body.fields)


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_ten_seconds_give_the_mass_within_three_percent_and_its_error_bar(seed):
    session = LivePayload(free_model())
    feed(session, loaded(10.0, seed))
    found = session.load()
    assert found.present and found.trustworthy
    assert abs(found.body.mass / LOAD[0] - 1) < 0.03
    off = np.append(found.body.mass - LOAD[0], found.body.center - inertial_to_com(LOAD)[1])
    # Of twelve values none lies 4.5 standard deviations away by chance.
    assert (np.abs(off) < 4.5 * found.body.fields_std[:4]).all()


def test_a_free_arm_has_no_payload_and_standing_still_tells_nothing():
    session = LivePayload(free_model())
    assert session.load() is None
    stamps = EPOCH + np.arange(1000) * 10**7
    session.push_ns(stamps, np.full((1000, ARM.n), 0.3), np.ones((1000, ARM.n)))
    assert session.load() is None
    free = LivePayload(free_model())
    feed(free, recorded(ARM, seed=3))
    found = free.load()
    assert not found.present and found.trustworthy
    assert abs(found.masses['motion'][0]) < 0.05


def test_a_load_that_changes_is_named_and_the_next_one_found_after_a_reset():
    session, log = LivePayload(free_model()), recorded(ARM, LOAD, seed=2, after=0.5 * LOAD)
    feed(session, log, 0, 1000)
    assert session.load().trustworthy
    feed(session, log, 1000, 1500)
    (finding,) = session.load().findings
    assert finding.code == 'payload_changed'
    session.reset()
    feed(session, log, 1000)
    found = session.load()
    assert found.trustworthy and abs(found.body.mass - 1.0) < 0.03


def test_a_model_made_with_the_load_is_named():
    model = free_model()
    session = LivePayload(replace(model, theta=model.theta + load_columns(ARM) @ LOAD))
    feed(session, recorded(ARM, seed=3, seconds=10.0))
    assert [finding.code for finding in session.load().findings] == ['payload_negative']


def test_a_restored_session_goes_on_to_the_last_bit():
    log = loaded(10.0)
    whole, first, second = (LivePayload(free_model()) for _ in range(3))
    feed(whole, log)
    feed(first, log, 0, 500)
    second.restore(first.state())
    feed(second, log, 500)
    np.testing.assert_array_equal(second.load().body.parameters, whole.load().body.parameters)
    other = LivePayload(replace(free_model(), theta=1.01 * free_model().theta))
    with pytest.raises(ResultError, match='another arm or model'):
        other.restore(first.state())


def test_a_model_that_leaves_the_last_link_open_is_named():
    model = free_model()
    root = model.root_information.copy()
    names = base_parameters(ARM).names
    last = np.array([name.endswith('6') for name in names])
    root[:, last] = 0.0
    root, prior = np.linalg.qr(root, mode='r'), arm_prior(ARM)
    torque, tie = root @ model.theta, np.linalg.inv(prior.covariance)
    covariance = np.linalg.inv(root.T @ root / model.colour + tie)
    blind = replace(
        model, root_information=root, root_torque=torque, covariance=covariance,
        theta=covariance @ (root.T @ torque / model.colour + tie @ prior.theta),
        data_share=1 - np.diag(covariance) / np.diag(prior.covariance))
    for estimate in (lambda: replay_payload(blind, loaded(10.0))[0],
                     lambda: estimate_payload(blind, [loaded(10.0)])):
        found = estimate()
        assert any('the model of free leaves mx6, ' in remark for remark in found.remarks)
        # The mass loads the joints before the last one, too.
        assert abs(found.body.mass / LOAD[0] - 1) < 0.03 and not found.body.from_data.all()


def test_numbers_beyond_all_bounds_give_no_load():
    # As a damaged file may hold them.
    damaged = replace(free_model(), theta=1e200 * free_model().theta)
    with pytest.raises(RecordingError, match='not determined'):
        replay_payload(damaged, loaded(10.0))
    session = LivePayload(damaged)
    with np.errstate(over='ignore'):
        feed(session, loaded(10.0))
    assert session.load() is None
