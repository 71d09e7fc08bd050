"""
What the held-out error of real arms is made of: noise, changes since the fit, or the model.

    python benchmarks/error_sources.py FOLDER

FOLDER, split and terms are as in accuracy.py. Each figure is an error on the held-out part:

- held out: by the model of the first part
- offsets: the same with the offsets of all joints fitted to the held-out part, as a drift of
  sensors would need
- friction: the same with all friction coefficients fitted to it, as friction that changes with
  temperature or load would need
- all: all parameters fitted to it; what is left is noise and errors of the model itself
- noise: white noise of the torque signal, by its third differences as recorded, that passes the
  low-pass. A signal that was smoothed before it was recorded has more noise than that, and one
  of few samples has less: its third differences hold the motion, too
- correlation: of neighbouring rows in what is left by "all"; noise behind this low-pass has the
  value in brackets
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from pathlib import Path
import sys

from accuracy import below, percent, recordings
import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import condition_recordings
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import split
from dynid_ros.estimation.model.identified_model import IdentifiedModel

Array = NDArray[np.float64]
Places = NDArray[np.intp]

BANDWIDTHS = {'ur10': 5.0, 'panda': 5.0, 'tx40': 10.0}
#: Variance of the third differences of white noise of variance one.
THIRD = 20.0


def refitted(W: Array, left: Array, sigma: Array, columns: Places) -> Array:
    """Fit some parameters to what is left of the torque, and return what is left then."""
    weights = np.repeat(1 / sigma[None], len(W), axis=0)
    A = (W[:, :, columns] * weights[:, :, None]).reshape(-1, len(columns))
    change, *_ = np.linalg.lstsq(A, (left * weights).ravel(), rcond=1e-9)
    return np.asarray(left - W[:, :, columns] @ change)


def noise(kept: KeptRows) -> Array:
    """Variance (n,) of the white noise of the torque behind the low-pass of the rows."""
    squares = [np.diff(motion.tau, 3, axis=0)**2 / THIRD for motion in kept.motions]
    taps = kept.settings.decimator().taps
    return np.asarray(np.concatenate(squares).mean(axis=0) * (taps**2).sum())


def neighbours(kept: KeptRows) -> float:
    """Correlation of neighbouring rows of white noise behind the low-pass."""
    decimator = kept.settings.decimator()
    taps, step = decimator.taps, decimator.step
    return float(taps[step:] @ taps[:-step] / (taps @ taps))


def sources(model: IdentifiedModel, rest: Recording) -> tuple[list[float], float, float]:
    """Errors on the held-out part, %, and the correlation of what is left, and of noise."""
    arm, settings = model.arm, model.treatment
    kept = KeptRows(arm, condition_recordings(arm, [rest], settings), settings, arm.friction)
    blocks = list(kept.blocks(arm, model.theta))
    W, tau, moving = (np.concatenate([getattr(block, name) for block in blocks])
                      for name in ('W', 'tau', 'moving'))
    left = tau - W @ model.theta
    names = base_parameters(arm).names
    offsets = np.flatnonzero([name.startswith('Fo') for name in names])
    every = np.arange(len(names))
    parts = [left, *(refitted(W, left, model.sigma, columns)
                     for columns in (offsets, friction_places(arm), every))]
    power = moving.sum(axis=0) * noise(kept)
    errors = [percent(part, tau) for part in parts]
    errors.append(float(100 * np.sqrt(power.sum()) / np.linalg.norm(tau)))
    scaled = parts[-1] / model.sigma
    both = (moving[1:] & moving[:-1])
    correlation = (scaled[1:] * scaled[:-1])[both].mean() / (scaled[moving]**2).mean()
    return errors, float(correlation), neighbours(kept)


def main(folder: Path) -> None:
    """Print a Markdown table."""
    print('| arm, below | held out | offsets | friction | all | noise | correlation |')
    print('|---|---|---|---|---|---|---|')
    for name, arm, log, share in recordings(folder):
        model = identify(below(arm, BANDWIDTHS[name]), [log], holdout=share)
        _, rest = split(log, share)
        assert rest is not None
        errors, correlation, white = sources(model, rest)
        shown = ' | '.join(f'{error:.2f} %' for error in errors)
        print(f'| {name}, {BANDWIDTHS[name]:.3g} Hz | {shown} | {correlation:.2f} ({white:.2f}) |',
              flush=True)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
