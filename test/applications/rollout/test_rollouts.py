# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rollouts against the arm that was recorded, closed forms and measured states."""

from dataclasses import replace
import re
import subprocess
import sys

import numpy as np
from oracles import random_arm
from planted import heavier, RATE, recorded
import pytest

from dynid_ros.applications.rollout import stretches
from dynid_ros.applications.rollout.batch import loaded
from dynid_ros.applications.rollout.restarts import restarts
from dynid_ros.applications.rollout.rollout import (
    FLOOR,
    IDENTIFIED,
    kept_rollouts,
    Rollouts,
    STATED,
    stated_peer,
)
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.model import Conditioning
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import InputError, RecordingError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.interface.answers.model import result_answer
from dynid_ros.interface.python.results import IdentifiedModel
from dynid_ros.pages.report import write_report

pytestmark = pytest.mark.usefixtures('figures_alone')
TRUTH = 'truth'


def degrees(found, name):
    return np.rad2deg(found.overall(name))


def test_the_arm_that_was_recorded_is_where_it_was(arm):
    # Coulomb friction turns between two samples: half a sample of it is a blow of 0.01 rad/s.
    arm = replace(arm, friction_nominal={**arm.friction_nominal, 'coulomb': np.zeros(2)})
    # Without noise, or the offset that is found would be off, too.
    model = identify(arm, [recorded(arm, 1)], friction=PLAIN_TERMS, holdout=0)
    found = Rollouts(model, recorded(arm, 2), {TRUTH: arm, 'heavier': heavier(arm)})
    assert found.held_out and not found.by_commands
    assert found.horizons == (0.1, 0.5, 2.0) and found.counts[0] > 150
    # The low-pass of positions, and the step of 2 ms.
    assert (degrees(found, TRUTH) < [0.005, 0.02, 0.2]).all()
    assert (degrees(found, 'heavier') > 30 * degrees(found, TRUTH)).all()


def test_an_arm_that_is_off_by_more_than_a_turn_is_lost(arm, model):
    """No distance in degrees is told, and the other arms keep theirs."""
    light = replace(
        heavier(arm, 1e-3), rotor_nominal=1e-3 * arm.rotor_nominal, friction_nominal={
            name: 0 * each for name, each in arm.friction_nominal.items()})
    found = Rollouts(model, recorded(arm, 2), {STATED: light})
    assert np.isinf(found.overall(STATED)[-1]) and np.isinf(found.over_time(STATED)[-1])
    # Before it is lost, its distance is finite.
    assert found.over_time(STATED)[0] < 0.1
    assert 'as stated more than 360°' in found.headline
    assert np.isfinite(found.overall(IDENTIFIED)).all()


def test_the_identified_arm_is_all_but_as_near_as_the_true_one_under_the_same_noise(arm, model):
    found = Rollouts(model, recorded(arm, 2, noise=1.0, seed=5), {
        TRUTH: arm, STATED: heavier(arm)})
    assert (found.overall(IDENTIFIED) < 1.3 * found.overall(TRUTH)).all()
    assert found.overall(STATED)[1] > 3 * found.overall(IDENTIFIED)[1]
    # The noise of the torque explains the distance of the true arm, while the error of the
    # offset and the turns of friction between samples have not grown.
    assert found.overall(FLOOR)[0] == pytest.approx(found.overall(TRUTH)[0], rel=0.4)
    assert f'over 0.5 s; {TRUTH} ' in found.headline


def test_the_stated_arm_stands_beside_it_by_default(arm, model):
    found = Rollouts(model, recorded(arm, 2, seconds=6.0))
    assert [*found.errors] == [IDENTIFIED, STATED, FLOOR]
    bare = replace(model, arm=replace(model.arm, inertial=None))
    assert STATED not in Rollouts(bare, recorded(arm, 2, seconds=6.0)).errors
    # A signal in its own unit moves links of that unit alone, not those that are stated in kg.
    for signal, scale, peers in (('current', '', []), ('command', 'relative', []),
                                 ('command', 'masses', [STATED])):
        drive = replace(arm.drive, signal=signal, scale=scale)
        assert [*stated_peer(replace(arm, drive=drive))] == peers


def test_an_arm_whose_signal_lacks_gravity_is_held_against_it(arm):
    held = replace(arm, drive=replace(arm.drive, includes_gravity=False))
    logs = [recorded(held.as_measured, motion, seconds=12.0) for motion in (1, 2)]
    found = Rollouts(identify(held, logs[:1], friction=PLAIN_TERMS, holdout=0), logs[1],
                     {TRUTH: held})
    for name in (IDENTIFIED, TRUTH):
        assert degrees(found, name)[1] < 0.2


