# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint zero offsets, estimated together with the dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters, random_states
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import condition_recordings
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA, source_of
from dynid_ros.estimation.suspects.arm_suspects import shifted
from dynid_ros.estimation.suspects.best_size import refined, T_INTERVAL, with_error_bars
from dynid_ros.estimation.suspects.fitted_rows import suspect_of_fit
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.utilities.arrays import Array

#: Step of central differences, rad or m, whose error is 1e-9 of the torque per rad.
CENTRAL_STEP = 1e-4
#: Largest standard deviation of a determined offset, rad or m: its interval is ± 0.05 degrees.
ACCURACY = float(np.radians(0.05)) / T_INTERVAL
#: Prior standard deviation of an offset, rad or m. It keeps undetermined offsets from diverging,
#: and shrinks the others by the squared ratio of their standard deviation to it.
PRIOR = float(np.radians(2.0))
#: Share of the torque change due to an offset that parameters cannot absorb, below which no motion
#: can distinguish the offset from parameters.
HIDDEN = 1e-6
#: Most rounds of offsets and delay of the drive signal, and change of the delay that ends them, s.
OFFSET_ROUNDS, DELAY_SETTLED = 4, 2e-4


@dataclass(frozen=True, eq=False)
class JointOffsets:
    """
    Offsets to be added to the recorded positions.

    Attributes
    ----------
    offset : (n,) ndarray
        rad or m; zero for joints whose offset is unidentifiable.
    std : (n,) ndarray
        Standard deviation for autocorrelated residuals; that of the prior for an unidentifiable
        offset.
    hidden : (n,) ndarray of bool
        Joints whose offset is unidentifiable, because the link parameters absorb it: those that
        turn about gravity, and the last one.
    joint_names : tuple of str
        Names.
    prismatic : (n,) ndarray of bool
        Prismatic joints.

    """

    offset: Array
    std: Array
    hidden: NDArray[np.bool_]
    joint_names: tuple[str, ...]
    prismatic: NDArray[np.bool_]

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Joints, (n,), whose offset the data determine."""
        return np.asarray(self.std <= ACCURACY)

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Whether the data determine an offset rather than its prior, (n,)."""
        return np.asarray(1 - (self.std / PRIOR)**2 >= FROM_DATA)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence a joint, in degrees or mm."""
        return tuple(self._sentence(i) for i in range(len(self.joint_names)))

    def _sentence(self, i: int) -> str:
        name = self.joint_names[i]
        scale, unit = (1e3, 'mm') if self.prismatic[i] else (180 / np.pi, 'deg')
        value = f'{scale * self.offset[i]:.3f} ± {scale * self.std[i]:.3f} {unit}'
        if not self.from_data[i]:
            value += f', source: {source_of(False)}'
        if self.hidden[i]:
            return f'{name}: zero offset is unidentifiable (absorbed by link parameters; {value})'
        if self.determined[i]:
            return f'{name}: {value}'
        return f'{name}: not determined by these data ({value})'


def estimate_joint_offsets(arm: ArmModel, kept: KeptRows) -> JointOffsets:
    """
    Estimate the offsets of the joint zeros together with the dynamics.

    All offsets together are the size of a suspect. The parameters are projected out, so an offset
    never absorbs their effect.

    Parameters
    ----------
    arm : ArmModel
        The arm, without friction terms that depend on the load.
    kept : KeptRows
        Rows of the motion.

    Returns
    -------
    JointOffsets
        Offsets with error bars and identifiability.

    Raises
    ------
    RecordingError
        There are fewer rows than parameters.

    """
    base, hidden = suspect_of_fit(arm, kept), hidden_offsets(arm)
    rows, free = int(base.rows.counts.sum()), np.flatnonzero(~hidden)
    if rows <= len(base.rows.columns) + len(free):
        raise RecordingError(
            f'{rows} rows are left after filtering, without joints at rest: too few for '
            f'{len(base.rows.columns)} parameters and {len(free)} offsets; record a longer motion')
    offset, std = np.zeros(arm.n), np.full(arm.n, PRIOR)
    if len(free):
        likelihood = Likelihood(base)
        best = refined(likelihood, shifted(base, free.tolist(), np.zeros(len(free)), PRIOR))
        assert best.size is not None
        found = with_error_bars(likelihood, best)
        offset[free] = -best.size.x
        std[free] = np.sqrt(np.diag(found.covariance)[len(found.theta):])
    return JointOffsets(offset, std, hidden, arm.joint_names, arm.prismatic)


def hidden_offsets(arm: ArmModel) -> NDArray[np.bool_]:
    """
    Find the joints with unidentifiable zeros, (n,), whatever the parameters are.

    At random states, the part of the torque change due to an offset that the parameters cannot
    absorb is compared with the complete change.

    Parameters
    ----------
    arm : ArmModel
        The arm.

    """
    rigid = arm.rigid
    columns = base_parameters(rigid).columns
    q, qd, qdd, *_ = random_states(rigid)
    W = regressor(rigid, q, qd, qdd)[:, :, columns].reshape(-1, len(columns))
    theta = np.random.default_rng(0).normal(size=rigid.layout.size)
    Z = np.empty((len(W), arm.n))
    for joint, step in enumerate(CENTRAL_STEP * np.eye(arm.n)):
        ahead, behind = (regressor(rigid, q + way * step, qd, qdd) @ theta for way in (1, -1))
        Z[:, joint] = (ahead - behind).ravel() / (2 * CENTRAL_STEP)
    Q = np.linalg.qr(W / np.linalg.norm(W, axis=0))[0]
    unabsorbed = np.linalg.norm(Z - Q @ (Q.T @ Z), axis=0)
    return np.asarray(unabsorbed <= HIDDEN * np.maximum(np.linalg.norm(Z, axis=0), HIDDEN))


def recording_offsets(arm: ArmModel, recordings: Sequence[Recording]) -> JointOffsets:
    """
    Estimate the offsets of the joint zeros from recordings.

    A wrong zero partly mimics a delay of the drive signal. So the delay is estimated again from
    the corrected positions, and the offsets with it, until both converge.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : sequence of Recording
        Checked recordings, all with the same zeros.

    Returns
    -------
    JointOffsets
        Offsets to be added to the positions, undetermined ones included, since the prior keeps
        these near zero.

    Raises
    ------
    RecordingError
        The recordings are too short.

    """
    plain = arm.memoryless
    settings = choose_conditioning(plain, recordings)
    for _ in range(OFFSET_ROUNDS):
        parts = condition_recordings(arm, recordings, settings)
        found = estimate_joint_offsets(plain, KeptRows(plain, parts, settings, plain.friction))
        corrected = [replace(recording, q=recording.q + found.offset) for recording in recordings]
        previous, settings = settings, choose_conditioning(plain, corrected)
        if np.abs(settings.delay - previous.delay) < DELAY_SETTLED:
            break
    return found
