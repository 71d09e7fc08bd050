# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Torque error of an exported file, and the parts of the model that its format loses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynid_ros.applications.export.format_friction import is_live, row_motions, RowMotion
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.history import history_of
from dynid_ros.dynamics.regressor import coupling_value
from dynid_ros.errors import ArmError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import metrics, percent_of
from dynid_ros.simulation.mjcf import FRICTION_ATTRIBUTES, joint_order
from dynid_ros.utilities.arrays import Array

#: Torque (N, n) of positions, velocities and accelerations, (N, n) each.
Torque = Callable[[Array, Array, Array], Array]

ROTOR_INERTIA, COUPLING, OFFSET = 'rotor inertia', 'coupling', 'offset'
FURTHER_FRICTION = 'friction beyond viscous and Coulomb'
#: Attributes of a URDF by the friction terms that they hold.
DYNAMICS = {'viscous': 'damping', 'coulomb': 'friction'}
#: Share of the file's error that a part must remove to be worth advice.
WORTH = 0.02


@dataclass(frozen=True)
class LossyFormat:
    """
    A format that holds viscous and Coulomb friction alone.

    Attributes
    ----------
    name : str
        As users write it.
    load : callable
        Returns the torque of the content of a file, for an arm.
    friction : mapping of str to str
        Attributes by the friction terms that they hold.
    holds_rotor_inertia : bool
        Whether it holds rotor inertia.

    """

    name: str
    load: Callable[[str, ArmModel], Torque]
    friction: Mapping[str, str]
    holds_rotor_inertia: bool


def statements(model: IdentifiedModel, text: str, form: LossyFormat) -> list[str]:
    """
    State the torque error of an exported file, the parts of the model that it lacks, and a remedy.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    text : str
        Content of the file.
    form : LossyFormat
        Its format.

    Returns
    -------
    list of str
        A sentence each.

    """
    held_out = not is_live(model) and model.validation is not None
    motions = row_motions(model, held_out=held_out)
    own = model.validation if held_out else model.fit
    if not motions or own is None:
        return [f'the torque error of the {form.name} is unknown, since the result keeps no '
                'torque over time (prediction.npz)']
    try:
        torque = form.load(text, model.arm)
    except ArmError as error:
        return [str(error)]
    predicted = [m.at_rows(torque(m.q, m.qd, m.qdd)) for m in motions]
    of_file = _error(motions, predicted)
    kind = 'not used for fitting' if held_out else 'used for fitting'
    found = [f'loaded again, the {form.name} has {of_file:.3g} % torque error on data {kind}, '
             f'and the model {own.relative_error_percent:.3g} %: {own.source}']
    missing = [_missing(model, form, *own) for own in zip(motions, predicted, strict=True)]
    restored = sorted(_restored(missing, motions, predicted).items(), key=lambda x: x[1])
    if restored:
        found.append(f'the {form.name} has no element for ' + ', '.join(
            f'{part} ({value:.3g} % with it)' for part, value in restored))
    if restored and restored[0][1] < (1 - WORTH) * of_file:
        found.append(_remedy(restored[0][0], model.arm))
    if FURTHER_FRICTION in missing[0]:
        words = ' and '.join(form.friction.values())
        found.append(f'{words}, fitted at the recorded speeds, differ from all friction terms of '
                     f'the model by {friction_lost(motions, missing):.3g} % of the torque')
    return found


def friction_lost(motions: Sequence[RowMotion], missing: Sequence[dict[str, Array]]) -> float:
    """Return the size of the friction that a file lacks, % of the measured torque."""
    lost, torque = (np.concatenate(each) for each in (
        [own[FURTHER_FRICTION] for own in missing], [motion.part.tau for motion in motions]))
    return percent_of(np.where(np.isfinite(torque), lost, np.nan), torque)


def _remedy(part: str, arm: ArmModel) -> str:
    """Name the format that holds a part."""
    if part == ROTOR_INERTIA:
        return 'for the rotor inertia, export an MJCF (-o FILE.xml), which has armature'
    if arm.coupling:
        return f'for the {part}, use the result itself, as dynid feedforward does'
    file = f'for the {part}, export the Python file (-o FILE.py), which has every term'
    return f'{file}; give it the history that its docstring names' if arm.needs_history else file


def _restored(
    missing: Sequence[dict[str, Array]], motions: Sequence[RowMotion], predicted: Sequence[Array],
) -> dict[str, float]:
    """Error of a file, %, with one of the parts that its format lacks, by the part."""
    return {
        part: _error(motions, [x + own[part] for x, own in zip(predicted, missing, strict=True)])
        for part in missing[0]}


