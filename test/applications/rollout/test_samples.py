# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Samples of the posterior: possible, as wide as the error bars, and true where they say so."""

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio
from planted import heavier, NOISE, RATE, recorded
import pytest
from synthetic_recordings import coloured, Waves
import yaml

from dynid_ros.applications.rollout.noise import fast_noise, sensor_noise, TorqueError
from dynid_ros.applications.rollout.posterior import draw_parameters
from dynid_ros.applications.rollout.sample_files import export_samples
from dynid_ros.applications.rollout.samples import Samples
from dynid_ros.applications.rollout.stretches import unseen_part
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.parameters import pseudo_inertia
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.pages.report.curves import welch

pytestmark = pytest.mark.usefixtures('figures_alone')
DRAWS = 200


@pytest.fixture(scope='module')
def draws(model):
    return draw_parameters(model, DRAWS)


def test_every_draw_is_a_possible_arm(model, draws):
    layout = model.arm.layout
    bodies = draws[:, layout.all_inertial()].reshape(-1, 10)
    assert min(np.linalg.eigvalsh(pseudo_inertia(body))[0] for body in bodies) > 0
    assert (draws[:, layout.rotors] > 0).all()
    for symbol in ('Fv', 'Fc'):
        assert (draws[:, layout.friction_columns(symbol)] >= 0).all()


def test_what_the_data_determine_varies_by_its_error_bar(model, draws):
    found = model.standard_parameters()
    theta = draws @ found.prior.grouping.T
    known = model.data_share > 0.9
    assert known.sum() > 8
    off = (theta.mean(axis=0) - found.theta)[known] / model.std[known]
    assert (np.abs(off) < 0.5).all()
    # The standard deviation of 200 draws has an error of 5 %; bounds of the cone narrow some.
    ratio = (theta.std(axis=0) / model.std)[known]
    assert (ratio < 1.2).all() and np.median(ratio) > 0.85
    # Together, too: correlations of friction and inertia are those of the covariance.
    wide = known & (theta.std(axis=0) > 0.9 * model.std)
    own, drawn = (np.asarray(C)[np.ix_(wide, wide)] for C in (
        model.covariance / np.outer(model.std, model.std), np.corrcoef(theta.T)))
    assert wide.sum() > 4 and np.abs(own - drawn).max() < 0.35


def test_what_no_data_determine_varies_by_the_prior(model, draws):
    found = model.standard_parameters()
    mass = draws[:, found.cone.links[0, 0]]
    # The first axis is vertical: its mass alone moves nothing.
    assert found.data_share[found.cone.links[0, 0]] < 0.5
    assert 0.4 < np.log(mass).std() < 1.6


@pytest.mark.slow
def test_a_parameter_without_limits_that_no_data_determine_has_the_spread_of_its_prior(arm):
    t = np.arange(round(12.0 * RATE)) / RATE
    q, qd, qdd = Waves.random(arm, 1, lowest_hz=0.2).at(t)
    # A joint that never moves tells nothing of the zero of its torque.
    q[:, 0], qd[:, 0], qdd[:, 0] = 0.3, 0.0, 0.0
    tau = regressor(arm, q, qd, qdd) @ nominal_parameters(arm)
    tau += coloured(np.random.default_rng(0), len(t), NOISE, 0.0)
    log = Recording(t, q, tau, arm.joint_names, 'effort', 'one joint')
    model = identify(heavier(arm), [log], friction=PLAIN_TERMS, holdout=0)
    place = base_parameters(model.arm).names.index('Fo1')
    assert model.data_share[place] < 0.1
    theta = draw_parameters(model, DRAWS) @ model.standard_parameters().prior.grouping.T
    # The standard deviation of 200 draws has an error of 5 %.
    assert abs(theta[:, place].std() / model.std[place] - 1) < 0.2


@pytest.fixture(scope='module')
def noisy(arm):
    """Models of recordings with coloured noise, and a recording of another motion to each."""
    logs = [[recorded(arm, motion, noise=3.0, seed=10 * seed + motion, memory=0.9, seconds=12.0)
             for motion in (1, 2)] for seed in range(3)]
    return [(identify(heavier(arm), [first], friction=PLAIN_TERMS, holdout=0), second)
            for first, second in logs]


@pytest.mark.slow
def test_samples_hold_the_recorded_motion_as_often_as_they_state(noisy):
    inside = [Samples(model, 30).within(log, 0.5) for model, log in noisy]
    assert 0.90 <= np.concatenate(inside).mean() <= 0.99


def test_samples_without_torque_beside_them_would_not(noisy):
    model, log = noisy[1]
    sure = Samples(model, 20)
    sure.error.rows = 0.0 * sure.error.rows
    assert sure.within(log, 0.5).mean() < 0.8