def test_noise_alone_moves_an_arm_as_its_double_integral():
    rng = np.random.default_rng(0)
    arm = replace(random_arm(rng, 1, prismatic=False), gravity=np.zeros(3), friction=(),
                  conditioning=Conditioning(cutoff_hz=5.0, delay=0.0))
    t = np.arange(round(20 * RATE)) / RATE
    q = np.sin(3 * t)[:, None] + 0.3 * np.sin(7 * t)[:, None]
    qdd = -9 * np.sin(3 * t)[:, None] - 0.3 * 49 * np.sin(7 * t)[:, None]
    still = np.zeros((1, 1))
    from dynid_ros.dynamics.rigid_parameters import rigid_parameters

    [[inertia]] = rigid_parameters(arm).torque(still, still, np.ones((1, 1)))
    sigma = 0.05 * inertia
    log = Recording(t, q, inertia * qdd + sigma * rng.normal(size=q.shape), arm.joint_names)
    found = Rollouts(identify(arm, [log], friction=(), holdout=0.3), log)
    assert found.held_out
    # Var = sigma² T³ / (3 rate inertia²) of white noise of some rate; 60 restarts of 0.1 s.
    expected = sigma / inertia * np.sqrt(np.array(found.horizons)**3 / (3 * RATE))
    np.testing.assert_allclose(found.overall(FLOOR)[0], expected[0], rtol=0.35)


def test_only_the_held_out_part_of_a_fitted_recording_counts(arm):
    log = recorded(arm, 1, noise=1.0, seconds=18.0)
    held = identify(arm, [log], friction=PLAIN_TERMS)
    found = Rollouts(held, log)
    part = next(each for each in held.predictions if each.held_out)
    assert found.held_out and found.counts[0] <= 10 * (part.t[-1] - part.t[0])
    assert not Rollouts(identify(arm, [log], friction=PLAIN_TERMS, holdout=0), log).held_out


@pytest.fixture(scope='module')
def halved(arm):
    """Model of the first part of a recording, of which the rest was held out."""
    bare = replace(arm, friction_nominal={**arm.friction_nominal, 'coulomb': np.zeros(2)})
    log = recorded(bare, 1, seconds=18.0)
    return bare, log, identify(heavier(bare), [log], friction=PLAIN_TERMS)


def test_rows_that_a_model_keeps_move_arms_as_the_recording_does(halved):
    arm, log, model = halved
    others = {TRUTH: arm, STATED: heavier(arm)}
    found, whole = Rollouts(model, None, others), Rollouts(model, log, others)
    assert found.held_out and found.horizons == (0.5,) and found.counts[0] <= 10
    assert found.source == model.validation.source
    # The torque of rows has passed the low-pass of the fit, and is on splines between them.
    assert (degrees(found, TRUTH) < 0.1).all()
    for name in (IDENTIFIED, TRUTH):
        assert (degrees(found, STATED) > 20 * degrees(found, name)).all()
    # Other restarts of the same part.
    assert found.overall(STATED)[0] == pytest.approx(whole.overall(STATED)[1], rel=0.3)
    assert found.headline.startswith('moves to within 0.0')


def test_the_report_draws_what_the_summary_states(halved, tmp_path):
    _, _, model = halved
    found = kept_rollouts(model)
    write_report(model, tmp_path / 'report.html', found)
    text = (tmp_path / 'report.html').read_text(encoding='utf-8')
    section = re.search(r'<section id="rollouts".*?</section>', text, flags=re.DOTALL)[0]
    own, stated = (re.search(rf'<path class="{style}" d="([^"]*)"', section)[1]
                   for style in ('predicted', 'plain'))
    # Up is less, in a drawing: the heavier arm is further away at the end.
    assert float(stated.split(',')[-1]) < float(own.split(',')[-1]) - 50
    for joint, *cells in found.table()[1:]:
        cells = ''.join(f'<td class="number">{cell}</td>' for cell in cells)
        assert f'<th scope="row">{joint}</th>{cells}' in section
    assert f'\n- In MuJoCo it {found.headline}.\n' in result_answer(model, (), found).text()


@pytest.mark.slow
def test_a_command_simulates_without_a_library_for_windows(halved, tmp_path):
    folder = IdentifiedModel.of(halved[2]).save(tmp_path / 'result')
    code = ('import sys; from dynid_ros.interface.cli.main import main; '
            f'main(["report", {str(folder)!r}]); assert "mujoco" in sys.modules; '
            'assert "glfw" not in sys.modules')
    done = subprocess.run([sys.executable, '-c', code], check=True, capture_output=True, text=True)
    assert '- In MuJoCo it moves to within ' in done.stdout


