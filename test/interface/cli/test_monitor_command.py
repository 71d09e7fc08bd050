# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid monitor`` as a user calls it."""

from dataclasses import replace
import json

import numpy as np
import pytest
from results import identification

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion

# As if its drives measured torque.
ARM, RATE = replace(load_arm('two_axis'), drive=Drive.joint_torque(2)), 250.0
STILL = np.zeros((600, 2))


@pytest.fixture
def folder(tmp_path):
    """Write a true model with small residuals, and recordings with and without a push."""
    rng = np.random.default_rng(0)
    base = base_parameters(ARM)
    t = 0.1 * np.arange(600)
    residual = Prediction('held out', True, t, STILL, STILL + 1.0,
                          0.002 * rng.normal(size=STILL.shape), STILL)
    model = identification(
        ARM, theta=base.grouping @ nominal_parameters(ARM), covariance=1e-8 * np.eye(base.count),
        sigma=np.full(2, 0.002), predictions=(residual,),
        treatment=ConditioningSettings(3.0, True, 'butterworth', RATE, 25))
    write_result(model, tmp_path / 'result')
    motion = random_motion(ARM, 3, tries=5)
    t = np.arange(0, 20.0, 1 / RATE)
    q, qd, qdd = motion.evaluate(t)
    tau = regressor(ARM, q, qd, qdd) @ nominal_parameters(ARM) + 0.002 * rng.normal(size=q.shape)
    np.savez(tmp_path / 'free.npz', t=t, q=q, tau=tau)
    tau[(t > 12) & (t < 13), 1] += 0.4
    np.savez(tmp_path / 'pushed.npz', t=t, q=q, tau=tau)
    np.savez(tmp_path / 'short.npz', t=t[:600], q=q[:600], tau=tau[:600])
    return tmp_path


def run(folder, name, *options):
    return main(['monitor', str(folder / name), '--model', str(folder / 'result'), *options])


def test_a_free_motion_is_quiet(folder, capsys):
    assert run(folder, 'free.npz') == 0
    assert 'No contact in 19.7 s.' in capsys.readouterr().out


@pytest.mark.parametrize('place', [0.0, 4.0])
def test_a_joint_that_moves_elsewhere_is_an_extrapolation(folder, capsys, place):
    """The model was identified where both joints move, or far from where the second one does."""
    model = read_result(folder / 'result')
    with np.load(folder / 'free.npz') as free:
        q, t = free['q'][::50], free['t'][::50]
    seen = replace(model.predictions[0], held_out=False, t=t, q=q + np.array([0.0, place]),
                   qd=0 * q, tau=0 * q, tau_hat=0 * q)
    write_result(replace(model, predictions=(*model.predictions, seen)), folder / 'result')
    assert run(folder, 'free.npz') == 0
    told = capsys.readouterr().out
    assert ('Extrapolation: pendulum_joint moved elsewhere' in told) == bool(place)
    assert 'arm_joint moved' not in told
    assert run(folder, 'free.npz', '--json') == 0
    assert len(json.loads(capsys.readouterr().out)['remarks']) == bool(place)


@pytest.mark.slow
def test_a_push_is_listed_drawn_and_written(folder, capsys):
    assert run(folder, 'pushed.npz', '--json', '-o', str(folder / 'out')) == 0
    found = json.loads(capsys.readouterr().out)
    (contact,) = found['contacts']
    assert contact['joints'][0] == ARM.joint_names[1]
    assert 12.0 < contact['start'] < 12.05 and 12.95 < contact['stop'] < 13.4
    assert contact['torque'][1] == pytest.approx(0.4, abs=0.05)
    assert found['aged'] is None and found['held_out']
    with np.load(folder / 'out' / 'monitor.npz') as curves:
        felt = curves['contact'][:, 1]
        assert ((curves['t'][felt] > 11.9) & (curves['t'][felt] < 13.4)).all() and felt.any()
    assert (folder / 'out' / 'monitor.svg').read_text().lstrip().startswith('<?xml')
    assert run(folder, 'pushed.npz') == 0
    assert '1 contact in' in capsys.readouterr().out


def test_a_recording_too_short_to_learn_its_noise_is_refused(folder, capsys):
    assert run(folder, 'short.npz') == 2
    assert 'the monitor needs five seconds' in capsys.readouterr().err


def test_a_model_that_fits_no_more_gives_status_1(folder, capsys):
    with np.load(folder / 'free.npz') as free:
        t, q, tau = (free[name] for name in ('t', 'q', 'tau'))
    wrong = tau * [1.0, 1.4]
    np.savez(folder / 'aged.npz', t=np.concatenate([t, t + t[-1] + 1 / RATE]),
             q=np.tile(q, (2, 1)), tau=np.tile(wrong, (2, 1)))
    assert run(folder, 'aged.npz') == 1
    assert 'The model no longer fits: ' in capsys.readouterr().out


@pytest.mark.parametrize('rate', ['0', '-1', 'often'])
def test_an_impossible_rate_is_refused(folder, rate):
    with pytest.raises(SystemExit) as ended:
        run(folder, 'free.npz', '--alarms-per-hour', rate)
    assert ended.value.code == 2
