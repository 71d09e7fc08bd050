# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Loads of which something is known, on another link, and of a session that drifts."""

from dataclasses import replace

from loaded_arms import arm_named, free_model, LOAD, recorded
import numpy as np
import pytest

from dynid_ros.applications.payload.design import PayloadDesign
from dynid_ros.applications.payload.estimate import estimate_payload
from dynid_ros.applications.payload.known_friction import breakaway
from dynid_ros.applications.payload.load_estimate import KnownLoad
from dynid_ros.applications.payload.session import before_the_load, in_order
from dynid_ros.arm.bodies import with_tool_on
from dynid_ros.arm.parameters import inertial_to_com, is_physical
from dynid_ros.errors import InputError, RecordingError
from dynid_ros.motion.excitation.random_motion import random_motion

ARM = arm_named()
MASS, CENTER, INERTIA = inertial_to_com(LOAD)
FOREARM = 'elbow_joint'


@pytest.fixture(scope='module')
def log():
    return recorded(ARM, LOAD, seed=1)


@pytest.fixture(scope='module')
def free(log):
    return estimate_payload(free_model(), [log])


@pytest.mark.parametrize('known', [
    KnownLoad(MASS), KnownLoad(None, CENTER), KnownLoad(MASS, CENTER)])
def test_what_is_known_is_exact_and_narrows_the_rest(log, free, known):
    found = estimate_payload(free_model(), [log], known=known)
    body = found.body
    assert found.trustworthy and found.ready and is_physical(body.parameters)
    if known.mass is not None:
        assert abs(body.mass - MASS) < 1e-6 * MASS and body.mass_std < 1e-9
    if known.center is not None:
        np.testing.assert_allclose(body.center, CENTER, atol=1e-7)
        assert (body.center_std < 1e-6).all()
    # Of some ten values none lies 4.5 standard deviations away by chance.
    off = np.abs(body.parameters - LOAD)
    assert (off <= 4.5 * body.std + 1e-6).all()
    what, _, before, after = found.gain
    assert what == {(True, False): 'centre', (False, True): 'mass', (True, True): 'inertia'}[
        known.mass is not None, known.center is not None]
    np.testing.assert_allclose(found.free.parameters, free.body.parameters)
    if what != 'inertia':
        assert after < 0.95 * before


def test_a_mass_that_the_recordings_contradict_is_no_answer(log):
    found = estimate_payload(free_model(), [log], known=KnownLoad(1.2 * MASS))
    assert found.findings[0].code == 'payload_contradicted'
    assert 'stated to have a mass of 2.40 kg' in found.headline and not found.ready
    shifted = estimate_payload(
        free_model(), [log], known=KnownLoad(None, CENTER + 0.02 * np.eye(3)[1]))
    assert 'centre y of -10' in shifted.findings[0].text
    with pytest.raises(InputError, match='above zero'):
        KnownLoad(-1.0)


def test_a_load_on_the_forearm_is_found_there_and_not_on_the_tool():
    carrier = with_tool_on(ARM, FOREARM)
    log = recorded(carrier, 2 * LOAD, seed=1)
    found = estimate_payload(free_model(), [log], link=FOREARM)
    assert found.trustworthy and found.present and found.carrier == FOREARM
    assert abs(found.body.mass - 2 * MASS) < 4.5 * found.body.mass_std
    assert (np.abs(found.body.parameters - 2 * LOAD) < 4.5 * found.body.std).all()
    assert f'on the link of {FOREARM}' in found.headline
    # A maker's payload is at the flange.
    assert not found.ready
    on_tool = estimate_payload(free_model(), [log])
    assert [each.code for each in on_tool.findings] == ['payload_elsewhere']
    assert f'give --link {FOREARM} ' in on_tool.findings[0].sentence and not on_tool.present
    with pytest.raises(InputError, match="no body 'hand'"):
        estimate_payload(free_model(), [log], link='hand')


