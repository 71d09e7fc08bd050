# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of exported files: fitted to the rows, never negative, with an error that is true."""

from dataclasses import replace
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio
import pytest
from scipy.optimize import lsq_linear
from scipy.signal import butter, sosfiltfilt
from synthetic_recordings import Waves

from dynid_ros.applications.export.file_error import MJCF, statements, URDF
from dynid_ros.applications.export.format_friction import simple_arm
from dynid_ros.applications.export.urdf import robot_description, signed_urdf, urdf_of
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import CURVE
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import Conditioning, CouplingColumn
from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.simulation.mjcf import mjcf_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('figures_alone')]
RATE, SECONDS = 200.0, 60.0
PLANTED = {'viscous': [0.02, 0.015], 'coulomb': [0.1, 0.06]}
#: A curve that falls with the speed, as of a film that builds up: viscous coefficients alone
#: would be negative.
FALLING = {'viscous': [-0.08, -0.05], 'coulomb_smooth': [0.25, 0.15]}


def arm_with(friction, rotor=None, coupling=()):
    arm = load_arm('two_axis')
    return replace(
        arm, drive=Drive.joint_torque(2), friction=tuple(friction), rotor_nominal=rotor,
        rotor_inertia=rotor is not None, coupling=coupling,
        limits=replace(arm.limits, effort=np.full(2, np.inf)),
        friction_nominal={name: np.array(value) for name, value in friction.items()},
        conditioning=Conditioning(cutoff_hz=5.0, delay=0.0))


def recorded(arm, coupling=()):
    """Record a motion; the last coefficients are those of the couplings."""
    t = np.arange(round(SECONDS * RATE)) / RATE
    q, qd, qdd = Waves.random(arm, 1, lowest_hz=0.2).at(t)
    parameters = nominal_parameters(arm)
    parameters[len(parameters) - len(coupling):] = coupling
    rigid = arm.rigid
    load = regressor(rigid, q, 0 * q, 0 * q) @ nominal_parameters(rigid)
    tau = regressor(arm, q, qd, qdd, load=load, history=history_of(t, q)) @ parameters
    return Recording(t, q, tau, arm.joint_names, source='log.npz')


def identified(friction, terms=None, rotor=None, **changes):
    """Identify a model, with the planted terms or others."""
    arm = arm_with(friction, rotor)
    log = recorded(arm)
    return identify(arm, [log], friction=terms or tuple(friction), **changes)


@pytest.fixture(scope='module')
def falling():
    return identified(FALLING)


@pytest.fixture(scope='module')
def simple():
    return identified(PLANTED)


def printed_error(found):
    return float(re.search(r'has ([\d.e-]+) % torque error', found[0])[1])


@pytest.mark.parametrize('terms', [None, ('viscous', *CURVE, 'offset')])
def test_planted_friction_comes_back_whatever_terms_the_model_has(simple, terms):
    model = identified(PLANTED, terms) if terms else simple
    arm = simple_arm(model, rotor_inertia=False)
    assert arm.friction == ('viscous', 'coulomb')
    # Seen by a curve, gravity takes a little of the friction.
    for name, truth in PLANTED.items():
        np.testing.assert_allclose(arm.friction_nominal[name], truth, rtol=0.02, atol=3e-3)


def test_friction_that_falls_with_speed_gets_the_best_coefficients_that_are_not_negative(falling):
    assert all(falling.parameters[f'Fv{joint}'] < 0 for joint in (1, 2))
    arm = simple_arm(falling, rotor_inertia=False)
    viscous, coulomb = arm.friction_nominal['viscous'], arm.friction_nominal['coulomb']
    truth = arm_with(FALLING)
    speed = Waves.random(truth, 1, lowest_hz=0.2).at(np.arange(0, 40, 0.01))[1]
    friction = sum(np.array(FALLING[name]) * value for name, value in (
        ('viscous', speed), ('coulomb_smooth', np.tanh(speed / 0.03))))
    for joint in range(2):
        columns = [speed[:, joint], np.sign(speed[:, joint]), np.ones(len(speed))]
        best = lsq_linear(np.column_stack(columns), friction[:, joint],
                          ([0, 0, -np.inf], np.inf)).x
        assert (viscous[joint], coulomb[joint]) == (
            pytest.approx(best[0], abs=1e-3), pytest.approx(best[1], rel=0.05))
    assert (viscous >= 0).all() and (coulomb > 0).all()