def test_torque_beside_the_model_has_the_spectrum_of_its_residual(model):
    error = TorqueError(model, Samples(model, 1).centre)
    times = np.arange(len(error.rows)) / error.rate_hz
    rng = np.random.default_rng(0)
    drawn = np.mean([welch(error.draw(times, 1, rng)[0], error.rate_hz, 64)
                     for _ in range(20)], axis=0)
    own = welch(error.rows, error.rate_hz, 64)
    slow = np.fft.rfftfreq(64, 1 / error.rate_hz) < model.treatment.cutoff_hz
    np.testing.assert_allclose(drawn[1:][slow[1:]], own[1:][slow[1:]], rtol=0.6)
    rms = np.sqrt((error.draw(times, 1, rng)[0]**2).mean(axis=0))
    np.testing.assert_allclose(rms, np.sqrt((error.rows**2).mean(axis=0)), rtol=0.1)
    # Joints stay as correlated as they are in the residual.
    error.rows = error.rows @ np.array([[1.0, 1.0], [0.0, 1.0]])
    own, drawn = (np.corrcoef(x.T)[0, 1] for x in (
        error.rows, np.concatenate([error.draw(times, 1, rng)[0] for _ in range(10)])))
    assert own > 0.5 and drawn == pytest.approx(own, abs=0.15)


def test_noise_of_the_torque_is_that_of_the_sensor(arm, model):
    own, _, _ = unseen_part(model, recorded(arm, 2, noise=1.0, seed=3))
    level = sensor_noise(model, own.motions)
    # Coulomb friction turns between samples adds to it.
    assert (level > 0.95 * NOISE).all() and (level < 1.5 * NOISE).all()
    low_pass = own.settings.decimator()
    fast = fast_noise(level, RATE, low_pass, np.arange(8192) / RATE, 1,
                      np.random.default_rng(0))[0]
    kept = 1 - (low_pass.taps**2).sum()
    # Straight lines between samples take a third of the power of white noise.
    np.testing.assert_allclose((fast**2).mean(axis=0), kept * level**2, rtol=0.5)
    slow = welch(fast, RATE, 256)[np.fft.rfftfreq(256, 1 / RATE) < 3]
    assert slow.mean() < 0.05 * (level**2).mean() / (RATE / 2)


def test_files_hold_the_samples(model, tmp_path):
    folder = tmp_path / 'samples'
    notes = export_samples(model, folder, 40)
    assert 'ranges.yaml the range of each' in notes[-1]
    first, *rows = (folder / 'samples.csv').read_text().splitlines()
    names, table = first.split(','), np.array([row.split(',') for row in rows], dtype=float)
    assert len({path.name for path in folder.glob('*.xml')}) == len(table) == 40
    ranges = yaml.safe_load((folder / 'ranges.yaml').read_text())
    for k in (0, 39):
        made = mujoco.MjModel.from_xml_path(str(folder / f'sample_{k:03}.xml'))
        row = dict(zip(names, table[k], strict=True))
        for joint, name in enumerate(model.arm.joint_names):
            body = made.body(made.joint(name).bodyid[0])
            own = [row[f'{name}.{each}'] for each in ('mass', 'com_x', 'com_y', 'com_z')]
            np.testing.assert_allclose([body.mass[0], *body.ipos], own, rtol=1e-6, atol=1e-9)
            assert made.dof_armature[joint] == pytest.approx(row[f'{name}.armature'])
            assert made.dof_damping[joint] == pytest.approx(row[f'{name}.damping'])
            assert made.dof_frictionloss[joint] == pytest.approx(row[f'{name}.frictionloss'])
    for name, values in zip(names, table.T, strict=True):
        joint, own = name.split('.')
        found = ranges[joint][own]
        assert 0.9 <= ((found['low'] <= values) & (values <= found['high'])).mean() <= 1
        if 'scale' in found:
            assert found['scale'][1] == pytest.approx(found['high'] / found['value'])
    with np.load(folder / 'torque_error.npz') as beside:
        assert beside['torque'].shape == (40, len(beside['t']), 2)
        assert tuple(beside['joints']) == model.arm.joint_names


def test_samples_replace_each_other_but_no_file_of_others(model, tmp_path):
    folder = tmp_path / 'samples'
    export_samples(model, folder, 3, 'yaml')
    assert not list(folder.glob('sample_*'))
    export_samples(model, folder, 2, 'urdf')
    made = [pinocchio.buildModelFromUrdf(str(path)) for path in sorted(folder.glob('*.urdf'))]
    assert len(made) == 2 and made[0].damping[0] != made[1].damping[0]
    (folder / 'mine.txt').write_text('mine')
    from dynid_ros.errors import ResultError

    with pytest.raises(ResultError, match='exists already'):
        export_samples(model, folder, 2)


@pytest.mark.parametrize(('changes', 'said'), [
    ({'form': 'python'}, 'samples are written as one of mjcf, urdf, yaml, not as python'),
    ({'count': 1001}, 'count must be a whole number from 1 to 1000, not 1001'),
    ({'robot': 'my.urdf'}, 'for samples as urdf only, not as mjcf'),
])
def test_what_cannot_be_drawn_is_refused(model, tmp_path, changes, said):
    with pytest.raises(InputError, match=said):
        export_samples(model, tmp_path / 'samples', **{'count': 2, **changes})


def test_a_model_without_rows_has_no_samples(model):
    with pytest.raises(InputError, match='keeps no torque over time'):
        Samples(replace(model, predictions=()), 1)
