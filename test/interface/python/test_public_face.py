# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The names that users import: what they promise, and how they refuse."""

import ast
from contextlib import redirect_stdout
from dataclasses import replace
import io
from pathlib import Path
import re
import subprocess
import sys

from estimates import without_suspects
import numpy as np
import pytest
from results import identification
from short_pages import shorten

import dynid_ros as dyn
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_body import inverse_dynamics

ROOT = Path(__file__).resolve().parents[3]
TWO_AXIS = dyn.load_arm('two_axis')


# The gallery judges the same arm with them.
@without_suspects()
@pytest.mark.slow
def test_page_about_python_runs_from_top_to_bottom(tmp_path, monkeypatch):
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    monkeypatch.chdir(tmp_path)
    shorten(monkeypatch.setattr, period=6.0)
    page = (ROOT / 'docs' / 'python.md').read_text()
    names: dict = {}
    with redirect_stdout(io.StringIO()) as printed:
        for block in re.findall(r'```python\n(.*?)```', page, re.DOTALL):
            exec(block, names)
    assert 'IdentifiedModel of panda' in printed.getvalue()
    assert 'q must have the shape (7,), but has (2,)' in printed.getvalue()
    model, live = names['model'], names['live']
    assert model.validation.relative_error_percent < 5
    assert live.validation.relative_error_percent < 5


def test_import_loads_no_numpy():
    code = "import sys, dynid_ros; print('numpy' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ['False', 'False']


def test_public_names_are_there_and_no_other():
    assert all(getattr(dyn, name) is not None for name in dir(dyn))
    assert sorted(dir(dyn)) == sorted([*dyn.__all__, '__version__'])
    # Whatever can be imported is listed, too.
    assert list(dyn._MODULES) == dyn.__all__ == sorted(dyn.__all__)
    # Those that type checkers see, too.
    source = Path(dyn.__file__).read_text().partition('if TYPE_CHECKING:\n')[2]
    typed = {(alias.name, node.module) for node in ast.walk(ast.parse(
        'if 1:\n' + source.partition('__version__')[0])) if isinstance(node, ast.ImportFrom)
        for alias in node.names}
    assert typed == {(name, f'dynid_ros.{module}') for name, module in dyn._MODULES.items()}
    with pytest.raises(AttributeError, match='nothing'):
        dyn.nothing  # noqa: B018 - the access is what fails
    with pytest.raises(AttributeError, match='did you mean design_excitation'):
        dyn.design  # noqa: B018 - the access is what fails


def test_predicted_torque_is_the_rigid_body_torque_and_friction():
    arm = dyn.load_arm('panda').with_friction(('viscous', 'coulomb', 'load'))
    rng = np.random.default_rng(0)
    model = identification(arm, theta=rng.normal(size=base_parameters(arm).count))
    q, qd, qdd = rng.uniform(-1, 1, (3, 5, arm.n))
    q += (arm.limits.lower + arm.limits.upper) / 2
    # Pinocchio knows nothing of friction; here its coefficients are read back by their names.
    gravity = inverse_dynamics(model, q, 0 * qd, 0 * qdd)
    named = model.parameters
    # Gravity does not load the first joint, so that it has no such coefficient.
    Fv, Fc, Fl = (np.array([named.get(f'{symbol}{j + 1}', 0.0) for j in range(arm.n)])
                  for symbol in ('Fv', 'Fc', 'Fl'))
    smooth = np.tanh(qd / arm.friction_shape.smooth_speed)
    friction = Fv * qd + Fc * np.sign(qd) + Fl * np.abs(gravity) * smooth
    expected = inverse_dynamics(model, q, qd, qdd) + friction
    np.testing.assert_allclose(model.predict_torque(q, qd, qdd), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        model.predict_torque(q[0].tolist(), qd[0].tolist(), qdd[0].tolist()), expected[0],
        rtol=1e-9, atol=1e-9)


def test_model_tells_itself_in_five_lines():
    text = repr(identification())
    assert len(text.splitlines()) == 5
    assert 'held-out torque error: 5.76 %' in text


N = TWO_AXIS.n
ROWS = np.zeros((4, N))
STAMPS = np.arange(4.0)
LOG = dyn.Recording(STAMPS, ROWS, ROWS, TWO_AXIS.joint_names)
MODEL = dyn.IdentifiedModel.of(identification(TWO_AXIS))


