# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The lines of a notebook, from a bag to the model in use, against the command and Pinocchio."""

from dataclasses import replace
from pathlib import Path
import re

from estimates import without_suspects
import numpy as np
from oracles import pinocchio_model
import pinocchio
import pytest
from results import identification
from short_pages import shorten

import dynid_ros as dyn
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_file import write_motion

pytestmark = pytest.mark.slow

ARM = 'two_axis'
EXCERPT = Path(__file__).resolve().parents[2] / 'excerpts/panda/excerpt.npz'


@pytest.fixture(scope='module')
def bags(tmp_path_factory):
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    folder = tmp_path_factory.mktemp('bags')
    arm = dyn.load_arm(ARM)
    for seed, name in enumerate(('my_bag', 'other_bag')):
        motion = folder / f'{name}.yaml'
        write_motion(motion, random_motion(arm, seed, period=5.0, periods=2, tries=30), arm)
        with pytest.MonkeyPatch.context() as patch:
            shorten(patch.setattr)
            dyn.simulate(ARM, motion, seed=seed, out=folder / name)
    return folder


@pytest.fixture(scope='module')
def model(bags):
    return dyn.identify(ARM, [str(bags / 'my_bag')])


@pytest.fixture(scope='module')
def real():
    with without_suspects():
        return dyn.identify('panda', [str(EXCERPT)])


@pytest.fixture(scope='module')
def other(bags):
    return dyn.identify(ARM, bags / 'other_bag', friction='viscous, coulomb')


def printed(capsys, arm, recording, folder):
    """Return what the command prints of its model, without the line of its files."""
    main(['identify', str(recording), '--arm', str(arm), '-o', str(folder)])
    return capsys.readouterr().out.splitlines()[:-1]


def test_model_shows_what_the_command_prints(bags, model, capsys, tmp_path):
    assert model.summary().splitlines() == printed(capsys, ARM, bags / 'my_bag', tmp_path)
    assert len(repr(model).splitlines()) == 5


# The other one is searched for faults, too.
@without_suspects()
def test_a_real_recording_shows_what_the_command_prints(real, capsys, tmp_path):
    assert real.summary().splitlines() == printed(capsys, 'panda', EXCERPT, tmp_path)


def test_tables_agree_in_labels_order_and_intervals(model):
    table, low_high = model.to_dataframe(), model.conf_int(0.95)
    assert tuple(table.index) == model.names == tuple(model.parameters)
    assert model.names == base_parameters(model.arm).names
    np.testing.assert_array_equal(table['value'], list(model.parameters.values()))
    np.testing.assert_array_equal(table['std'], np.sqrt(np.diag(model.covariance)))
    np.testing.assert_array_equal(table[['low', 'high']], low_high)
    # 95 % of a normal distribution lie within 1.96 standard deviations.
    np.testing.assert_allclose(
        low_high[:, 1] - low_high[:, 0], 2 * 1.959964 * model.std, rtol=1e-6)
    np.testing.assert_array_equal(table['source'] == 'data', model.from_data)
    assert tuple(table['unit']) == model.units


def test_table_needs_pandas_and_nothing_else_does(model, monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, 'pandas', None)
    with pytest.raises(dyn.DynidError, match='pip install pandas'):
        model.to_dataframe()


def test_validation_has_errors_and_torque_over_time(bags, model):
    found = model.validate(dyn.read_recording(bags / 'other_bag', model.arm))
    assert found.metrics.held_out
    assert found.reasons == []
    error = found.tau - found.tau_hat
    # As the relative error is defined.
    percent = 100 * np.sqrt(np.nansum(error**2) / np.nansum(found.tau**2))
    assert percent == pytest.approx(found.relative_error_percent, rel=1e-9)
    assert found.tau.shape == (len(found.t), model.arm.n)
    own = dyn.validate(model, bags / 'my_bag')
    assert 'The model was fitted to' in own.verdict
    assert not own.metrics.held_out


def test_dynamics_are_those_of_pinocchio(real):
    arm = real.possible_arm
    known, rng = pinocchio_model(arm), np.random.default_rng(0)
    known.armature, data = arm.rotor_nominal, known.createData()
    middle = (arm.limits.lower + arm.limits.upper) / 2
    q = middle + rng.uniform(-0.3, 0.3, (5, arm.n))
    qd, qdd = rng.uniform(-1, 1, (2, 5, arm.n))
    # The standard parameters are in the base parameters to rounding where these follow from them.
    assert real.possible
    close = {'rtol': 1e-6, 'atol': 1e-6}
    tau, mass = real.inverse_dynamics(q, qd, qdd), real.mass_matrix(q)
    for k, state in enumerate(zip(q, qd, qdd, strict=True)):
        expected = pinocchio.rnea(known, data, *state)
        np.testing.assert_allclose(tau[k], expected, **close)
        np.testing.assert_allclose(real.inverse_dynamics(*state), expected, **close)
        M = pinocchio.crba(known, data, state[0])
        np.testing.assert_allclose(mass[k], np.triu(M) + np.triu(M, 1).T, **close)
        np.testing.assert_allclose(real.gravity(q[k]), pinocchio.computeGeneralizedGravity(
            known, data, q[k]), **close)
    np.testing.assert_allclose(real.forward_dynamics(q, qd, tau), qdd, atol=1e-8)
    np.testing.assert_array_equal(real.predict_torque(q), real.predict_torque(q, 0 * q, 0 * q))
    assert real.predict_torque(q[0].tolist()).shape == (arm.n,)


