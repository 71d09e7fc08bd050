"""Joint zero offsets, estimated together with the dynamics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, random_states, standard_of
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.groups import row_groups
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import motions
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.blocks.qr_factors import compress_groups, stack
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.estimate.covariance import group_scatter
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA, source_of
from dynid_ros.estimation.estimate.weights import fit, solve
from dynid_ros.utilities.arrays import Array

#: Step of the central differences, rad or m: errors of 1e-9 of the torque a rad.
STEP = 1e-4
#: Largest step of an offset, rad or m.
LARGEST_STEP = 0.1
#: Iterations, and when they stop: steps in rad or m, or by the standard deviation.
ITERATIONS, SETTLED, SETTLED_BY_STD = 12, 1e-6, 0.02
#: Standard deviation up to which an offset counts as determined, rad or m: 0.05 degrees in 95 of
#: 100 cases.
ACCURACY = float(np.radians(0.025))
#: Standard deviation of an offset before any data, rad or m: keeps undetermined ones from
#: diverging, and changes the others by no more than the square of the ratio of their standard
#: deviation to it.
PRIOR = float(np.radians(2.0))
#: Change of the torque that parameters cannot make up for, relative to the change, below which an
#: offset cannot be distinguished from parameters by any motion.
HIDDEN = 1e-6
#: Rounds with the delay of the drive signal, and the change of it that ends them, s.
ROUNDS, DELAY_SETTLED = 4, 2e-4


@dataclass(frozen=True, eq=False)
class JointOffsets:
    """
    Offsets to be added to the recorded positions.

    Attributes
    ----------
    offset : (n,) ndarray
        rad or m; zero for joints whose offset is unidentifiable.
    std : (n,) ndarray
        Standard deviation for coloured residuals; the prior's where the offset is
        unidentifiable.
    hidden : (n,) ndarray of bool
        Joints whose offset is unidentifiable, because the link parameters absorb it: those that
        turn about gravity, and the last one.
    joint_names : tuple of str
        Names.
    prismatic : (n,) ndarray of bool
        Joints that slide.

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


def estimate_joint_offsets(
    arm: ArmModel, motions: Sequence[ConditionedMotion], settings: ConditioningSettings,
) -> JointOffsets:
    """
    Estimate the offsets of the joint zeros together with the dynamics.

    ``W(q + offset) theta = tau`` is linear in theta; Gauss-Newton steps of the offsets are taken
    from the least-squares problem in which their columns ``dW/dq theta`` stand beside W, so that
    an offset never absorbs an effect of the parameters.

    Parameters
    ----------
    arm : ArmModel
        The arm; a friction term that depends on the load keeps the load of the start.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Cut-off and decimation.

    Returns
    -------
    JointOffsets
        Offsets with error bars and identifiability.

    Raises
    ------
    RecordingError
        There are fewer rows than parameters.

    References
    ----------
    Kaufman 1975, A variable projection method for solving separable nonlinear least squares
    problems, BIT 15.

    """
    n = arm.n
    offset, std = np.zeros(n), np.full(n, PRIOR)
    theta = fit(arm, KeptRows(arm, motions, settings, arm.friction)).theta
    hidden = hidden_offsets(arm, theta)
    free = np.flatnonzero(~hidden)
    for _ in range(ITERATIONS if len(free) else 0):
        shifted = [replace(motion, q=motion.q + offset) for motion in motions]
        step, std[free], theta = _step(arm, shifted, settings, theta, free, offset[free])
        step = np.clip(step, -LARGEST_STEP, LARGEST_STEP)
        offset[free] += step
        if (np.abs(step) < np.maximum(SETTLED, SETTLED_BY_STD * std[free])).all():
            break
    return JointOffsets(
        offset, std, hidden, arm.joint_names, arm.prismatic)


