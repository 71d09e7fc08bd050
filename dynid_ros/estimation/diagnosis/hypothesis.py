"""One explanation of a recording: its changes, and how well the model then predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.quality import POSITION_SLACK
from dynid_ros.data.signals.trial_samples import thinned, TrialSamples
from dynid_ros.estimation.blocks.least_squares import LeastSquares
from dynid_ros.estimation.diagnosis.dissipation import NEGATIVE_DEVIATIONS
from dynid_ros.estimation.diagnosis.trial_rows import (
    trial_regressor,
    trial_rows,
    TrialRows,
    TrialScore,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import several

#: Friction terms of all trials: those that explain most of every arm that was looked at.
FRICTION = ('viscous', 'coulomb', 'offset', 'viscous_cuberoot')
#: Share of the samples with motion in which a joint must move to be compared.
MOVING_SHARE = 0.3
#: Columns that an exchange concerns, by its code.
EXCHANGES = {'effort_exchanged': 'drive signals', 'position_exchanged': 'positions',
             'joint_exchanged': 'positions and drive signals'}
#: Cost of friction that drives a joint, as a logarithm of its residual.
DRIVEN_COST = 1.0
#: Shares of unexplained torque that count as none and as all.
NOTHING, EVERYTHING = 0.005, 1.5
#: Relative difference of two costs that is rounding.
SAME = 1e-6


@dataclass(frozen=True)
class Step:
    """
    One change of the data or of the arm.

    Attributes
    ----------
    code : str
        Kind of fault that it undoes, such as ``effort_sign``.
    joints : tuple of int
        Joints that it concerns.
    text : str
        The fault, a clause.
    remedy : str
        What to do, a clause.
    price : float
        Gain that it must bring beyond the gain of other steps.
    rough : bool
        Whether it was searched for roughly: the model becomes better by it, not good.

    """

    code: str
    joints: tuple[int, ...]
    text: str
    remedy: str
    price: float = 0.0
    rough: bool = False


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """
    Data and arm after some changes.

    Attributes
    ----------
    arm : ArmModel
        The arm as assumed.
    samples : TrialSamples
        Motion and recorded torque as assumed; the torque is not yet mixed.
    rows : TrialRows
        Rows of that motion.
    signals : (n, n) ndarray
        Signal of drive i is assumed to be ``u @ signals[:, i]`` of the recorded ones.
    excluded : tuple of int
        Joints whose signal is assumed to be no torque.
    steps : tuple of Step
        The changes.
    loaded : (k,) ndarray of bool or None
        Samples in which the last link is assumed to have other inertial parameters.
    driven : tuple of int
        Joints that friction drives, as recorded, by error bars that know of coloured residuals.

    """

    arm: ArmModel
    samples: TrialSamples
    rows: TrialRows
    signals: Array
    excluded: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()
    loaded: NDArray[np.bool_] | None = None
    driven: tuple[int, ...] = ()

    @cached_property
    def joints(self) -> NDArray[np.intp]:
        """Joints that move enough to be compared."""
        moving = self.samples.moving
        common = moving[moving.any(axis=1)]
        return np.flatnonzero(common.mean(axis=0) > MOVING_SHARE) if len(common) else np.arange(0)

    @property
    def compared(self) -> NDArray[np.intp]:
        """Joints that are fitted and compared."""
        return self.joints[~np.isin(self.joints, self.excluded)] if self.excluded else self.joints

    @property
    def mixing(self) -> Array:
        """Matrix (n, n) from the recorded torque to that assumed, ``tau @ mixing``."""
        identity: Array = np.eye(self.arm.n)
        if np.array_equal(self.signals, identity):
            return identity
        # Signals are mixed at the motors, which a transmission may couple.
        through = joint_torque(identity, self.arm.drive)
        return np.asarray(np.linalg.solve(through, self.signals @ through))

    @property
    def regressor(self) -> Array:
        """Return the rows (k, n, c) of the parameters that are fitted."""
        return trial_regressor(self.arm, self.samples, self.rows.base, self.loaded)

    @cached_property
    def score(self) -> TrialScore:
        """Prediction of the folds that were left out."""
        return self.rows.score(self.mixing, self.compared)

    @cached_property
    def cost(self) -> float:
        """Sum over the joints of the logarithm of the share of torque that is unexplained."""
        left = np.clip(self.score.left, NOTHING, EVERYTHING)
        left[list(self.excluded)] = 1.0
        return float(np.log(left[self.joints]).sum()) + DRIVEN_COST * len(self.still_driven)

    @cached_property
    def still_driven(self) -> list[int]:
        """Joints of `driven` that friction drives under this assumption, too."""
        if not self.driven:
            return []
        theta, root = self.rows.fit(self.mixing, self.compared)
        friction = self.rows.friction
        least = -NEGATIVE_DEVIATIONS * np.linalg.norm(friction @ LeastSquares(root).half, axis=1)
        return [joint for joint in self.driven if friction[joint] @ theta < least[joint] < 0]

    @cached_property
    def beyond_range(self) -> list[int]:
        """Joints that move further than their limits are apart, whatever their zeros and turns."""
        excess = np.ptp(self.samples.q, axis=0) - self.arm.limits.upper + self.arm.limits.lower
        return np.flatnonzero(excess > 2 * POSITION_SLACK).tolist()

    @property
    def error_percent(self) -> float:
        """Torque error on the folds that were left out, %."""
        return self.score.error_percent

    @property
    def changed_joints(self) -> list[int]:
        """Joints whose signals are assumed to be changed."""
        return sorted({joint for step in self.steps for joint in step.joints})

    def changed(self, step: Step, **changes: Any) -> Hypothesis:
        """Assume something else that leaves the rows as they are, or brings them along."""
        return replace(self, steps=(*self.steps, step), **changes)

    def refitted(
        self, step: Step, base: NDArray[np.intp] | None = None, **changes: Any,
    ) -> Hypothesis:
        """Assume another arm, motion or load, of which the rows follow."""
        other = self.changed(step, **changes)
        return replace(other, rows=trial_rows(other.arm, other.samples, other.loaded, base))

    def with_signals(self, change: Array, step: Step) -> Hypothesis:
        """Assume that the drive signals ``u @ change`` are the true ones."""
        return self.changed(step, signals=self.signals @ change)


def as_recorded(
    arm: ArmModel, samples: TrialSamples, driven: Sequence[str] = (),
) -> Hypothesis:
    """
    Take data and arm as they are.

    Parameters
    ----------
    arm : ArmModel
        The arm with the gravity that it states.
    samples : TrialSamples
        Of all recordings.
    driven : sequence of str
        Joints that friction drives, as recorded.

    """
    arm, samples = arm.with_friction(FRICTION), thinned(samples)
    return Hypothesis(arm, samples, trial_rows(arm, samples), np.eye(arm.n),
                      driven=tuple(arm.joint_names.index(name) for name in driven))


def without_more(ordered: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Leave out explanations that are another one, and those with a further step."""
    kept: list[Hypothesis] = []
    for each in sorted(ordered, key=lambda one: len(one.steps)):
        if not any(_contains(each, other) for other in kept):
            kept.append(each)
    return [each for each in ordered if any(each is one for one in kept)]


