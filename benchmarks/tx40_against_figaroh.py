# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
From the TX40 recording (45 000 samples at 5 kHz) to a result, beside FIGAROH's library.

    pip install --editable . figaroh
    python benchmarks/tx40_against_figaroh.py FOLDER

FOLDER holds pos_read_data.csv, curr_data.csv and tx40_mdh_modified.urdf of figaroh-examples. The
FIGAROH side takes the steps of its TX40 example with the functions of its library: load, low-pass,
differentiate, regressor of all samples with friction, rotor inertia, offset and wrist coupling,
decimate column by column, base parameters by double QR, weighted least squares. Ours fits the same
61 columns to the same samples, and also looks for a delay, checks the direction of gravity,
computes the coloured-residual covariance, and writes result.yaml. Both are timed from the file to
the result, without imports, in processes of their own.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from importlib.util import find_spec
from pathlib import Path
import re
import subprocess
import sys
import tempfile
from time import perf_counter
from types import SimpleNamespace
import warnings

ROUNDS = 3


def figaroh(folder: Path) -> None:
    """Identify with FIGAROH's library; print seconds and in-sample error."""
    warnings.simplefilter('ignore')
    from figaroh.tools.qrdecomposition import QRDecomposer
    from figaroh.tools.regressor import (
        build_regressor_basic,
        build_regressor_reduced,
        get_index_eliminate,
    )
    import numpy as np
    import pinocchio as pin
    from scipy.signal import butter, decimate, filtfilt

    start = perf_counter()
    urdf = re.sub(r'<(visual|collision)>.*?</\1>', '',
                  (folder / 'tx40_mdh_modified.urdf').read_text(), flags=re.S)
    model = pin.buildModelFromXML(urdf)
    robot = SimpleNamespace(model=model, data=model.createData())
    motor = np.loadtxt(folder / 'pos_read_data.csv', delimiter=',', skiprows=1)
    current = np.loadtxt(folder / 'curr_data.csv', delimiter=',', skiprows=1)
    ratio = np.diag([32.0, 32, 45, -48, 45, 32])
    ratio[5, 4] = 32
    b, a = butter(4, 20 / 2500)
    joint = motor @ np.linalg.inv(ratio).T + [0, -np.pi / 2, np.pi / 2, 0, 0, 0]
    q = filtfilt(b, a, joint, axis=0)
    qd = np.gradient(q, 1 / 5000, axis=0)
    qdd = np.gradient(qd, 1 / 5000, axis=0)
    tau = current @ ratio
    W = build_regressor_basic(robot, q, qd, qdd, {
        'has_friction': True, 'has_actuator_inertia': True, 'has_joint_offset': True,
        'is_joint_torques': True, 'act_idxv': list(range(6))})
    n = len(q)
    coupling = np.zeros((6 * n, 3))
    for row, other in ((4, 5), (5, 4)):
        part = slice(row * n, (row + 1) * n)
        coupling[part] = np.stack(
            [qdd[:, other], qd[:, other], np.sign(qd[:, 4] + qd[:, 5])], axis=1)
    W = np.concatenate([W, coupling], axis=1)
    names = {f'p{k}': 0.0 for k in range(W.shape[1])}
    eliminated, kept = get_index_eliminate(W, names, 1e-6)
    W = build_regressor_reduced(W, eliminated)
    # In two steps, as scipy asks for factors above 13.
    thin = [decimate(decimate(x, 10, zero_phase=True), 5, zero_phase=True)
            for joint in range(6) for x in (W[joint * n:(joint + 1) * n].T,)]
    W = np.concatenate([part.T for part in thin])
    rows = [decimate(decimate(tau[:, j], 10, zero_phase=True), 5, zero_phase=True)
            for j in range(6)]
    y = np.concatenate(rows)
    W_base = QRDecomposer().double_decomposition(y, W, kept)[0]
    theta = np.linalg.lstsq(W_base, y, rcond=None)[0]
    left = (y - W_base @ theta).reshape(6, -1)
    weight = np.repeat(1 / left.std(axis=1), left.shape[1])
    theta = np.linalg.lstsq(W_base * weight[:, None], y * weight, rcond=None)[0]
    error = 100 * np.linalg.norm(y - W_base @ theta) / np.linalg.norm(y)
    print(f'{perf_counter() - start:.3f} s, {W_base.shape[1]} base parameters, '
          f'{error:.1f} % in-sample')


def ours(folder: Path) -> None:
    """Identify with dynid_ros; print seconds and in-sample error."""
    import pinocchio  # noqa: F401 (imported on first use otherwise, as is the next)
    import scipy.signal  # noqa: F401

    from dynid_ros.arm import load_arm
    from dynid_ros.data.files.recording_reader import read_recording
    from dynid_ros.estimation.identification.identify import identify
    from dynid_ros.estimation.result_files.result_file import write_result

    start = perf_counter()
    arm = load_arm('tx40')
    log = read_recording(folder / 'pos_read_data.csv', arm)
    result = identify(arm, [log], friction=('viscous', 'coulomb', 'offset'), holdout=0)
    with tempfile.TemporaryDirectory() as output:
        write_result(result, Path(output))
    print(f'{perf_counter() - start:.3f} s, {len(result.theta)} base parameters, '
          f'{result.fit.relative_error_percent:.1f} % in-sample')


def main(folder: str) -> None:
    """Run both in turn, and print the least time of each."""
    if find_spec('figaroh') is None:
        sys.exit('FIGAROH is not installed: pip install figaroh')
    best = {}
    for side in ('figaroh', 'ours'):
        runs = [
            subprocess.run([sys.executable, __file__, folder, side],
                           capture_output=True, text=True, check=True).stdout
            for _ in range(ROUNDS)
        ]
        fastest = min(runs, key=lambda line: float(line.split()[0]))
        best[side] = float(fastest.split()[0])
        print(f'{side:8} {fastest}', end='')
    print(f'faster by {best["figaroh"] / best["ours"]:.1f} times')


if __name__ == '__main__':
    if len(sys.argv) == 3:
        {'figaroh': figaroh, 'ours': ours}[sys.argv[2]](Path(sys.argv[1]))
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