def test_only_rows_in_which_all_joints_move_and_none_is_missing_count(halved):
    _, _, model = halved
    *fitted, part = model.predictions
    spacing, still = 1 / model.row_rate_hz, part.tau.copy()
    # The second joint rests for a second; then ten rows are missing.
    rest = (part.t > part.t[0] + 1.5) & (part.t < part.t[0] + 2.5)
    still[rest, 1] = np.nan
    kept = np.arange(len(part.t))
    gap = np.searchsorted(part.t, part.t[0] + 4.0)
    kept = np.delete(kept, slice(gap, gap + 10))
    cut = replace(part, tau=still[kept], **{
        name: getattr(part, name)[kept] for name in ('t', 'q', 'qd', 'tau_hat')})
    motions = stretches.kept_rows(replace(model, predictions=(*fitted, cut))).motions
    assert len(motions) == 3
    for motion in motions:
        at = (part.t >= motion.t[0] - 1e-9) & (part.t <= motion.t[-1] + 1e-9)
        assert not (at & rest).any() and not at[gap:gap + 10].any()
        assert np.diff(motion.t).max() < spacing
        np.testing.assert_allclose(motion.tau[::8], part.tau[at], atol=1e-9)
    everywhere = replace(part, tau=np.where([True, False], part.tau, np.nan))
    assert kept_rollouts(replace(model, predictions=(*fitted, everywhere))) is None


def test_a_model_without_held_out_rows_has_no_rollouts(halved, model):
    _, _, held = halved
    live = replace(held, predictions=held.predictions[-1:])
    for each in (model, live, replace(held, predictions=())):
        assert kept_rollouts(each) is None


def test_an_arm_that_mujoco_refuses_is_refused_in_one_sentence():
    with pytest.raises(InputError, match='MuJoCo refuses the arm: '):
        loaded('<mujoco><worldbody><body><joint/></body></worldbody></mujoco>')


def test_drives_that_follow_commands_are_driven_by_them(arm):
    kp, kd = np.array([30.0, 20.0]), np.array([1.0, 0.5])
    servo = replace(arm, drive=replace(arm.drive, signal='command', gain=kp, damping=kd))

    def commanded(motion):
        log = recorded(arm, motion)
        qd = np.gradient(log.q, 1 / RATE, axis=0)
        return replace(log, u=log.q + (log.u + kd * qd) / kp, signal='command')

    model = identify(servo, [commanded(1)], friction=PLAIN_TERMS, holdout=0)
    found = Rollouts(model, commanded(2), {TRUTH: servo, 'heavier': heavier(servo)})
    assert found.by_commands and FLOOR not in found.errors
    # A stiff loop forgets errors of the torque.
    assert (degrees(found, IDENTIFIED) < 0.3).all() and (degrees(found, TRUTH) < 0.3).all()
    # And those of a model, which the recorded torque shows 25 times as large after half a second.
    assert (degrees(found, 'heavier') < 2 * degrees(found, TRUTH)).all()
    assert found.as_dict()['driven_by'] == 'commands'


def test_restarts_are_measured_states_between_samples():
    from dynid_ros.data.recordings.warmth import warmth_of
    from dynid_ros.data.signals.conditioning import ConditionedMotion

    t = np.arange(400) / 100
    q, qd = np.sin(2 * t)[:, None], 2 * np.cos(2 * t)[:, None]
    still = ConditionedMotion(t, q, qd, 0 * q, 3 * q, np.ones_like(q, dtype=bool), warmth_of(t, q))
    cut = restarts([still], [still.tau], 0.5, 0.002, 10)
    at = cut.start[:, None] + cut.t
    np.testing.assert_allclose(cut.q[:, :-1, 0], np.sin(2 * at), atol=1e-8)
    np.testing.assert_allclose(cut.qd[:, 0], 2 * np.cos(2 * (cut.start - 0.001)), atol=1e-3)
    np.testing.assert_allclose(cut.drive[..., 0], 3 * np.sin(2 * at), atol=1e-3)
    assert cut.start[0] >= t[10] and at[-1, -1] <= t[-11]
    assert restarts([still], [still.tau], 0.5, 0.002, 10, spans=[(2.0, 3.2)]).start.min() >= 2.0
    assert restarts([still], [still.tau], 5.0, 0.002) is None


def test_a_recording_that_is_too_short_is_refused(arm, model, monkeypatch):
    monkeypatch.setattr(stretches, 'HORIZONS', (20.0,))
    with pytest.raises(RecordingError, match='shortest horizon of a rollout'):
        Rollouts(model, recorded(arm, 2, seconds=6.0))


def test_without_mujoco_the_remedy_is_named(arm, model, halved, monkeypatch):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    with pytest.raises(InputError, match='rollouts need MuJoCo, which is not installed; install'):
        Rollouts(model, recorded(arm, 2, seconds=6.0))
    assert kept_rollouts(halved[2]) is None
