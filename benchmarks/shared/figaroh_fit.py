# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The identification of FIGAROH's library on the filtered motion and the rows of dynid_ros."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any
import warnings

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.export.urdf import urdf_of
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.dynamics.regressor import coupling_value
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import condition_recordings

Array = NDArray[np.float64]

#: Viscous and Coulomb friction, rotor inertia and offset of each joint.
COLUMNS = {'has_friction': True, 'has_actuator_inertia': True, 'has_joint_offset': True,
           'is_joint_torques': True}


def figaroh_residual(
    arm: ArmModel, settings: ConditioningSettings, first: Recording, rest: Recording,
) -> tuple[Array, Array] | None:
    """
    Identify with FIGAROH, and compare a held-out part.

    Its regressor of all samples passes the low-pass, column by column; its QR decomposition finds
    the base columns, and the fit weights each joint by its residual, as FIGAROH's examples do.

    Returns
    -------
    error, tau : (k,) ndarray, or None if FIGAROH is not installed
        Of the held-out rows in motion, all joints one below another.

    """
    if find_spec('figaroh') is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        from figaroh.tools.qrdecomposition import QRDecomposer
        from figaroh.tools.regressor import (
            build_regressor_basic,
            build_regressor_reduced,
            get_index_eliminate,
        )

    W, tau, joint = _rows(arm, settings, first, build_regressor_basic)
    names = {f'p{k}': 0.0 for k in range(W.shape[1])}
    eliminated, kept = get_index_eliminate(W, names, 1e-6)
    W = build_regressor_reduced(W, eliminated)
    decomposer = QRDecomposer()
    W_base, _, _, theta = decomposer.double_decomposition(tau, W, kept)
    spread = np.array([(tau - W_base @ theta)[joint == j].std() for j in range(arm.n)])
    weight = 1 / spread[joint]
    theta = np.linalg.lstsq(W_base * weight[:, None], tau * weight, rcond=None)[0]
    W, tau, _ = _rows(arm, settings, rest, build_regressor_basic)
    W = build_regressor_reduced(W, eliminated)[:, decomposer.get_base_indices()]
    return tau - W @ theta, tau


def _rows(
    arm: ArmModel, settings: ConditioningSettings, log: Recording, build: Callable[..., Any],
) -> tuple[Array, Array, NDArray[np.intp]]:
    """Regressor, torque and joint of all rows in motion."""
    motions = condition_recordings(arm, [log], settings)
    blocks = list(KeptRows(arm, motions, settings, arm.friction).blocks(arm))
    decimator, W, tau, joints = settings.decimator(), [], [], []
    for number, motion in enumerate(motions):
        whole = _regressor(arm, motion, build)
        own = [block for block in blocks if block.segment == number]
        used = np.concatenate([block.moving for block in own])
        torque = np.concatenate([block.tau for block in own])
        for j in range(arm.n):
            W.append(decimator.whole(whole[j])[used[:, j]])
            tau.append(torque[used[:, j], j])
            joints.append(np.full(used[:, j].sum(), j))
    return np.concatenate(W), np.concatenate(tau), np.concatenate(joints)


def _regressor(arm: ArmModel, motion: ConditionedMotion, build: Callable[..., Any]) -> Array:
    """Evaluate the regressor of FIGAROH and the declared couplings of all samples, (n, N, p)."""
    import pinocchio

    own = pinocchio.buildModelFromXML(urdf_of(arm))
    q, qd, qdd = (np.asarray(x[:]) for x in (motion.q, motion.qd, motion.qdd))
    W = build(SimpleNamespace(model=own, data=own.createData()), q, qd, qdd,
              {**COLUMNS, 'act_idxv': list(range(arm.n))})
    W = W.reshape(arm.n, len(q), -1)
    coupled = [coupling_value(column.quantity, column.matrix, qd, qdd).T[:, :, None]
               for column in arm.coupling]
    return np.concatenate([W, *coupled], axis=2)