def _whole(model: IdentifiedModel, motion: RowMotion) -> Array:
    """Torque (N, n) of a model at the rows."""
    if not is_live(model):
        return motion.part.tau_hat
    # A stream predicts each row before it is used, the first ones by a poor estimate.
    return motion.at_rows(model.predict_torque(
        motion.q, motion.qd, motion.qdd, history=history_of(motion.t, motion.q)))


def _missing(
    model: IdentifiedModel, form: LossyFormat, motion: RowMotion, predicted: Array,
) -> dict[str, Array]:
    """Torque (N, n) at the rows of the parts that a format lacks."""
    arm, found = model.possible_arm, {}
    if arm.rotor_nominal is not None and not form.holds_rotor_inertia:
        found[ROTOR_INERTIA] = motion.at_rows(arm.rotor_nominal * motion.qdd)
    if arm.coupling:
        values = model.standard_parameters().values[arm.layout.first_coupling:]
        found[COUPLING] = motion.at_rows(np.sum([
            value * coupling_value(column.quantity, column.matrix, motion.qd, motion.qdd)
            for value, column in zip(values, arm.coupling, strict=True)], axis=0))
    if OFFSET in arm.friction:
        found[OFFSET] = np.broadcast_to(arm.friction_nominal[OFFSET], motion.part.tau.shape)
    if set(arm.friction) - {*PLAIN_TERMS}:
        # The rest of the difference.
        found[FURTHER_FRICTION] = _whole(model, motion) - predicted - sum(found.values())
    return found


def _error(motions: Sequence[RowMotion], predicted: Sequence[Array]) -> float:
    parts = [replace(motion.part, tau_hat=tau) for motion, tau in zip(
        motions, predicted, strict=True)]
    return metrics((), parts).relative_error_percent


def urdf_torque(text: str, arm: ArmModel) -> Torque:
    """Load a URDF of an arm with Pinocchio; joints of others stay at zero."""
    import pinocchio

    model = pinocchio.buildModelFromXML(text)
    model.gravity.linear = arm.gravity
    names = next(own for own in (arm.joint_names, *arm.aliases)
                 if all(model.existJointName(name) for name in own))
    names = (*names, *(each.name for each in arm.tree.followers))
    at = [model.joints[model.getJointId(name)].idx_v for name in names]
    tree, own = arm.tree, at[:arm.n]
    data, neutral = model.createData(), pinocchio.neutral(model)

    def torque(q: Array, qd: Array, qdd: Array) -> Array:
        state, result = np.zeros((3, model.nv)), np.empty_like(q)
        for k in range(len(q)):
            state[:, at] = tree.positions(q[k]), tree.rates(qd[k]), tree.rates(qdd[k])
            # Continuous joints have two coordinates there.
            place = pinocchio.integrate(model, neutral, state[0])
            result[k] = pinocchio.rnea(model, data, place, *state[1:])[at] @ tree.gearing
        rubbing: Array = model.damping[own] * qd + model.friction[own] * np.sign(qd)
        return result + rubbing

    return torque


def mjcf_torque(text: str, arm: ArmModel) -> Torque:
    """
    Load an MJCF of an arm with MuJoCo, without its end stops.

    Raises
    ------
    ArmError
        MuJoCo is not installed.

    """
    try:
        import mujoco
    except ImportError:
        raise ArmError('the torque error of the MJCF is unknown, since MuJoCo is not installed; '
                       'install it (pip install mujoco)') from None
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    # The gearing of followers counts by its torque.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EQUALITY
    tree = arm.tree
    data: Any = mujoco.MjData(model)
    at = joint_order(model, arm)

    def torque(q: Array, qd: Array, qdd: Array) -> Array:
        result = np.empty_like(q)
        for k in range(len(q)):
            data.qpos[at], data.qvel[at] = tree.positions(q[k]), tree.rates(qd[k])
            data.qacc[at] = tree.rates(qdd[k])
            mujoco.mj_inverse(model, data)
            result[k] = data.qfrc_inverse[at] @ tree.gearing
        return result

    return torque


URDF = LossyFormat('URDF', urdf_torque, DYNAMICS, holds_rotor_inertia=False)
MJCF = LossyFormat('MJCF', mjcf_torque, FRICTION_ATTRIBUTES, holds_rotor_inertia=True)
