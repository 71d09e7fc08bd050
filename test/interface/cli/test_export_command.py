# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid export``: every format, from a result that the commands made."""

from contextlib import redirect_stdout
import importlib.util
import io
import json
from pathlib import Path
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio
import pytest
from results import identification
from short_pages import shorten
import yaml

from dynid_ros.applications.export.standalone import table_of
from dynid_ros.arm import load_arm
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.ros.stand_in import step_in

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('figures_alone')]

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope='module')
def result(tmp_path_factory):
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    folder = tmp_path_factory.mktemp('made')
    motion, arm = folder / 'motion.yaml', load_arm('panda')
    write_motion(motion, random_motion(arm, 0, period=5.0, periods=2, tries=20), arm)
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch.setattr)
        assert main(['simulate', 'panda', str(motion), '-o', str(folder / 'bag')]) == 0
    assert main(['identify', str(folder / 'bag'), '--arm', 'panda', '-o', str(folder / 'result'),
                 '--friction', 'viscous,coulomb']) == 0
    return folder / 'result'


def export(result, *arguments):
    with redirect_stdout(io.StringIO()) as printed:
        status = main(['export', str(result), *map(str, arguments)])
    return status, printed.getvalue()


def test_python_file_predicts_the_torque_of_the_model(result, tmp_path):
    status, printed = export(result, '-o', tmp_path / 'arm_torque.py')
    assert status == 0 and printed.endswith(f'Wrote {tmp_path / "arm_torque.py"}.\n')
    model = read_result(result)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, model.arm.n))
    code = (f'from arm_torque import torque; print(*torque({q.tolist()}, {qd.tolist()}, '
            f'{qdd.tolist()}))')
    done = subprocess.run([sys.executable, '-c', code], cwd=tmp_path, check=True,
                          capture_output=True, text=True)
    found = np.array(done.stdout.split(), dtype=float)
    arm = model.possible_arm
    ours = regressor(arm, q[None], qd[None], qdd[None])[0] @ nominal_parameters(arm)
    np.testing.assert_allclose(found, ours, rtol=1e-9, atol=1e-9)


def test_urdf_states_its_error_and_its_lack_and_is_an_arm_again(result, tmp_path):
    status, printed = export(result, '-o', tmp_path / 'arm.urdf')
    assert status == 0
    assert 'Loaded again, the URDF has ' in printed
    assert 'The URDF has no element for rotor inertia (' in printed
    again, model = load_arm(tmp_path / 'arm.urdf'), read_result(result)
    np.testing.assert_allclose(
        again.inertial, model.possible_arm.inertial, rtol=1e-9, atol=1e-12)
    assert main(['design', str(tmp_path / 'arm.urdf'), '-o', str(tmp_path / 'motion.yaml'),
                 '--time', '0.3']) == 0


@pytest.mark.parametrize(('arguments', 'root'), [
    (('-o', 'arm.XML'), 'mujoco'),
    (('-o', 'arm.urdf'), 'robot'),
    (('--format', 'mjcf', '-o', 'arm.urdf'), 'mujoco'),
    (('--format', 'urdf', '-o', 'arm.model'), 'robot'),
])
def test_the_suffix_chooses_the_format_unless_it_is_given(
        result, tmp_path, monkeypatch, arguments, root):
    monkeypatch.chdir(tmp_path)
    assert export(result, *arguments)[0] == 0
    assert ElementTree.parse(arguments[-1]).getroot().tag == root