def test_files_load_where_the_coefficients_of_the_model_would_be_negative(falling):
    text, notes = signed_urdf(falling, None)
    assert not notes
    model = pinocchio.buildModelFromXML(text)
    assert (model.damping >= 0).all() and (model.friction > 0).all()
    arm = simple_arm(falling, rotor_inertia=True)
    compiled = mujoco.MjModel.from_xml_string(mjcf_of(arm))
    np.testing.assert_allclose(compiled.dof_damping, arm.friction_nominal['viscous'])
    np.testing.assert_allclose(compiled.dof_frictionloss, arm.friction_nominal['coulomb'])


def test_urdf_is_one_for_urdfdom(falling, tmp_path):
    # Its parser refuses a joint without these elements, and numbers that are none.
    path = tmp_path / 'arm.urdf'
    path.write_text(signed_urdf(falling, None)[0])
    if shutil.which('check_urdf'):
        done = subprocess.run(['check_urdf', str(path)], capture_output=True, text=True)
        assert 'Successfully Parsed XML' in done.stdout and not done.returncode
    root = ElementTree.parse(path).getroot()
    links = [link.get('name') for link in root.findall('link')]
    assert len(set(links)) == len(links) == 3
    numbers = []
    for joint in root.findall('joint'):
        assert [child.tag for child in joint] == [
            'origin', 'parent', 'child', 'axis', 'limit', 'dynamics']
        assert {joint.find('parent').get('link'), joint.find('child').get('link')} <= {*links}
        limit, dynamics = joint.find('limit').attrib, joint.find('dynamics').attrib
        assert {*limit} == {'lower', 'upper', 'effort', 'velocity'}
        assert {*dynamics} == {'damping', 'friction'}
        numbers += [*limit.values(), *dynamics.values(), *joint.find('axis').get('xyz').split()]
    for inertial in root.iter('inertial'):
        entries = inertial.find('inertia').attrib
        assert {*entries} == {'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'}
        numbers += [*entries.values(), inertial.find('mass').get('value')]
    assert all(re.fullmatch(r'-?\d+(\.\d+)?(e-?\d+)?', number) for number in numbers)


def test_the_printed_error_is_that_of_the_file(falling):
    # Both torques at the rate of the recording, after another low-pass of the same cut-off.
    arm = arm_with(FALLING)
    log, text = recorded(arm), urdf_of(simple_arm(falling, rotor_inertia=False))
    model = pinocchio.buildModelFromXML(text)
    data, states = model.createData(), Waves.random(arm, 1, lowest_hz=0.2).at(log.t)
    tau = np.array([pinocchio.rnea(model, data, *state) for state in zip(*states, strict=True)])
    tau += model.damping * states[1] + model.friction * np.sign(states[1])
    low_pass, later = butter(2, 5.0 / (RATE / 2), output='sos'), log.t > 2 / 3 * log.t[-1]
    off, true = (sosfiltfilt(low_pass, x, axis=0)[later] for x in (tau - log.u, log.u))
    found = statements(falling, text, URDF)
    assert printed_error(found) == pytest.approx(
        100 * np.linalg.norm(off) / np.linalg.norm(true), rel=0.03)
    own = falling.validation
    assert f'not used for fitting, and the model {own.relative_error_percent:.3g} %: ' in found[0]
    assert found[0].endswith(own.source)
    assert 'has no element for friction beyond viscous and Coulomb (' in found[1]
    assert found[2].startswith('for the friction beyond viscous and Coulomb, export the Python')


def test_a_lost_rotor_inertia_is_named_first_and_the_mjcf_has_it():
    model = identified(PLANTED, rotor=np.array([0.3, 0.02]))
    lost = statements(model, urdf_of(simple_arm(model, rotor_inertia=False)), URDF)
    assert printed_error(lost) > 20
    assert 'has no element for rotor inertia (' in lost[1]
    assert lost[2] == 'for the rotor inertia, export an MJCF (-o FILE.xml), which has armature'
    held = statements(model, mjcf_of(simple_arm(model, rotor_inertia=True)), MJCF)
    assert len(held) == 1 and printed_error(held) < 0.2 * printed_error(lost)