def test_a_link_of_which_no_motion_tells_the_mass_asks_for_it():
    first = ARM.joint_names[0]
    log = recorded(with_tool_on(ARM, first), LOAD, seed=1)
    with pytest.raises(RecordingError, match=r'no motion of ur10 .* give --mass'):
        estimate_payload(free_model(), [log], link=first)


def drifted(log, share, seed=5):
    """Let the zeros of the torque drift, relative to Coulomb friction."""
    zeros = breakaway(free_model()) * np.random.default_rng(seed).normal(size=ARM.n)
    return replace(log, u=log.u + share * zeros)


def test_repeats_show_a_drift_that_the_interval_contains():
    model = free_model()
    L = [drifted(recorded(ARM, LOAD, seed=k, source=f'L{k}'), 0.1 * k) for k in (1, 2)]
    U = drifted(recorded(ARM, seed=3, source='U'), 0.3)
    found = estimate_payload(model, L, unloaded=[U])
    assert found.trustworthy and found.sources == ('L1', 'L2')
    assert abs(found.body.mass - MASS) < 3 * found.body.mass_std
    assert {each.source: each.loaded for each in found.repeats} == {
        'L1': True, 'L2': True, 'U': False}
    for each in found.repeats:
        assert abs(each.mass - MASS * each.loaded) < 3 * each.mass_std
    alone = estimate_payload(model, L[:1])
    assert alone.repeats == () and found.body.mass_std < alone.body.mass_std


@pytest.mark.parametrize('other', [1.0, 1.1])
def test_a_load_that_is_not_the_same_in_a_repeat_is_named(log, other):
    # A tenth is some ten standard deviations of the two masses.
    found = estimate_payload(free_model(), [log, recorded(ARM, other * LOAD, seed=2)])
    assert [each.code for each in found.findings] == ([] if other == 1.0 else ['payload_drifted'])


def test_an_arm_without_its_load_that_looks_loaded_is_named():
    U = recorded(ARM, 0.3 * LOAD, seed=3, source='U')
    found = estimate_payload(free_model(), [recorded(ARM, LOAD, seed=1)], unloaded=[U])
    assert 'payload_drifted' in [each.code for each in found.findings]
    text = next(each.text for each in found.findings if each.code == 'payload_drifted')
    assert text.startswith('U, without the load, looks like one of 0.6')


def test_a_session_is_in_the_order_of_time():
    U, L = ([recorded(ARM, seed=1, seconds=1.0, source=f'{word}{k}') for k in range(2)]
            for word in 'UL')

    def at(logs, *times):
        return [replace(each, began=t) for each, t in zip(logs, times, strict=True)]

    def names(session):
        return ''.join(each.source for each, _ in session)

    assert names(in_order(at(L, 2.0, 3.0), at(U, 1.0, 4.0))) == 'U0L0L1U1'
    assert names(in_order(L, at(U, 1.0, 4.0))) == 'U0U1L0L1'
    before, after = before_the_load(at(L, 2.0, 3.0), at(U, 1.0, 4.0))
    assert [each.source for each in before] == ['U0'] and after[0].source == 'U1'
    for loaded, unloaded in ((L, U), (at(L, 1.0, 2.0), at(U, 3.0, 4.0))):
        before, after = before_the_load(loaded, unloaded)
        assert len(before) == 2 and not after


def test_a_motion_is_designed_for_what_is_open():
    motion = random_motion(ARM, 2, tries=5)
    free, mass, both = (PayloadDesign(ARM, 10.0, 2.0, CENTER, known=known)
                        for known in ((), ('mass',), ('mass', 'com')))
    assert free.objective.sought.wanted.shape[1] == 4
    assert mass.objective.sought.wanted.shape[1] == 3
    assert both.objective.sought.wanted.shape[1] == 6
    (std, center), (none, better) = free.expected_std(motion), mass.expected_std(motion)
    assert none < 1e-9 * std and (better < center).all()
    assert (both.expected_std(motion)[1] < 1e-9).all()
    assert mass.notes(motion)['payload']['known'] == ['mass']
    with pytest.raises(InputError, match="shows a load's mass"):
        PayloadDesign(ARM, 10.0, 2.0, CENTER, link=ARM.joint_names[0])