def hidden_offsets(arm: ArmModel, theta: Array) -> NDArray[np.bool_]:
    """
    Find the joints with unidentifiable zeros, (n,).

    At random states the change of the torque with the offset is compared with the part that
    the parameters do not absorb.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    theta : (b,) ndarray
        Base parameters.

    """
    columns = base_parameters(arm).columns
    q, qd, qdd, load, history = random_states(arm)
    W = regressor(arm, q, qd, qdd, load=load, history=history)[:, :, columns].reshape(
        -1, len(columns))
    Z = np.stack([_change(arm, q, qd, qdd, theta, i).reshape(-1) for i in range(arm.n)], axis=1)
    Q = np.linalg.qr(W / np.linalg.norm(W, axis=0))[0]
    left = np.linalg.norm(Z - Q @ (Q.T @ Z), axis=0)
    return np.asarray(left <= HIDDEN * np.maximum(np.linalg.norm(Z, axis=0), HIDDEN))


def _change(arm: ArmModel, q: Array, qd: Array, qdd: Array, theta: Array, joint: int) -> Array:
    """Change of the torque (N, n) with the position of one joint, by central differences."""
    rigid = arm.rigid()
    inertial = standard_of(arm, theta)[arm.layout.all_inertial()]
    step = STEP * np.eye(arm.n)[joint]
    ahead, behind = (regressor(rigid, q + way * step, qd, qdd) @ inertial for way in (1, -1))
    return np.asarray((ahead - behind) / (2 * STEP))


def _step(
    arm: ArmModel, motions: Sequence[ConditionedMotion], settings: ConditioningSettings,
    theta: Array, joints: NDArray[np.intp], offset: Array,
) -> tuple[Array, Array, Array]:
    """
    Least squares of ``[W  dW/dq theta]`` for the steps of the offsets.

    Parameters
    ----------
    arm, motions, settings
        As for `estimate_joint_offsets`, the motions at the offsets found so far.
    theta : (b,) ndarray
        Base parameters found so far.
    joints : (m,) ndarray of int
        Joints whose offsets are estimated.
    offset : (m,) ndarray
        Their offsets, beside whose prior the steps stand.

    Returns
    -------
    step, std : (m,) ndarray
        Steps of the offsets, and their standard deviations.
    theta : (b,) ndarray
        Base parameters.

    """
    b, m, rows = len(theta), len(joints), KeptRows(arm, motions, settings, arm.friction)
    # At the kept samples: filtering these columns too would change the result by
    # no more than the product of residual and filter error, at a multiple of the cost.
    decimator, changes = settings.decimator(), []
    for motion in motions:
        kept = decimator.reach + decimator.step * np.arange(decimator.outputs(len(motion.t)))
        state = (motion.q[kept], motion.qd[kept], motion.qdd[kept])
        changes.append(np.stack(
            [_change(arm, *state, theta, int(joint)) for joint in joints], axis=2))

    def blocks() -> Iterator[RowBlock]:
        done = [0] * len(motions)
        for block in rows.blocks(arm, theta):
            first = done[block.segment]
            done[block.segment] = last = first + len(block.t)
            Z = changes[block.segment][first:last] * block.moving[:, :, None]
            yield replace(block, W=np.concatenate([block.W, Z], axis=2))

    parts = compress_groups(b + m, row_groups(motions, rows.numbers, blocks()))
    data = stack(parts)
    known = arm_prior(arm).reaching(data.torque()).rows()
    prior = np.column_stack([block_diag(known[:, :-1], np.eye(m) / PRIOR),
                             np.append(known[:, -1], -offset / PRIOR)])
    solution = solve(data, prior)
    scatter = group_scatter([Products.of(part) for part in parts], solution)
    std = np.sqrt(np.diag(scatter.covariance(solution)))
    return solution.theta[b:], std[b:], solution.theta[:b]


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
        All of them are to be added to the positions, undetermined ones too: the prior keeps them
        near zero.

    Raises
    ------
    RecordingError
        The recordings are too short.

    """
    plain = arm.memoryless
    settings = choose_conditioning(plain, recordings)
    for _ in range(ROUNDS):
        parts = [
            motion for recording in recordings for motion in motions(arm, recording, settings)]
        found = estimate_joint_offsets(arm, parts, settings)
        corrected = [replace(recording, q=recording.q + found.offset) for recording in recordings]
        previous, settings = settings, choose_conditioning(plain, corrected)
        if np.abs(settings.delay - previous.delay) < DELAY_SETTLED:
            break
    return found