def test_a_lost_coupling_is_named_and_no_file_is_advised():
    coupling = (CouplingColumn('Fc12', 'qd', np.array([[0.0, 1.0], [1.0, 0.0]])),)
    arm = arm_with(PLANTED, coupling=coupling)
    model = identify(arm, [recorded(arm, [0.1])], friction=arm.friction)
    found = statements(model, urdf_of(simple_arm(model, rotor_inertia=False)), URDF)
    assert 'has no element for coupling (' in found[1]
    assert found[2] == 'for the coupling, use the result itself, as dynid feedforward does'


def test_a_lost_offset_is_named_and_the_python_file_has_it():
    model = identified({**PLANTED, 'offset': [0.05, 0.02]})
    found = statements(model, urdf_of(simple_arm(model, rotor_inertia=False)), URDF)
    without, left = map(float, re.search(
        r'has ([\d.]+) % .*offset \(([\d.]+) % with it', '; '.join(found)).groups())
    assert left < 2 < 10 < without
    assert found[2].startswith('for the offset, export the Python file (-o FILE.py)')


def test_a_model_that_loses_nothing_gets_no_advice(simple):
    found = statements(simple, urdf_of(simple_arm(simple, rotor_inertia=False)), URDF)
    assert len(found) == 1 and printed_error(found) < 2


def test_without_held_out_rows_the_fitted_ones_are_predicted():
    model = identified(PLANTED, holdout=0.0)
    found = statements(model, urdf_of(simple_arm(model, rotor_inertia=False)), URDF)
    assert f'on data used for fitting, and the model {model.fit.relative_error_percent:.3g}' in (
        found[0])


def test_a_model_without_rows_gets_friction_of_its_own_curve(simple):
    model = replace(simple, predictions=())
    arm, own = simple_arm(model, rotor_inertia=False), model.possible_arm.friction_nominal
    for name in PLANTED:
        np.testing.assert_allclose(arm.friction_nominal[name], own[name], rtol=1e-6)
    assert statements(model, urdf_of(arm), URDF) == [
        'the torque error of the URDF is unknown, since the result keeps no torque over time '
        '(prediction.npz)']


def test_a_model_without_rows_and_with_a_falling_curve_gets_nothing_negative(falling):
    arm = simple_arm(replace(falling, predictions=()), rotor_inertia=False)
    assert (arm.friction_nominal['viscous'] >= 0).all()
    assert (arm.friction_nominal['coulomb'] > 0).all()


def test_a_model_without_friction_gets_none(simple):
    bare = replace(simple.possible_arm, friction=())
    arm = simple_arm(identify(bare, [recorded(bare)], friction=()), rotor_inertia=False)
    assert arm.friction_nominal == {} and 'dynamics' not in urdf_of(arm)


def test_a_live_session_describes_the_robot_with_the_same_friction(tmp_path):
    arm = arm_with(FALLING)
    log = recorded(arm)
    online = OnlineIdentifier(arm, cutoff_hz=5.0, delay=0.0)
    online.push(log.t, log.q, log.u)
    live = online.result()
    path = tmp_path / 'live.urdf'
    path.write_text(robot_description('two_axis')(live))
    model = pinocchio.buildModelFromUrdf(str(path))
    whole = identified(FALLING, holdout=0.0)
    batch = simple_arm(whole, rotor_inertia=False).friction_nominal
    np.testing.assert_allclose(model.damping, batch['viscous'], atol=1e-3)
    np.testing.assert_allclose(model.friction, batch['coulomb'], rtol=0.03)
    found = statements(live, path.read_text(), URDF)
    assert 'on data used for fitting' in found[0]
    expected = statements(whole, urdf_of(simple_arm(whole, rotor_inertia=False)), URDF)
    assert printed_error(found) == pytest.approx(printed_error(expected), rel=0.1)


def test_without_mujoco_the_error_of_an_mjcf_is_unknown(falling, monkeypatch):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    found = statements(falling, mjcf_of(simple_arm(falling, rotor_inertia=True)), MJCF)
    assert len(found) == 1 and 'since MuJoCo is not installed' in found[0]
