# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Possible models of an arm, their residual torque, and their motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.applications.export.format_friction import (
    random_slides,
    row_motions,
    simple_arm,
)
from dynid_ros.applications.rollout.batch import loaded, simulated
from dynid_ros.applications.rollout.noise import fast_noise, sensor_noise, TorqueError
from dynid_ros.applications.rollout.posterior import draw_parameters
from dynid_ros.applications.rollout.restarts import restarts
from dynid_ros.applications.rollout.stretches import driven, unseen_part, usable_edge
from dynid_ros.arm.friction import friction_terms, JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import gravity_load
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.simulation.mjcf import has_servos, mjcf_of
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.one_thread import one_thread


class Samples:
    """
    Arms drawn from the posterior of data and prior, for simulators.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    count : int
        Number S of samples.
    seed : int
        Of the random numbers.
    rotor_inertia : bool
        Whether the simulator has rotor inertia; a URDF has none.

    Attributes
    ----------
    model : IdentifiedModel
        The model.
    parameters : (S, p) ndarray
        Standard parameters, from `draw_parameters`.
    arms : list of ArmModel
        Links, rotor inertia, viscous and Coulomb friction of each.
    centre : ArmModel
        The same of the exported model itself.
    error : TorqueError
        Torque that the exported model leaves unexplained.

    """

    @one_thread()
    def __init__(
        self, model: IdentifiedModel, count: int, seed: int = 0, *, rotor_inertia: bool = True,
    ) -> None:
        self.model, self.seed = model, seed
        self.parameters = draw_parameters(model, count, seed)
        self.centre = simple_arm(model, rotor_inertia=rotor_inertia)
        self.arms = _arms(model, self.centre, self.parameters)
        self.error = TorqueError(model, self.centre)

    def torque(self, times: Array) -> Array:
        """
        Draw torque beside each sample, (S, K, n) at times (K,), s, Nm.

        It is the error of the model plus the unknown part of the torque sensor's offset.
        """
        rng = np.random.default_rng(self.seed)
        return np.concatenate([
            self.error.draw(times, 1, rng) + offset for offset in self._offsets()])

    def _offsets(self) -> Array:
        """Deviation of the offset of each sample, (S, n), Nm."""
        layout, arm = self.model.arm.layout, self.model.arm
        own = [term for term in friction_terms(arm.friction) if term.name == 'offset']
        if not own:
            return np.zeros((len(self.arms), arm.n))
        columns = layout.friction_columns(own[0].symbol)
        return np.asarray(
            self.model.standard_parameters().values[columns] - self.parameters[:, columns])

    @one_thread()
    def within(self, recording: Recording, horizon: float, share: float = 0.95) -> Array:
        """
        Simulate each sample along a recording, and compare its motion with the recorded one.

        Parameters
        ----------
        recording : Recording
            The recording; of a fitted one, the held-out part.
        horizon : float
            Seconds from one restart to the next.
        share : float
            Probability of an interval between quantiles, unbiased for any number of samples.

        Returns
        -------
        (B, n) ndarray of bool
            For each restart and joint, whether the recorded position at the horizon lies between
            the quantiles of the samples; no row if no motion is so long.

        """
        arm, model = self.model.arm, self.model
        models = [loaded(mjcf_of(each, servos=True)) for each in self.arms]
        own, spans, _ = unseen_part(model, recording)
        step = models[0].opt.timestep
        given = restarts(own.motions, driven(model, own.motions), horizon, step,
                         usable_edge(own.settings), spans)
        if given is None:
            return np.zeros((0, arm.n), dtype=np.bool_)
        count, rng = len(given.start), np.random.default_rng(self.seed)
        level, settings = sensor_noise(model, own.motions), own.settings
        # Each restart has an error of its own.
        extra = [offset + self.error.draw(given.t, count, rng) + fast_noise(
            level, settings.rate_hz, settings.decimator(), given.t, count, rng)
            for offset in self._offsets()]
        reached = simulated([each for each in models for _ in range(count)], arm, given,
                            commands=has_servos(arm), extra=np.concatenate(extra))[:, -1]
        reached = reached.reshape(len(models), count, arm.n)
        low, high = np.quantile(
            np.where(np.isfinite(reached), reached, np.inf), [(1 - share) / 2, (1 + share) / 2],
            axis=0, method='weibull')
        recorded = given.reached[:, -1]
        return np.asarray((low <= recorded) & (recorded <= high))


def _arms(model: IdentifiedModel, centre: ArmModel, parameters: Array) -> list[ArmModel]:
    """Make arms as exported from samples."""
    arm, layout = model.arm, model.arm.layout
    friction = _plain_friction(model, centre, parameters)
    return [replace(
        centre, inertial=each[layout.all_inertial()].reshape(arm.links, -1),
        rotor_nominal=None if centre.rotor_nominal is None else each[layout.rotors],
        friction_nominal={name: values[k] for name, values in friction.items()})
        for k, each in enumerate(parameters)]


def _plain_friction(
    model: IdentifiedModel, centre: ArmModel, parameters: Array,
) -> dict[str, Array]:
    """
    Viscous and Coulomb coefficients (S, n) of samples, not negative.

    These are those of the exported model plus a least-squares fit to the difference in friction of
    the sample, at the speeds of the fitted rows.
    """
    arm = model.arm
    if not centre.friction:
        return {}
    qd, load, history = _sliding(model)
    change = parameters - model.standard_parameters().values
    found = {name: np.tile(centre.friction_nominal[name], (len(parameters), 1))
             for name in ('viscous', 'coulomb')}
    for term in friction_terms(arm.friction):
        columns = arm.layout.friction_columns(term.symbol)
        value = term.at(qd, load, history, arm.friction_shape)
        for j in range(arm.n):
            own = np.column_stack([qd[:, j], np.sign(qd[:, j]), np.ones(len(qd))])
            share, *_ = np.linalg.lstsq(own, value[:, j], rcond=None)
            for name, part in zip(found, share[:2], strict=True):
                found[name][:, j] += part * change[:, columns[j]]
    return {name: np.maximum(values, 0.0) for name, values in found.items()}


def _sliding(model: IdentifiedModel) -> tuple[Array, Array, JointHistory]:
    """Speeds of the fitted rows, with the load and the history of the joints, (N, n) each."""
    motions = row_motions(model, held_out=False)
    if motions:
        q, qd = (np.concatenate([getattr(each, name) for each in motions]) for name in ('q', 'qd'))
        past = [history_of(each.t, each.q) for each in motions]
        history = JointHistory(*(np.concatenate([getattr(each, name) for each in past])
                                 for name in ('warmth', 'presliding')))
    else:
        q, qd = random_slides(model.arm)
        history = JointHistory(np.zeros_like(qd), np.sign(qd))
    return qd, gravity_load(model.arm, q, model.theta), history
