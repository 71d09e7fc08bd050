"""How well torque is predicted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.result import Figures, JointFigures, Prediction

Array = NDArray[np.float64]

# Keeps a joint without torque from a division by zero.
TINY = float(np.finfo(float).tiny)


def figures(
    source: str, held_out: bool, joints: Sequence[str], parts: Sequence[Prediction]
) -> Figures:
    """
    Compare measured and predicted torque.

    Parameters
    ----------
    source : str
        Which samples these are.
    held_out : bool
        False if they were used for fitting.
    joints : sequence of str
        Names of the joints.
    parts : sequence of Prediction
        The samples.

    Returns
    -------
    Figures
        RMSE, ``100 ‖tau - tau_hat‖ / ‖tau‖`` and R², per joint and in all; NaN for what
        stands still throughout.

    """
    tau = np.concatenate([part.tau for part in parts])
    error = tau - np.concatenate([part.tau_hat for part in parts])
    own = tuple(
        _of_joint(name, tau[:, i], error[:, i]) for i, name in enumerate(joints))
    return Figures(source, held_out, len(tau), _percent(error, tau), own)


def _of_joint(name: str, tau: Array, error: Array) -> JointFigures:
    """Figures of one joint over the samples in which it moves; NaN if it never does."""
    moves = np.isfinite(tau)
    if not moves.any():
        return JointFigures(name, np.nan, np.nan, np.nan)
    tau, error = tau[moves], error[moves]
    left = float((error**2).sum())
    spread = max(float(((tau - tau.mean()) ** 2).sum()), TINY)
    return JointFigures(
        name, float(np.sqrt(left / len(tau))), _percent(error, tau), 1 - left / spread)


def _percent(error: Array, tau: Array) -> float:
    if not np.isfinite(tau).any():
        return np.nan
    return 100 * float(np.sqrt(np.nansum(error**2) / max(np.nansum(tau**2), TINY)))