def test_files_of_a_real_arm_load_with_the_error_of_plain_friction(
        shared_data, tmp_path, capsys):
    bag = shared_data / 'ur10' / 'ur10_exciting_trajectory.db3'
    # Terms that cross-validation chooses, whose viscous coefficients are negative in some joints.
    terms = 'viscous,sign_10,coulomb_smooth,sign_100,sign_1000,offset,load,presliding'
    assert main(['identify', str(bag), '--arm', 'ur10', '-o', str(tmp_path / 'result'),
                 '--friction', terms]) == 0
    capsys.readouterr()
    for name in ('arm.urdf', 'arm.xml'):
        status, printed = export(tmp_path / 'result', '-o', tmp_path / name)
        found, own = map(float, re.search(
            r'has ([\d.]+) % torque error .* the model ([\d.]+) %', printed).groups())
        assert status == 0 and own < 4 and found < 8
        assert 'or the friction beyond viscous and Coulomb, export the Python file' in printed
    urdf = pinocchio.buildModelFromUrdf(str(tmp_path / 'arm.urdf'))
    mjcf = mujoco.MjModel.from_xml_path(str(tmp_path / 'arm.xml'))
    for values in (urdf.damping, urdf.friction, mjcf.dof_damping, mjcf.dof_frictionloss):
        assert (values > 0).all()


def test_table_has_the_couplings_of_an_arm():
    arm = load_arm('tx40')
    table = yaml.safe_load(table_of(identification(arm)))
    assert list(table['coupling']) == [column.name for column in arm.coupling]


def test_table_has_every_link(result, tmp_path):
    assert export(result, '-o', tmp_path / 'links.yaml')[0] == 0
    table = yaml.safe_load((tmp_path / 'links.yaml').read_text())
    assert list(table['links']) == list(read_result(result).arm.joint_names)
    assert all(link['mass'] > 0 for link in table['links'].values())


def test_snippets_of_the_page_run(result, tmp_path, monkeypatch):
    shutil.copytree(result, tmp_path / 'result')
    shutil.copytree(result.parent / 'bag', tmp_path / 'other_bag')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    page = ''.join((ROOT / 'docs' / f'{name}.md').read_text()
                   for name in ('use_the_model', 'rollouts', 'feedforward'))
    commands = re.findall(
        r'^dynid ((?:export|validate) result (?!.*--robot)[^#\n]*)', page, re.MULTILINE)
    # Fewer samples are as good.
    asked = [' '.join(each.replace('--samples 100', '--samples 3').split()) for each in commands]
    assert len(dict.fromkeys(asked)) == 7
    for command in dict.fromkeys(asked):
        # Of a recording that was fitted, validation says so.
        assert main(command.split()) == int(command.startswith('validate'))
    assert (tmp_path / 'rollouts.svg').read_text().count('<svg') == 1
    names: dict = {}
    step_in()
    for block in re.findall(r'```python\n(.*?)```', page, re.DOTALL):
        # Drake is large, and not a package of the tests.
        if 'pydrake' not in block or importlib.util.find_spec('pydrake'):
            exec(block, names)
    # An arm at rest carries its weight.
    assert np.abs(names['gravity']).max() > 1.0
    np.testing.assert_allclose(names.get('holding', names['gravity']), names['gravity'], rtol=1e-6)
    first, *_, last = names['trajectory'].points
    np.testing.assert_allclose(last.effort, names['torque'](np.full(7, 0.3), *np.zeros((2, 7))))
    assert (first.time_from_start.sec, last.time_from_start.sec) == (0, 4)
    assert np.abs(names['state'].qfrc_inverse).max() > 1.0
    assert ElementTree.parse(tmp_path / 'arm.xml').getroot().tag == 'mujoco'
    low, high = names['mass_distribution_params']
    assert names['found'].held_out and 0 < low < high
    if shutil.which('cc'):
        [program] = re.findall(r'```c\n(.*?)```', page, re.DOTALL)
        (tmp_path / 'program.c').write_text(program)
        subprocess.run(['cc', '-std=c99', '-Wall', '-Wextra', '-Werror', 'program.c', '-o',
                        'program', '-lm'], check=True)
        printed = subprocess.run(['./program'], check=True, capture_output=True, text=True).stdout
        rest = names['torque'](np.zeros(7), np.zeros(7), np.zeros(7))[1]
        assert float(printed.split()[0]) == pytest.approx(rest, abs=1e-4)


