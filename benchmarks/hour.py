# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Claim: an hour becomes a report in about the time of a Python loop over Pinocchio's regressor.

    python benchmarks/hour.py [--minutes 60] [--bag] [--folder FOLDER]

Makes a recording of a simulated 7-joint arm at 1 kHz, runs `dynid identify` on it, from the file
to the report and with friction chosen, and then a Python loop that only evaluates Pinocchio's
regressor at as many samples. Printed are the processor time and the peak memory of each process,
and the ratio. With --bag, the recording is a bag (MCAP) instead of an npz file.

Two figures of memory are printed. The resident memory (ru_maxrss) includes pages of files, such as
the libraries, which the system drops when memory is short. It cannot drop the anonymous memory
(RssAnon, sampled every 10 ms).
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from pathlib import Path
import tempfile
import time
import zipfile

import numpy as np
from numpy.lib import format as npy
from shared.processes import DYNID, python, Spent

from dynid_ros.applications.export.urdf import urdf_of
from dynid_ros.arm import load_arm
from dynid_ros.data.files.bag_writer import write_joint_states
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.utilities.in_blocks import blocks

ARM = 'panda'
RATE = 1000.0
HARMONICS = 5
BLOCK = 20_000
#: Friction of the simulated arm: viscous, Coulomb and offset of each joint.
FRICTION = {'viscous': 2.0, 'coulomb': 1.5, 'offset': 0.2}
#: Noise of the torque by its standard deviation, and of the positions, rad.
TORQUE_NOISE, POSITION_NOISE = 0.02, 1e-6


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make sums of sines within the limits, with periods that have no common multiple."""
    rng = np.random.default_rng(0)
    arm = load_arm(ARM)
    limits = arm.motion_limits
    w = 2 * np.pi * rng.uniform(0.05, 0.5, (HARMONICS, arm.n))
    # All sines at once may reach 0.8 of the limits of position and velocity.
    share = rng.dirichlet(np.ones(HARMONICS), arm.n).T
    largest = np.minimum(0.4 * (limits.upper - limits.lower), 0.8 * limits.velocity / w)
    angle = w * t[:, None, None] + rng.uniform(0, 2 * np.pi, w.shape)
    q, qd, qdd = (
        (share * largest * w**k * np.sin(angle + k * np.pi / 2)).sum(axis=1) for k in range(3))
    return q + (limits.upper + limits.lower) / 2, qd, qdd


def recording(samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Record time, positions and torque, with noise."""
    arm = load_arm(ARM).with_friction(tuple(FRICTION))
    parameters = nominal_parameters(arm)
    for k, value in enumerate(FRICTION.values()):
        parameters[arm.layout.friction_columns(arm.layout.friction[k])] = value
    rng = np.random.default_rng(1)
    t = np.empty(samples)
    q, tau = (np.empty((samples, arm.n)) for _ in range(2))
    for start in range(0, samples, BLOCK):
        part = slice(start, min(start + BLOCK, samples))
        t[part] = np.arange(part.start, part.stop) / RATE
        state = motion(t[part])
        clean = regressor(arm, *state) @ parameters
        q[part] = state[0] + POSITION_NOISE * rng.normal(size=clean.shape)
        tau[part] = clean + TORQUE_NOISE * clean.std(axis=0) * rng.normal(size=clean.shape)
    return t, q, tau


def write(path: Path, minutes: float) -> None:
    """Write the recording as npz, or as a bag where the name has no suffix."""
    t, q, tau = recording(int(60 * minutes * RATE))
    if path.suffix:
        with zipfile.ZipFile(path, 'w') as file:
            for name, x in {'t': t, 'q': q, 'tau': tau}.items():
                with file.open(f'{name}.npy', 'w', force_zip64=True) as member:
                    npy.write_array_header_1_0(member, npy.header_data_from_array_1_0(x))
                    for part in blocks(len(x)):
                        member.write(x[part].data)
    else:
        write_joint_states(path, load_arm(ARM).joint_names, t, q, None, tau)


def pinocchio_loop(samples: int) -> None:
    """Evaluate Pinocchio's regressor, and print the processor time that it took."""
    import pinocchio

    model = pinocchio.buildModelFromXML(urdf_of(load_arm(ARM)))
    data = model.createData()
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, BLOCK, model.nv))
    start = time.process_time()
    for k in range(samples):
        i = k % BLOCK
        pinocchio.computeJointTorqueRegressor(model, data, q[i], qd[i], qdd[i])
    print(time.process_time() - start)


def size(path: Path) -> float:
    """Size of a file or of the files in a folder, MB."""
    files = [path] if path.is_file() else list(path.iterdir())
    return sum(file.stat().st_size for file in files) / 2**20


def memory(spent: Spent) -> str:
    """Describe both figures of the memory."""
    return (f'at most {spent.resident:.0f} MB resident (ru_maxrss), {spent.anonymous:.0f} MB '
            'anonymous (RssAnon)')


def main(minutes: float, bag: bool, folder: Path) -> None:
    suffix = '' if bag else '.npz'
    short, long = folder / f'short{suffix}', folder / f'long{suffix}'
    for path, length in ((short, 1.0), (long, minutes)):
        if not path.exists():
            python(__file__, '--write', path, '--minutes', str(length))
    identify = (*DYNID, 'identify', '--arm', ARM, '-o')
    # The first run after an installation compiles the kernels.
    python(*identify, folder / 'short_result', short)
    own = python(*identify, folder / 'long_result', long)
    loop = python(__file__, '--loop', '--minutes', str(minutes))
    peer = float(loop.printed)
    print(own.printed)
    print(f'{minutes:g} min at {RATE:g} Hz, {size(long):.0f} MB: dynid identify {own.seconds:.1f} '
          f's of processor time, {memory(own)}; loop over the regressor of Pinocchio {peer:.1f} '
          f's, {memory(loop)}; ratio {own.seconds / peer:.2f}')


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--minutes', type=float, default=60.0)
    parser.add_argument('--bag', action='store_true', help='from a bag instead of an npz file')
    parser.add_argument('--folder', type=Path, help='keep recordings and results here')
    parser.add_argument('--write', type=Path, help=argparse.SUPPRESS)
    parser.add_argument('--loop', action='store_true', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.loop:
        pinocchio_loop(int(60 * args.minutes * RATE))
    elif args.write:
        write(args.write, args.minutes)
    elif args.folder:
        args.folder.mkdir(parents=True, exist_ok=True)
        main(args.minutes, args.bag, args.folder.resolve())
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(args.minutes, args.bag, Path(temporary))