def _contains(each: Hypothesis, other: Hypothesis) -> bool:
    """Whether an explanation holds all steps of another, or orders the same joints alike."""
    own, others = ({(step.code, step.joints) for step in one.steps} for one in (each, other))
    codes, other_codes = ({code for code, _ in one} for one in (own, others))
    # Three exchanges of two joints make each order of three joints.
    alike = (codes == other_codes and each.changed_joints == other.changed_joints
             and abs(each.cost - other.cost) < SAME * abs(other.cost))
    return others <= own or alike


def exchange(n: int, pair: Sequence[int]) -> Array:
    """Matrix (n, n) that exchanges two columns of those before it."""
    order = np.arange(n)
    order[list(pair)] = order[list(pair[::-1])]
    return np.asarray(np.eye(n)[:, order])


def names(arm: ArmModel, joints: Sequence[int]) -> str:
    """Names of joints, for a sentence."""
    return several(f"'{arm.joint_names[joint]}'" for joint in joints)


def described(arm: ArmModel, steps: Sequence[Step]) -> str:
    """Describe several changes, for a sentence: exchanges one after another by their outcome."""
    codes = {step.code for step in steps}
    if len(steps) < 2 or len(codes) > 1 or not codes <= set(EXCHANGES):
        return ' and '.join(step.text for step in steps)
    order = np.eye(arm.n)
    for step in steps:
        order = order @ exchange(arm.n, step.joints)
    held = order.argmax(axis=1)
    wrong = np.flatnonzero(held != np.arange(arm.n)).tolist()
    listed = ', '.join(f'{names(arm, [column])} holds that of {names(arm, [held[column]])}'
                       for column in wrong)
    return (f'the {EXCHANGES[steps[0].code]} of {names(arm, wrong)} seem to be in the wrong '
            f'order: the column of {listed}')
