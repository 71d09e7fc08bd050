# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
From the URDF of a real robot to its identified model, with the commands that a user types.

    python benchmarks/any_arm.py [FOLDER] [--time 10] [--only NAME ...]

For each description (URDF, xacro file, MJCF or SDF) below a folder, or each arm of PyPI's
``example-robot-data``, found where pip has put it: ``dynid init``, ``design``, ``simulate``,
``identify`` and ``export`` to the robot's own URDF, to a plain one and to an MJCF, which dynid,
Pinocchio and MuJoCo load. One line each: joints, condition number, held-out error, share of base
parameters within their 95 % intervals, seconds of each step, and how it ended: ``trustworthy``;
``accused``, which is false as the simulation has no fault, with the reasons; or ``stopped``, with
the sentence of the command. The last lines are for all of them. The truth is the arm that
``dynid simulate`` writes into its bag.
"""

from __future__ import annotations

import argparse
from collections import Counter
import contextlib
import io
import json
from pathlib import Path
import site
import sys
import tempfile
import time
from typing import NamedTuple

import mujoco
import numpy as np
import pinocchio
import yaml

from dynid_ros.arm.description.urdf_source import DESCRIPTION_SUFFIXES
from dynid_ros.arm.load import stated_arm
from dynid_ros.data.files.plain_values import arm_from_plain
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.cli.main import main as dynid

#: Description below the robots' folder, and how the arm in it is chosen.
ROBOTS: dict[str, tuple[str, tuple[str, ...]]] = {
    'panda': ('panda_description/urdf/panda.urdf', ()),
    'z1': ('z1_description/urdf/z1.urdf', ()),
    'so100': ('so_arm_description/urdf/so100.urdf', ()),
    'so101': ('so_arm_description/urdf/so101.urdf', ()),
    'talos_left_arm': ('talos_data/robots/talos_left_arm.urdf', ()),
    'talos right arm': ('talos_data/robots/talos_reduced.urdf', ('--tip', 'arm_right_7_link')),
    'baxter right': ('baxter_description/urdf/baxter.urdf', ()),
    'baxter left': ('baxter_description/urdf/baxter.urdf', ('--tip', 'left_wrist')),
    'ur3': ('ur_description/urdf/ur3_robot.urdf', ()),
    'ur3_gripper': ('ur_description/urdf/ur3_gripper.urdf', ()),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', ()),
    'ur5_limited': ('ur_description/urdf/ur5_joint_limited_robot.urdf', ()),
    'ur10': ('ur_description/urdf/ur10_robot.urdf', ()),
    'kinova': ('kinova_description/robots/kinova.urdf', ()),
    'xarm7': ('xarm_description/urdf/xarm7.urdf', ()),
    'tiago': ('tiago_description/robots/tiago.urdf', ()),
    'tiago_no_hand': ('tiago_description/robots/tiago_no_hand.urdf', ()),
    'tiago_pro': ('tiago_pro_description/robots/tiago_pro.urdf', ()),
    'b1-z1': ('b1_description/urdf/b1-z1.urdf', ()),
    'anymal-kinova': ('anymal_b_simple_description/robots/anymal-kinova.urdf', ()),
    'borinot': ('borinot_description/urdf/borinot_flying_arm_2.urdf', ()),
    'hextilt': ('hextilt_description/urdf/hextilt_flying_arm_5.urdf', ()),
    'allegro left finger': ('allegro_hand_description/urdf/allegro_left_hand.urdf', ()),
    'allegro right hand': (
        'allegro_hand_description/urdf/allegro_right_hand.urdf', ('--joints', 'all')),
    'solo12': ('solo_description/robots/solo12.urdf', ('--joints', 'all')),
    'hyq': ('hyq_description/robots/hyq_no_sensors.urdf', ()),
    'icub_reduced': ('icub_description/robots/icub_reduced.urdf', ()),
    'pr2': ('pr2_description/urdf/pr2.urdf', ()),
    'g1': ('g1_description/urdf/g1_29dof_rev_1_0.urdf', ()),
    'double_pendulum': ('double_pendulum_description/urdf/double_pendulum.urdf', ()),
    'double_pendulum_continuous': (
        'double_pendulum_description/urdf/double_pendulum_continuous.urdf', ()),
}

#: Commands of the way.
STEPS = ('init', 'design', 'simulate', 'identify', 'export')
#: Held-out torque error of a good model, %.
GOOD = 5.0


class Found(NamedTuple):
    """What came of one arm; zeros where a command did not end well."""

    joints: int = 0
    condition: float = np.nan
    #: Held-out torque error, %.
    error: float = np.nan
    #: Base parameters, and those within their 95 % intervals.
    parameters: int = 0
    within: int = 0
    reason: str = ''
    #: ``trustworthy``, ``accused`` or ``stopped``.
    status: str = 'stopped'

    @property
    def line(self) -> str:
        """Return the figures in columns."""
        covered = 100 * self.within / self.parameters if self.parameters else np.nan
        return f'{self.joints:7}{self.condition:11.0f}{self.error:8.2f} %{covered:7.0f} %'


def folder_of_robots(given: str | None) -> Path:
    """Find the descriptions of example-robot-data."""
    roots = [Path(given)] if given else [
        Path(packages) / 'cmeel.prefix' / 'share' / 'example-robot-data' / 'robots'
        for packages in site.getsitepackages()]
    for root in roots:
        if root.is_dir():
            return root
    raise SystemExit(f'there is no {roots[0]}; pip install example-robot-data')


def command(spent: Counter[str], *arguments: object) -> tuple[int, str, str]:
    """
    Run ``dynid``, and add its seconds to those of its step.

    Its status, its output, and its last error or reason in one line.
    """
    out, error, begin = io.StringIO(), io.StringIO(), time.perf_counter()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            status = dynid([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
    spent[str(arguments[0])] += time.perf_counter() - begin
    lines = [line for line in error.getvalue().splitlines() if not line.startswith('warning')]
    return status, out.getvalue(), lines[-1] if lines else ''


def identified(
    robot: Path, chosen: tuple[str, ...], seconds: float, folder: Path, spent: Counter[str],
) -> Found:
    """Go the whole way with one robot."""
    arm, motion, bag, result = (folder / name for name in ('arm', 'motion.yaml', 'bag', 'result'))
    for step in (
            ('init', robot, '-o', arm, *chosen),
            ('design', arm, '-o', motion, '--time', seconds),
            ('simulate', arm, motion, '-o', bag)):
        status, _, reason = command(spent, *step)
        if status:
            return Found(reason=reason or f'dynid {step[0]} ended with status {status}')
    status, printed, reason = command(
        spent, 'identify', bag, '--arm', arm, '-o', result, '--json')
    if status > 1:
        return Found(reason=reason)
    verdict = json.loads(printed)['verdict']
    model = read_result(result)
    lost = survives_export(
        model, folder, robot if robot.suffix == '.urdf' else None, spent)
    if lost:
        return Found(reason=lost)
    truth = arm_from_plain(yaml.safe_load((bag / 'recording.yaml').read_text())['arm'])
    true = nominal_parameters(truth.with_friction(model.arm.friction))
    off = np.abs(model.theta - base_parameters(model.arm).grouping @ true)
    error = model.validation.relative_error_percent if model.validation else np.nan
    return Found(
        model.arm.n, model.condition_number, error, len(off), int(np.sum(off < 1.96 * model.std)),
        '' if verdict['trustworthy'] else '; '.join(verdict['reasons']),
        'trustworthy' if verdict['trustworthy'] else 'accused')


def survives_export(
    model: IdentifiedModel, folder: Path, robot: Path | None, spent: Counter[str],
) -> str:
    """Export to the robot's own URDF, a plain one and an MJCF, and load them; what went wrong."""
    own, plain, mjcf = (folder / name for name in ('own.urdf', 'plain.urdf', 'arm.xml'))
    steps = [('urdf', '-o', plain), ('mjcf', '-o', mjcf)]
    if robot is not None:
        steps.append(('urdf', '--robot', robot, '-o', own))
    for step in steps:
        status, _, reason = command(spent, 'export', folder / 'result', '--format', *step)
        if status:
            return reason
    expected = model.possible_arm.inertial
    for path in (plain, *([own] if robot else [])):
        found = stated_arm(path, model.arm.joint_names).inertial
        if not np.allclose(found, expected, rtol=1e-6, atol=1e-9):
            return f'{path.name} has other links'
        pinocchio.buildModelFromUrdf(str(path))
    try:
        masses = [
            mujoco.MjModel.from_xml_path(str(path)).body_mass.sum() for path in (plain, mjcf)]
    except ValueError as error:
        return f'MuJoCo: {" ".join(str(error).split())}'
    if not np.allclose(masses, expected[:, 0].sum()):
        return f'MuJoCo reads masses of {masses}'
    return ''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', nargs='?', type=Path, help='folder of descriptions')
    parser.add_argument('--time', type=float, default=10.0, help='of the design, s')
    parser.add_argument('--only', nargs='+', default=[], help='names of the table')
    given = parser.parse_args()
    robots = described(given.folder)
    steps = ''.join(f'{step:>9}' for step in STEPS)
    print(f'{"":28}{"joints":>7}{"condition":>11}{"held-out":>10}{"covered":>9}{steps}')
    every, total = [], Counter[str]()
    for name in given.only or robots:
        path, chosen = robots[name]
        spent = Counter[str]()
        with tempfile.TemporaryDirectory() as folder:
            found = identified(path, chosen, given.time, Path(folder), spent)
        every.append(found)
        total.update(spent)
        seconds = ''.join(f'{spent[step]:9.1f}' for step in STEPS)
        print(f'{name:28}{found.line}{seconds}  {found.status} {found.reason}', flush=True)
    good = sum(found.status == 'trustworthy' and found.error < GOOD for found in every)
    within, parameters = sum(f.within for f in every), sum(f.parameters for f in every)
    counts = Counter(found.status for found in every)
    print(f'{good} of {len(every)} trustworthy and below {GOOD:g} %, {counts["accused"]} accused, '
          f'{counts["stopped"]} stopped; {within} of {parameters} base parameters '
          f'({100 * within / max(parameters, 1):.0f} %) within 95 % intervals')
    print('mean seconds: ' + ', '.join(f'{step} {total[step] / len(every):.1f}' for step in STEPS))


def described(folder: Path | None) -> dict[str, tuple[Path, tuple[str, ...]]]:
    """Find the descriptions below a folder, or `ROBOTS`, and how the arm in each is chosen."""
    if folder is None:
        robots = folder_of_robots(None)
        return {name: (robots / inner, chosen) for name, (inner, chosen) in ROBOTS.items()}
    return {str(path.relative_to(folder)): (path, ()) for path in sorted(folder.rglob('*'))
            if path.suffix in DESCRIPTION_SUFFIXES and path.name != 'package.xml'}


if __name__ == '__main__':
    sys.exit(main())
