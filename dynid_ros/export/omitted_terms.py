"""Terms of the torque that a format cannot hold, and the error that their absence makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.export.urdf import DYNAMICS
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.metrics import Metrics, metrics
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.recordings.history import history_of

Array = NDArray[np.float64]

ROTOR = 'rotor inertia'
#: Terms beside the links that a format has elements for; formats that are not listed hold all.
HELD: dict[str, tuple[str, ...]] = {
    'urdf': tuple(DYNAMICS), 'mjcf': (*DYNAMICS, ROTOR), "the maker's YAML": ()}


def omitted_terms(arm: ArmModel, form: str) -> tuple[str, ...]:
    """Name the terms of an arm that a format cannot hold."""
    if form not in HELD:
        return ()
    terms = (*arm.friction, *([ROTOR] if arm.rotor_inertia else []),
             *(column.name for column in arm.coupling))
    return tuple(term for term in terms if term not in HELD[form])


def error_without(model: IdentifiedModel, omitted: Sequence[str]) -> Metrics | None:
    """
    Return the torque error of a model without some of its terms.

    Parameters
    ----------
    model : IdentifiedModel
        With its stored predictions.
    omitted : sequence of str
        From `omitted_terms`.

    Returns
    -------
    Metrics or None
        On the held-out set; None where no torque over time is stored.

    """
    arm = model.possible_arm
    parts = [
        replace(part, tau_hat=part.tau_hat - _torque_of(arm, omitted, part))
        for part in model.predictions if part.held_out and len(part.t) > 1]
    return metrics(parts[0].source, True, arm.joint_names, parts) if parts else None


def _torque_of(arm: ArmModel, terms: Sequence[str], part: Prediction) -> Array:
    """Torque (N, n) of some terms along a prediction."""
    from scipy.interpolate import CubicSpline

    q, qd, rigid = part.q, part.qd, arm.rigid()
    # Rows are few: a spline through them follows the acceleration better than differences do.
    qdd = CubicSpline(part.t, qd)(part.t, 1)
    load = regressor(rigid, q, 0 * q, 0 * q) @ nominal_parameters(rigid)
    columns = _columns(arm, terms)
    Y = regressor(arm, q, qd, qdd, load=load, history=history_of(part.t, q))[:, :, columns]
    return np.asarray(Y @ nominal_parameters(arm)[columns])


def _columns(arm: ArmModel, terms: Sequence[str]) -> list[int]:
    layout, joints = arm.layout, range(arm.n)
    columns = [layout.rotor(joint) for joint in joints] if ROTOR in terms else []
    for term in friction_terms(arm.friction):
        if term.name in terms:
            columns += [layout.friction_column(joint, term.symbol) for joint in joints]
    first = arm.n * layout.block
    return columns + [
        first + k for k, column in enumerate(arm.coupling) if column.name in terms]