def test_saved_model_is_loaded_again_bit_for_bit(model, tmp_path):
    again = dyn.load_model(model.save(tmp_path / 'result'))
    np.testing.assert_array_equal(again.theta, model.theta)
    np.testing.assert_array_equal(again.covariance, model.covariance)
    assert again.summary() == model.summary()
    assert (tmp_path / 'result' / 'report.html').is_file()
    assert not dyn.compare(again, model).differ.any()


def test_models_stand_side_by_side(model, other):
    found = dyn.compare(model, other)
    table = found.to_dataframe()
    assert table.loc['Fv1', 'other'] == other.parameters['Fv1']
    # Presliding and offsets are of the first model alone.
    assert np.isnan(table.loc['Fo1', 'other'])
    expected = abs(model.parameters['Fc1'] - other.parameters['Fc1']) > 1.959964 * np.hypot(
        model.std[model.names.index('Fc1')], other.std[other.names.index('Fc1')])
    assert table.loc['Fc1', 'differ'] == expected


def test_figures_are_drawn_and_shown_in_a_notebook(bags, model, other):
    from matplotlib.figure import Figure

    validation = model.validate(bags / 'other_bag')
    figures = [
        model.plot(), validation.plot(), dyn.compare(model, other).plot(), dyn.plot_torque(model),
        dyn.plot_friction(model), dyn.plot_recording(bags / 'my_bag', ARM)]
    assert all(isinstance(each, Figure) for each in figures)
    # A panel has the measured torque of its joint.
    line = validation.plot().axes[1].lines[0]
    assert np.nanmax(line.get_ydata()) == pytest.approx(np.nanmax(validation.tau[:, 1]))
    assert figures[0]._repr_html_().startswith('<img alt="figure" src="data:image/png;base64,')


def test_other_commands_take_names_and_objects(bags, model, tmp_path):
    folder = model.save(tmp_path / 'result')
    replayed = dyn.replay(ARM, bags / 'my_bag', start=folder)
    assert replayed.model.validation.relative_error_percent < 10
    assert replayed.plot().axes
    watched = dyn.monitor(folder, bags / 'other_bag')
    assert watched.torque.shape == (len(watched.t), model.arm.n)
    assert dyn.plot_contacts(model, watched).axes
    excerpt = dyn.read_recording(EXCERPT, 'panda')
    middle, end = len(excerpt.t) // 2, len(excerpt.t)
    with without_suspects():
        free = dyn.identify('panda', [excerpt.part(0, middle)])
    later = replace(excerpt.part(middle, end), source='later')
    load, gains = dyn.payload(free, later), dyn.gains(ARM, bags / 'my_bag')
    assert not load.present
    assert gains.joint_names == model.arm.joint_names
    for shown in (load, gains, watched):
        assert len(repr(shown)) < 1000
        assert '<table>' in shown._repr_html_()
    found = dyn.check_recording(bags / 'my_bag', ARM)
    assert {each.severity for each in found} == {'info'}


def test_design_simulate_identify_in_a_row(tmp_path):
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    design = dyn.design_excitation('two_axis', period=3.0, harmonics=3, starts=1, seconds=2.0)
    design.save(tmp_path / 'excitation.yaml')
    log, same = (dyn.simulate('two_axis', each) for each in (
        design, tmp_path / 'excitation.yaml'))
    np.testing.assert_allclose(log.q, same.q, atol=1e-9)
    model = dyn.identify('two_axis', log)
    # The validation motion of the design is held out.
    assert model.validation.source.startswith('validation motion')
    assert model.validation.relative_error_percent < 5
    assert dyn.plot_motion(design).axes
    for shown in (design, log, log.arm):
        assert len(repr(shown)) < 1000
        assert '<table>' in shown._repr_html_()


def test_notebook_shows_the_verdict_and_escapes_names(model):
    assert 'trustworthy' in model._repr_html_()
    html = dyn.IdentifiedModel.of(identification(sources=('<script>x</script>',)))._repr_html_()
    assert '<script>' not in html
    assert '&lt;script&gt;' in html
    assert re.search('<td[^>]*>.* Nm</td>', html)


def test_seconds_and_stamps_teach_the_same():
    rng = np.random.default_rng(0)
    t = 0.004 * np.arange(2000)
    q = np.sin(np.outer(t, [1.0, 1.7])) + 1e-4 * rng.normal(size=(2000, 2))
    by_seconds, by_stamps = (dyn.OnlineIdentifier('two_axis', delay=0.0) for _ in range(2))
    by_seconds.push(t, q, np.cos(q))
    by_stamps.push_ns(np.rint(1e9 * t).astype(np.int64), q, np.cos(q))
    first, second = by_seconds.result(), by_stamps.result()
    np.testing.assert_array_equal(first.theta, second.theta)
    assert isinstance(first, dyn.IdentifiedModel)