@pytest.mark.parametrize(('call', 'said'), [
    (lambda: dyn.identify(TWO_AXIS, []), 'recordings must hold at least one Recording'),
    (lambda: dyn.identify(TWO_AXIS, [], method='nope'),
     "method must be one of differentiated, filtered, power, not 'nope'"),
    (lambda: dyn.identify(TWO_AXIS, [], holdout=1.5), 'holdout must be a share'),
    (lambda: dyn.identify('panda', ['no_bag']), 'no_bag does not exist'),
    (lambda: dyn.identify('no_arm', 'no_bag'), 'there is no arm or file "no_arm"'),
    (lambda: dyn.identify(7, 'no_bag'), 'arm must be a name, a path or an ArmModel, not int'),
    (lambda: dyn.identify(TWO_AXIS, 7),
     'recordings must be a path, a Recording, or a list of these, not int'),
    (lambda: dyn.identify(TWO_AXIS, [7]), 'recordings must be a path or a Recording, not int'),
    (lambda: dyn.identify(TWO_AXIS, ['a', 'a']), 'a is given twice'),
    (lambda: dyn.identify(TWO_AXIS, ['a'], validation='a'), 'so it cannot validate'),
    (lambda: dyn.identify('panda', dyn.Recording(STAMPS, ROWS, ROWS, TWO_AXIS.joint_names)),
     'recordings must be of the joints fer_joint1'),
    (lambda: dyn.identify(TWO_AXIS, LOG, friction='viscos'), "unknown friction term 'viscos'"),
    (lambda: dyn.identify(TWO_AXIS, LOG, friction=7),
     'friction must be a name, names joined by commas, or a list of names, not int'),
    (lambda: dyn.identify(TWO_AXIS, [], holdout='x'), 'holdout must hold numbers'),
    (lambda: dyn.identify(TWO_AXIS, [], holdout=[0.1, 0.2]), 'holdout must be one number'),
    (lambda: dyn.load_model('no_result'), 'name the folder that dynid identify -o wrote'),
    (lambda: dyn.validate(TWO_AXIS, LOG), 'model must be the folder of a result or an '
     'IdentifiedModel, not ArmModel'),
    (lambda: dyn.simulate('two_axis', 'no_motion.yaml'), 'no_motion.yaml'),
    (lambda: dyn.simulate('two_axis', seed='a'), 'seed must hold numbers'),
    (lambda: dyn.design_excitation('two_axis', harmonics=0),
     'harmonics must be a whole number from 1 to 1000000, not 0'),
    (lambda: dyn.design_excitation('two_axis', periods=1.5), 'periods must be a whole number'),
    (lambda: dyn.design_excitation('two_axis', load=2.0), 'load must have the shape (N,)'),
    (lambda: dyn.design_excitation('two_axis', load=[2.0, 0]), 'load must be a mass above zero'),
    (lambda: dyn.design_excitation('two_axis', load=[-2.0]), 'load must be a mass above zero'),
    (lambda: dyn.design_excitation('two_axis', parameters='Izz9'), "no parameter 'Izz9'"),
    (lambda: dyn.feedforward(MODEL, 'no_motion.yaml'), 'no_motion.yaml'),
    (lambda: dyn.external_force(MODEL, [0, 0, 1], [0, 0]), 'a wrench must be'),
    (lambda: dyn.external_force('two_axis', [0] * 6, [0]), 'q must be'),
    (lambda: dyn.pose_error('two_axis', [0, 0], length_std=-1),
     'length_std must be a number of zero or more, not -1'),
    (lambda: dyn.pose_error('two_axis', [0]), 'q must be'),
    (lambda: dyn.convert('no_log', 'bag'), 'no_log'),
    (lambda: MODEL.conf_int(95), 'level must be between 0 and 1, such as 0.95, not 95'),
    (lambda: MODEL.gravity([0, 0, 0]), 'q must be (2,) or (N, 2)'),
    (lambda: MODEL.validate(ROWS), 'recording must be a path or a Recording, not ndarray'),
    (lambda: dyn.export(MODEL, 'model.docx'), "'model.docx' has no suffix of a format"),
    (lambda: dyn.payload(MODEL, LOG, flange=[0, 0]), 'flange must have the shape (6,)'),
    (lambda: dyn.payload(TWO_AXIS, LOG), 'unloaded must hold recordings of the arm'),
    (lambda: dyn.design_excitation('two_axis', period=2000.0), 'the motion would last 6000 s'),
    (lambda: dyn.compare(MODEL, identification(dyn.load_arm('panda'))),
     'other must be of the joints'),
    (lambda: dyn.Recording(STAMPS, ROWS[:, :1], ROWS, TWO_AXIS.joint_names),
     'q must have the shape (N, 2), but has (4, 1)'),
    (lambda: dyn.Recording(STAMPS, ROWS[:3], ROWS, TWO_AXIS.joint_names),
     'q must have a row for each of the 4 stamps of t, but has 3'),
    (lambda: dyn.Recording(ROWS, ROWS, ROWS, TWO_AXIS.joint_names),
     't must have the shape (N,), but has (4, 2)'),
    (lambda: dyn.Recording(STAMPS, ROWS, ROWS, ('a', 'a')), 'the name of each joint once'),
    (lambda: dyn.Recording(STAMPS, ROWS, ROWS, TWO_AXIS.joint_names, 'torque'),
     'signal must be one of effort, current, voltage'),
    (lambda: dyn.Recording(STAMPS, [['x', 'y']], ROWS, TWO_AXIS.joint_names),
     'q must hold numbers'),
    (lambda: dyn.OnlineIdentifier(TWO_AXIS).push([1, 2], ROWS[:2, :1], ROWS[:2]),
     'q must have the shape (N, 2), but has (2, 1)'),
    (lambda: dyn.OnlineIdentifier(TWO_AXIS).push([1, 2], ROWS[:2], ROWS[:3]),
     'the same number of rows, but have 2, 2 and 3'),
    (lambda: dyn.OnlineIdentifier(TWO_AXIS).push([1e18, 2e18], ROWS[:2], ROWS[:2]),
     't must be in s, but is up to 2e+18; push_ns takes ns'),
    (lambda: identification(TWO_AXIS).predict_torque([0, 0], [0, 0], [0, np.inf]),
     'qdd must be finite, but is inf in row 0, joint 2'),
    (lambda: identification(TWO_AXIS).predict_torque(ROWS, ROWS, ROWS[:2]),
     'the same number of rows, but have 4, 4, 2'),
])
def test_wrong_input_is_refused_with_its_name_and_shape(call, said):
    with pytest.raises(dyn.DynidError) as refused:
        call()
    assert said in str(refused.value)


