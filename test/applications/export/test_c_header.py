# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The exported C header, compiled by the compiler of this machine, against Pinocchio."""

import ctypes
from dataclasses import replace
from pathlib import Path
import re
import shutil
import subprocess

import numpy as np
from oracles import pinocchio_model, random_arm
import pinocchio
import pytest

from dynid_ros.applications.export.c_header import header_of
from dynid_ros.applications.export.friction_code import FRICTION_CODE
from dynid_ros.applications.export.standalone import python_of
from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import FrictionTerm, JointHistory, TERMS
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import ArmError

ROOT = Path(__file__).parents[3]
STRICT = ('-Wall', '-Wextra', '-Wpedantic', '-Werror')
SOURCE = """
#include "{header}"
void gravity(const double * q, double * tau) {{ {prefix}_gravity(q, tau); }}
void inverse(const double * q, const double * qd, const double * qdd, double * tau)
{{ {prefix}_inverse_dynamics(q, qd, qdd, tau); }}
void friction(const double * q, const double * qd, const double * warmth, const double * bend,
  double * tau)
{{ {prefix}_friction(q, qd, warmth, bend, tau); }}
"""


def compiled(arm, folder, prefix):
    """Compile the header without a warning, and return its functions."""
    cc = shutil.which('cc')
    if cc is None:
        pytest.skip('no C compiler')
    (folder / 'arm.h').write_text(header_of(arm))
    (folder / 'arm.c').write_text(SOURCE.format(header='arm.h', prefix=prefix))
    subprocess.run([cc, '-std=c99', *STRICT, '-O1', '-shared', '-fPIC', 'arm.c', '-o', 'arm.so',
                    '-lm'], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / 'arm.so'))

    def call(name, *given):
        tau = np.zeros(arm.n)
        pointers = [None if each is None else np.ascontiguousarray(each, dtype=float).ctypes
                    .data_as(ctypes.POINTER(ctypes.c_double)) for each in (*given, tau)]
        getattr(library, name)(*pointers[:-1], tau.ctypes.data_as(
            ctypes.POINTER(ctypes.c_double)))
        return tau

    return call


@pytest.mark.parametrize('seed', range(3))
def test_header_has_the_dynamics_of_pinocchio(seed, tmp_path):
    rng = np.random.default_rng(seed)
    arm = replace(random_arm(rng, 5), friction=(), rotor_nominal=rng.uniform(0.1, 1.0, 5))
    call, model = compiled(arm, tmp_path, 'random'), pinocchio_model(arm)
    data = model.createData()
    for q, qd, qdd in rng.uniform(-2, 2, (5, 3, 5)):
        np.testing.assert_allclose(
            call('gravity', q), pinocchio.computeGeneralizedGravity(model, data, q), atol=1e-11)
        expected = pinocchio.rnea(model, data, q, qd, qdd) + arm.rotor_nominal * qdd
        np.testing.assert_allclose(call('inverse', q, qd, qdd), expected, atol=1e-11)
        assert not call('friction', q, qd, None, None).any()


def test_header_has_every_friction_term(tmp_path):
    rng = np.random.default_rng(1)
    arm = random_arm(rng, 4)
    arm = replace(arm, friction=tuple(TERMS), friction_nominal={
        name: rng.uniform(-1.0, 1.0, 4) for name in TERMS})
    call, rigid = compiled(arm, tmp_path, 'random'), arm.rigid
    q, qd, warmth, bend = rng.uniform(-1, 1, (4, 6, 4))
    rest = 0 * q
    load = regressor(rigid, q, rest, rest) @ nominal_parameters(rigid)
    links = regressor(rigid, q, qd, rest) @ nominal_parameters(rigid)
    for history, given in ((None, (None, None)), (JointHistory(warmth, bend), (warmth, bend))):
        whole = regressor(arm, q, qd, rest, load=load, history=history) @ nominal_parameters(arm)
        for k in range(len(q)):
            own = [None if each is None else each[k] for each in given]
            np.testing.assert_allclose(
                call('friction', q[k], qd[k], *own), (whole - links)[k], atol=1e-11)


def test_the_friction_term_of_contributing_reaches_the_regressor_and_exported_code(
        tmp_path, monkeypatch):
    text = (ROOT / 'CONTRIBUTING.md').read_text()
    term, code = re.findall(r'```python\n(.*?)```', text, re.DOTALL)[:2]
    (added,) = eval(f'({term})', {'FrictionTerm': FrictionTerm, 'np': np})
    monkeypatch.setitem(TERMS, added.name, added)
    monkeypatch.setitem(FRICTION_CODE, added.name, eval(f'{{{code}}}')[added.name])
    k = np.array([2.0, -3.0])
    arm = replace(random_arm(np.random.default_rng(0), 2), rotor_nominal=None,
                  friction=(added.name,), friction_nominal={added.name: k})
    q, qd = np.zeros(2), np.array([-0.5, 4.0])
    expected = k * [-0.25, 16.0]
    columns = arm.layout.friction_columns('Fvq')
    np.testing.assert_allclose(
        regressor(arm, q[None], qd[None], q[None])[0][:, columns] @ k, expected)
    np.testing.assert_allclose(
        compiled(arm, tmp_path, 'random')('friction', q, qd, None, None), expected)
    space = {}
    exec(python_of(arm), space)
    np.testing.assert_allclose(
        space['torque'](q, qd) - space['rigid_torque'](q, qd), expected, atol=1e-9)


def test_any_name_of_an_arm_is_one_in_c(tmp_path):
    arm = replace(random_arm(np.random.default_rng(0), 2), name='7 axes (left)*/', friction=())
    call = compiled(arm, tmp_path, 'arm_7_axes_left_')
    assert np.isfinite(call('gravity', np.zeros(2))).all()


def test_coupled_joints_are_refused():
    with pytest.raises(ArmError, match='are coupled, which the C header does not'):
        header_of(load_arm('tx40'))
