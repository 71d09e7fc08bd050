# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Arms that report no effort: commands and positions alone, against the truth of their simulation.

    python benchmarks/servo_arms.py FOLDER [--seconds 60] [--seed 1] [--only NAME ...]

FOLDER is a checkout of MuJoCo Menagerie (github.com/google-deepmind/mujoco_menagerie), of which
meshes may be missing. MuJoCo moves three servo arms and a leg by their own position actuators
along sums of sines, and only the log of such arms is kept: commands and positions, 100 times a
second, the positions rounded to the 4096 counts a turn of their encoders. Each arm is identified
twice: from the stiffness kp and damping kd that its MJCF states, and without them. One line each:
the held-out torque error; the joints whose 95 % intervals of armature, damping and friction loss
hold the true value, of which damping without kd is the sum of both; the largest distance of a kp
that the stated masses gave from the true one; and the verdict.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import tempfile
from typing import Any, NamedTuple
import warnings

import mujoco
import numpy as np
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.mjcf import compiled
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.identification.command_gains import SCALED, UNSCALED
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Rate of the log, Hz, and counts of the encoders a turn.
RATE_HZ, COUNTS = 100.0, 4096
#: Sines of each joint, and the band of their frequencies, Hz.
SINES, SLOWEST, FASTEST = 6, 0.1, 1.2
#: Share of the range of a joint that its motion takes, and the largest speed, rad/s.
SHARE, SPEED = 0.35, 3.0
#: Half of a 95 % interval, by the standard deviation.
INTERVAL = 1.96
#: Impedance of dry friction in the simulation.
STIFF = (0.9999, 0.9999, 0.001, 0.5, 2.0)
FRICTION = ('viscous', 'coulomb', 'offset')


class Robot(NamedTuple):
    """A robot of the Menagerie: its file, and the joints that move while others hold."""

    file: str
    joints: tuple[str, ...]


ROBOTS = {
    'SO-100': Robot('trs_so_arm100/so_arm100.xml', (
        'Rotation', 'Pitch', 'Elbow', 'Wrist_Pitch', 'Wrist_Roll')),
    'Koch': Robot('low_cost_robot_arm/low_cost_robot_arm.xml', (
        'base_rotation', 'pitch', 'elbow', 'wrist_pitch', 'wrist_roll')),
    'Dynamixel': Robot('dynamixel_2r/dynamixel_2r.xml', ('R1', 'R2')),
    'A1 leg': Robot('unitree_a1/a1.xml', ('FR_hip_joint', 'FR_thigh_joint', 'FR_calf_joint')),
}


class Truth(NamedTuple):
    """A simulated log, and the truth of it: torque (N, n), and values (n,) of the MJCF."""

    recording: Recording
    torque: Array
    kp: Array
    kd: Array
    armature: Array
    damping: Array
    friction_loss: Array


def simulated(path: Path, joints: tuple[str, ...], seconds: float, seed: int) -> Truth:
    """Move a robot by its own actuators, and log commands and positions."""
    model = fixed(path)
    # Feedback that acts half a step late would take kp times that time off the damping.
    model.opt.timestep, model.opt.integrator = 0.0005, mujoco.mjtIntegrator.mjINT_RK4
    # As dry as the solver bears: soft friction leads the speed, which would pass for armature.
    model.dof_solref[:], model.dof_solimp[:] = (2 * model.opt.timestep, 1.0), STIFF
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    at = [int(model.joint(name).qposadr[0]) for name in joints]
    dofs = [int(model.joint(name).dofadr[0]) for name in joints]
    drives = [int(np.flatnonzero(model.actuator_trnid[:, 0] == model.joint(name).id)[0])
              for name in joints]
    data = mujoco.MjData(model)
    command = motion(model.jnt_range[[model.joint(name).id for name in joints]], seed)
    data.qpos[at] = command(0.0)
    data.ctrl[:] = [data.qpos[model.jnt_qposadr[model.actuator_trnid[k, 0]]]
                    for k in range(model.nu)]
    every = round(1 / RATE_HZ / model.opt.timestep)
    rows = []
    for step in range(round(seconds * RATE_HZ) * every):
        # The drive follows a command that goes on between its own cycles.
        data.ctrl[drives] = command((step + 0.5) * model.opt.timestep)
        if step % every == 0:
            mujoco.mj_forward(model, data)
            rows.append([command(data.time), data.qpos[at].copy(),
                         data.actuator_force[drives].copy()])
        mujoco.mj_step(model, data)
    u, q, torque = np.array(rows).swapaxes(0, 1)
    step = 2 * np.pi / COUNTS
    return Truth(
        Recording(np.arange(len(q)) / RATE_HZ, step * np.round(q / step), u, joints, 'command',
                  path.stem),
        torque, model.actuator_gainprm[drives, 0], -model.actuator_biasprm[drives, 2],
        model.dof_armature[dofs], model.dof_damping[dofs], model.dof_frictionloss[dofs])