#: Calls, and the arguments in them that are not of the right type yet.
CALLS = {
    dyn.load_arm: {'name_or_path': 'panda'},
    dyn.load_model: {'folder': 'result'},
    dyn.read_recording: {'path': 'log', 'arm': TWO_AXIS, 'topic': 'joints', 'rate_hz': 10.0,
                         'received': False},
    dyn.check_recording: {'recording': LOG, 'arm': TWO_AXIS},
    dyn.convert: {'recording': 'log', 'out': 'bag', 'arm': TWO_AXIS, 'topic': 'joints',
                  'received': False},
    dyn.identify: {'arm': TWO_AXIS, 'recordings': [], 'friction': (), 'holdout': 0.1,
                   'validation': (), 'method': 'power', 'cutoff_hz': 1.0, 'joint_offsets': False,
                   'stated': TWO_AXIS},
    dyn.gains: {'arm': TWO_AXIS, 'recordings': [], 'loaded': (), 'mass': 1.0, 'friction': ()},
    dyn.replay: {'arm': TWO_AXIS, 'recording': LOG, 'start': MODEL, 'cutoff_hz': 1.0,
                 'delay': 0.0, 'memory': 1.0, 'topic': 'joints', 'received': False},
    dyn.validate: {'model': MODEL, 'recording': LOG, 'topic': 'joints', 'received': False},
    dyn.compare: {'model': MODEL, 'other': MODEL, 'level': 0.9},
    dyn.monitor: {'model': MODEL, 'recording': LOG, 'alarms_per_hour': 1.0},
    dyn.payload: {'model': MODEL, 'recordings': LOG, 'flange': [0] * 6},
    dyn.export: {'model': MODEL, 'out': 'new.urdf', 'robot': 'old.urdf', 'form': 'urdf'},
    dyn.external_force: {'arm': MODEL, 'wrench': [0] * 6, 'q': [0, 0], 'body': 'tool',
                         'in_base': False},
    dyn.pose_error: {'arm': TWO_AXIS, 'q': [0, 0], 'body': 'tool'},
    dyn.feedforward: {'model': MODEL, 'motion': 'motion.yaml', 'rate_hz': 1.0, 'out': 'new.yaml'},
    dyn.design_excitation: {
        'arm': TWO_AXIS, 'surroundings': 'two_axis', 'period': 1.0, 'harmonics': 2, 'periods': 1,
        'ramp': 0.0, 'criterion': 'volume', 'scale_columns': False, 'parameters': ('Izz1',),
        'load': [1.0], 'starts': 1, 'seconds': 1.0, 'seed': 0, 'given': MODEL},
    dyn.simulate: {'arm': TWO_AXIS, 'motion': 'motion.yaml', 'seed': 0, 'out': 'bag'},
    dyn.plot_recording: {'recording': LOG, 'arm': TWO_AXIS},
    dyn.plot_torque: {'result': MODEL}, dyn.plot_friction: {'model': MODEL},
    dyn.plot_motion: {'design': None}, dyn.plot_contacts: {'model': MODEL, 'found': None},
    dyn.plot_estimates: {'replayed': None},
    dyn.OnlineIdentifier: {'arm': TWO_AXIS, 'source': 'stream', 'cutoff_hz': 1.0, 'delay': 0.0,
                           'memory': 1.0, 'start': MODEL},
    dyn.Recording: {'t': STAMPS, 'q': ROWS, 'u': ROWS, 'joint_names': TWO_AXIS.joint_names,
                    'signal': 'effort', 'source': 'own', 'qd': ROWS},
    TWO_AXIS.with_friction: {'names': ('viscous',)},
    MODEL.save: {'folder': 'result'}, MODEL.validate: {'recording': LOG},
    MODEL.conf_int: {'level': 0.9}, MODEL.gravity: {'q': [0, 0]},
    MODEL.predict_torque: {'q': [0, 0], 'qd': [0, 0], 'qdd': [0, 0]},
}
WRONG = (object(), 1j, b'x', 10**400, {'a': 1}, len, np.array([[1j, 2j]]),
         ['1', '2', '3'])


