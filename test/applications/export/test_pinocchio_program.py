# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An exported URDF in a C++ program of Pinocchio, as the page of the formats shows it."""

from dataclasses import replace
from pathlib import Path
import re
import shutil
import subprocess
import sys

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.applications.export.urdf import urdf_of
from dynid_ros.dynamics.rigid_parameters import rigid_parameters

PAGE = Path(__file__).resolve().parents[3] / 'docs' / 'use_the_model.md'
MISSING = re.compile(r'provided by\s+"(\w+)"|Could NOT find (\w+)')


@pytest.mark.slow
def test_the_program_of_the_page_has_the_torque_of_the_arm(tmp_path):
    cmake = shutil.which('cmake')
    if cmake is None or shutil.which('c++') is None:
        pytest.skip('no CMake or no compiler')
    rng = np.random.default_rng(3)
    viscous, coulomb = rng.uniform(0.1, 2.0, (2, 4))
    # A URDF has no gravity of its own.
    arm = replace(random_arm(rng, 4, prismatic=False), gravity=np.array([0.0, 0.0, -9.81]),
                  friction=('viscous', 'coulomb'),
                  friction_nominal={'viscous': viscous, 'coulomb': coulomb})
    page = PAGE.read_text()
    for name, kind in (('torque.cpp', 'cpp'), ('CMakeLists.txt', 'cmake')):
        [block] = re.findall(rf'```{kind}\n(.*?)```', page, re.DOTALL)
        (tmp_path / name).write_text(block)
    (tmp_path / 'arm.urdf').write_text(urdf_of(arm))
    # Of the wheels from PyPI; CMake knows the folders of ROS and of the system.
    prefixes = ';'.join(str(Path(each, 'cmeel.prefix')) for each in sys.path)
    done = subprocess.run([cmake, '-S', '.', '-B', 'build', f'-DCMAKE_PREFIX_PATH={prefixes}'],
                          cwd=tmp_path, capture_output=True, text=True)
    missing = MISSING.search(done.stderr)
    if missing:
        pytest.skip(f'no headers of {missing[1] or missing[2]}')
    assert done.returncode == 0, done.stderr
    subprocess.run([cmake, '--build', 'build'], cwd=tmp_path, check=True, capture_output=True)
    printed = subprocess.run(['build/torque'], cwd=tmp_path, check=True, capture_output=True,
                             text=True).stdout
    q, qd, qdd = (np.full((1, 4), value) for value in (0.3, 0.5, 1.0))
    expected = rigid_parameters(arm).torque(q, qd, qdd)[0] + 0.5 * viscous + coulomb
    # It prints six digits.
    np.testing.assert_allclose(np.array(printed.split(), dtype=float), expected, rtol=1e-4,
                               atol=1e-5 * np.abs(expected).max())