@pytest.mark.parametrize(('arguments', 'said'), [
    (('--format', 'mjcf', '--robot', 'x.urdf', '-o', 'y'),
     'robot (--robot) is for the formats urdf and yaml only'),
    (('--robot', 'nothing.urdf', '-o', 'y.urdf'), 'nothing.urdf'),
    (('-o', '/proc/arm.urdf'), '/proc/arm.urdf'),
    (('-o', 'arm.mjcf'), "'arm.mjcf' has no suffix of a format: give it one of .urdf (urdf), .xml "
     '(mjcf), .yaml (yaml), .py (python), .h (c), or give --format'),
    (('--samples', '3', '--format', 'python', '-o', 'samples'),
     'samples are written as one of mjcf, urdf, yaml, not as python'),
])
def test_wrong_use_ends_in_one_line(result, arguments, said, capsys):
    assert main(['export', str(result), *arguments]) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.count('\n') == 1


@pytest.mark.parametrize('number', ['0', '1001', 'ten'])
def test_wrong_number_of_samples_is_told_with_the_limit(number, capsys):
    with pytest.raises(SystemExit, match='2'):
        main(['export', 'result', '--samples', number, '-o', 'samples'])
    printed = capsys.readouterr().err
    assert f'{number} is not a whole number from 1 to 1000;' in printed
    assert printed.count('\n') == 1


@pytest.mark.parametrize(('arguments', 'said'), [
    (('arm.urdf', 'bag', '--arm', 'panda', '--rollout'),
     '--rollout is for the folder of an identified model, not for a URDF'),
    (('result', 'bag', '-o', 'rollouts.svg'), '-o is for the picture of --rollout'),
    (('result', 'bag', '--rollout', '-o', 'rollouts.txt'),
     'rollouts.txt must end in one of .svg, .png, .pdf'),
])
def test_wrong_use_of_rollouts_ends_in_one_line(result, arguments, said, monkeypatch, capsys):
    monkeypatch.chdir(result.parent)
    assert main(['validate', *arguments]) == 2
    printed = capsys.readouterr().err
    assert said in printed and printed.count('\n') == 1


def test_folder_without_a_result_is_refused(tmp_path, capsys):
    assert main(['export', str(tmp_path), '-o', str(tmp_path / 'a.urdf')]) == 2
    assert 'result.yaml cannot be read' in capsys.readouterr().err


def test_python_writes_the_urdf_that_the_command_writes(result, tmp_path):
    import dynid_ros as dyn

    model = read_result(result)
    notes = dyn.export(model, tmp_path / 'python.urdf')
    status, printed = export(result, '-o', tmp_path / 'command.urdf', '--json')
    assert status == 0 and tuple(json.loads(printed)['notes']) == notes
    assert (tmp_path / 'python.urdf').read_text() == (tmp_path / 'command.urdf').read_text()


def test_a_stated_inertia_that_no_body_has_is_named(result, tmp_path, capsys):
    arm_file = (ROOT / 'config/arms/panda/arm.yaml').read_text()
    broken = re.sub(r'(links:\s*\n\s*- \{?mass: )[\d.]+', r'\g<1>-1.0', arm_file, count=1)
    assert broken != arm_file
    (tmp_path / 'arm.yaml').write_text(broken)
    assert main(['identify', str(result.parent / 'bag'), '--arm', str(tmp_path),
                 '-o', str(tmp_path / 'out'), '--friction', 'viscous,coulomb', '-v']) < 2
    printed = capsys.readouterr().out
    assert 'No body has the inertia that arm.yaml or the URDF states for the link of ' \
           'fer_joint1:' in printed


@pytest.mark.parametrize('place', ['', '.', '/'])
def test_a_folder_as_file_is_one_line(result, tmp_path, monkeypatch, capsys, place):
    monkeypatch.chdir(tmp_path)
    assert main(['export', str(result), '--format', 'python', '-o', place]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith('dynid export: ') and 'exists already' in last
    assert not list(tmp_path.iterdir())