@pytest.mark.parametrize(('call', 'argument'), [
    pytest.param(call, argument, id=f'{call.__name__}-{argument}')
    for call, arguments in CALLS.items() for argument in arguments])
def test_each_argument_of_another_type_is_refused_by_its_name(
        tmp_path, monkeypatch, call, argument):
    monkeypatch.chdir(tmp_path)
    for value in WRONG:
        with pytest.raises(dyn.DynidError) as refused:
            call(**{**CALLS[call], argument: value})
        # Texts in a list or a dictionary may be names, which are looked up and named instead.
        assert isinstance(value, (list, dict)) or argument in str(refused.value)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(('changes', 'said'), [
    ({'t': [0, 2, 1, 3]}, 'own: t goes back from 2 to 1 s after 2 samples; sort'),
    ({'t': [0, np.nan, 2, 1]}, 't goes back from 2 to 1 s'),
    ({'q': np.column_stack([STAMPS, STAMPS * np.nan])},
     f'own: all values of q of {TWO_AXIS.joint_names[1]} are NaN'),
    ({'u': ROWS * np.nan}, f'all values of u of {", ".join(TWO_AXIS.joint_names)} are NaN'),
    ({'t': STAMPS * np.nan}, 'all values of t are NaN'),
    ({'q': ROWS.astype(str)}, 'q must hold numbers: it holds values of the type str'),
    ({'u': ROWS + 0j}, 'u must hold numbers: it holds values of the type complex'),
    ({'u': [[1, 2], [3]] * 2}, 'u must hold numbers'), ({'q': None}, 'q must')])
def test_a_recording_of_what_can_hardly_be_meant_is_refused(changes, said):
    given = {'t': STAMPS, 'q': ROWS, 'u': ROWS, 'joint_names': TWO_AXIS.joint_names,
             'source': 'own'}
    with pytest.raises(dyn.DynidError) as refused:
        dyn.Recording(**given | changes)
    assert said in str(refused.value)


def test_a_recording_as_logged_keeps_what_a_check_then_reports():
    u = np.where([True, False], np.nan, ROWS)
    log = dyn.Recording([0, 2, 1, 3], ROWS, u, TWO_AXIS.joint_names, as_logged=True)
    codes = {defect.code for defect in dyn.check_recording(log, TWO_AXIS)}
    assert {'stamps_backward', 'effort_nan'} & codes
    # Parts of a recording are not judged again.
    whole = dyn.Recording(STAMPS, ROWS, np.where(STAMPS[:, None] > 1, ROWS, np.nan),
                          TWO_AXIS.joint_names)
    assert np.isnan(whole.part(0, 2).u).all()


def test_a_model_equals_the_one_that_is_read_back_and_no_other(tmp_path):
    arm = dyn.load_arm('two_axis')
    model = dyn.IdentifiedModel.of(identification(arm))
    read = dyn.load_model(model.save(tmp_path / 'result'))
    assert read is not model and read == model and hash(read) == hash(model)
    assert read != dyn.IdentifiedModel.of(replace(model, theta=model.theta + 1e-9))
    assert read != dyn.IdentifiedModel.of(replace(model, samples=model.samples + 1))
    assert read != 'result'


def test_lists_become_arrays():
    recording = dyn.Recording([0, 1], [[0, 1], [2, 3]], [[1, 1], [1, 1]], ['a', 'b'])
    assert recording.q.dtype == float
    assert recording.joint_names == ('a', 'b')
    assert recording.seconds == 1.0