def fixed(path: Path) -> Any:
    """Compile an MJCF whose free bodies stand still."""
    model, _ = compiled(path)
    if not (model.jnt_type == mujoco.mjtJoint.mjJNT_FREE).any():
        return model
    spec = mujoco.MjSpec.from_file(str(path))
    for geom in list(spec.geoms):
        spec.delete(geom)
    for kind in (spec.meshes, spec.materials, spec.textures, spec.keys):
        for each in list(kind):
            spec.delete(each)
    for joint in list(spec.joints):
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            spec.delete(joint)
    return spec.compile()


def motion(ranges: Array, seed: int) -> Any:
    """Return positions of joints by time: sums of sines about the middle of each range."""
    rng, n = np.random.default_rng(seed), len(ranges)
    frequency = rng.uniform(SLOWEST, FASTEST, (n, SINES))
    phase = rng.uniform(0, 2 * np.pi, (n, SINES))
    weight = rng.uniform(0.3, 1.0, (n, SINES)) / frequency
    middle, width = ranges.mean(axis=1), np.diff(ranges)[:, 0]
    speed = (2 * np.pi * frequency * weight).sum(axis=1)
    weight *= np.minimum(SHARE * width / weight.sum(axis=1), SPEED / speed)[:, None]

    def at(t: float) -> Array:
        waves = weight * np.sin(2 * np.pi * frequency * t + phase)
        return np.asarray(middle + waves.sum(axis=1))

    return at


def identified(path: Path, robot: Robot, truth: Truth, *, gains: bool) -> IdentifiedModel:
    """Identify a robot from its log, with the gains of its actuators or without them."""
    drive: dict[str, object] = {'signal': 'command'}
    if gains:
        drive |= {'kp': truth.kp.tolist(), 'kd': truth.kd.tolist()}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter('ignore')
        file = Path(folder) / 'arm.yaml'
        file.write_text(yaml.safe_dump({
            'name': path.stem, 'description': {'urdf': str(path.resolve())},
            'joints': list(robot.joints), 'drive': drive, 'friction': list(FRICTION)}))
        return identify(load_arm(file), [truth.recording], friction=FRICTION)


def inside(model: IdentifiedModel, truth: Truth) -> dict[str, str]:
    """Count the joints whose interval of a value holds the true one, of those of known gain."""
    found, drive, layout = model.standard_parameters(), model.arm.drive, model.arm.layout
    known = scaled(model)
    # Gains that masses give have errors of their own; intervals are of the same gains.
    factor = drive.gain / truth.kp
    damping = truth.damping + (truth.kd if drive.damping is None else 0.0)
    of = {'armature': (layout.rotors, truth.armature),
          'damping': (layout.friction_columns('Fv'), damping),
          'friction loss': (layout.friction_columns('Fc'), truth.friction_loss)}
    holds = {name: np.abs(found.values[columns] - factor * value) <= INTERVAL * found.std[columns]
             for name, (columns, value) in of.items()}
    return {name: f'{int(held[known].sum())} of {int(known.sum())}'
            for name, held in holds.items()}


def scaled(model: IdentifiedModel) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which joints (n,) have torque in Nm."""
    alone = [name for finding in model.verdict.findings for name in finding.joints
             if finding.code in (SCALED, UNSCALED)]
    return np.array([name not in alone for name in model.arm.joint_names])


def line(name: str, model: IdentifiedModel, truth: Truth) -> str:
    """Describe a model in one line."""
    assert model.validation is not None
    counts = ', '.join(f'{key} {held}' for key, held in inside(model, truth).items())
    drive, known = model.arm.drive, scaled(model)
    off = 100 * np.abs(drive.gain / truth.kp - 1)[known].max(initial=0.0)
    gains = f'kp off by {off:.1f} % at most' if drive.scale else 'kp, kd stated'
    verdict = '' if model.verdict.trustworthy else 'not '
    return (f'{name:10} {model.validation.relative_error_percent:6.2f} % {gains:24} {counts}; '
            f'{verdict}trustworthy')


def main() -> None:
    """Print a line for each robot, with the gains of its actuators and without them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', nargs='*', default=list(ROBOTS), choices=list(ROBOTS))
    args = parser.parse_args()
    for name in args.only:
        robot = ROBOTS[name]
        path = args.folder / robot.file
        truth = simulated(path, robot.joints, args.seconds, args.seed)
        for gains in (True, False):
            print(line(name, identified(path, robot, truth, gains=gains), truth), flush=True)


if __name__ == '__main__':
    main()
