"""
The score of a suspect: the log likelihood of the signals at physically possible parameters.

Signals of joints with independent Gaussian noise, whose size follows from the residuals, have the
log likelihood ``-1/2 Σ N_j log σ_j² + N log |det M|`` for torque ``tau @ M``: the determinant is
what a change of the signals does to their density. Without the constraint to possible parameters a
likelihood is larger, so that a suspect whose free likelihood does not suffice needs no search in
the cone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.blocks.filtered_columns import Places
from dynid_ros.estimation.estimate.physical_cone import physical_cone, PhysicalCone
from dynid_ros.estimation.estimate.possible_parameters import PossibleParameters
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.suspects.suspect import in_any_gravity, Suspect
from dynid_ros.estimation.suspects.suspect_rows import mixed, SuspectRows
from dynid_ros.utilities.arrays import Array

#: Passes in which the weights of the joints settle.
PASSES = 5
#: Share of the samples of the joint that moves most in which a joint must move to be compared.
LEAST_MOVING = 0.1
#: Smallest credible mean square of a residual, relative to the torque.
FLOOR = 1e-8
#: Least power of the torque of a joint, by the largest one, with which its residual is compared.
SILENT = 1e-6


@dataclass(frozen=True, eq=False)
class Fit:
    """
    A fit of all joints.

    Attributes
    ----------
    theta : (c,) ndarray
        Base parameters, and those of a load behind them.
    variance : (n,) ndarray
        Mean square residual of each joint.
    values : (p,) ndarray
        Standard parameters, from which another search may start.

    """

    theta: Array
    variance: Array
    values: Array


@dataclass(frozen=True, eq=False)
class Prediction:
    """
    Groups of samples that were predicted from the others.

    Attributes
    ----------
    values : (K,) ndarray
        Log likelihood of each group.
    left, power : (K, m) ndarray
        Squares of the residuals and of the torque of each compared joint.

    """

    values: Array
    left: Array
    power: Array

    @property
    def error_percent(self) -> float:
        """Torque error on groups that were not fitted, %."""
        return 100 * float(np.sqrt(self.left.sum() / max(self.power.sum(), TINY)))

    @property
    def share(self) -> Array:
        """Share of the torque of each compared joint that is left, (m,)."""
        return np.asarray(np.sqrt(
            self.left.sum(axis=0) / np.maximum(self.power.sum(axis=0), TINY)))

    @property
    def usual_share(self) -> Array:
        """Share that groups but the worst leave of a mean one, (m,): a collision is in one."""
        left = (self.left.sum(axis=0) - self.left.max(axis=0)) / max(len(self.left) - 1, 1)
        return np.asarray(np.sqrt(left / np.maximum(self.power.mean(axis=0), TINY)))


class Likelihood:
    """
    Scores of suspects that share an arm, but for its geometry.

    Parameters
    ----------
    base : Suspect
        The recording as it is.

    Attributes
    ----------
    joints : (m,) ndarray of int
        Joints that move enough to be compared.

    """

    def __init__(self, base: Suspect) -> None:
        counts, own = base.rows.counts, np.arange(base.arm.n)
        self.joints: NDArray[np.intp] = np.flatnonzero(counts > LEAST_MOVING * counts.max())
        at = base.rows.products.shape[1] - base.arm.n + own
        self._torque = np.sqrt(base.rows.products[own, at, at] / np.maximum(counts, 1))
        self._priors: dict[ArmModel, tuple[ArmModel, ArmPrior, PhysicalCone, Array]] = {}
        # A base of the recorded arm serves the free fits of all.
        _, self._prior, _, self._tie = self._of_arm(base.arm)

    def free(self, suspect: Suspect) -> float:
        """Log likelihood at the best parameters of all."""
        return self._value(self.fit(suspect)[1], suspect.rows.counts, suspect.mixing)

    def fit(self, suspect: Suspect) -> tuple[Array, Array]:
        """Return the best parameters (c,) of all, and mean square residuals (n,)."""
        products, counts = suspect.rows.mixed(suspect.mixing), suspect.rows.counts
        return self._free(products, counts, self._prior, self._tie, self._more(suspect.rows))

    def information(self, rows: SuspectRows) -> Array:
        """Information (c, c) of the prior of all parameters of some rows."""
        return np.asarray(block_diag(self._tie, self._more(rows)))

    def apart(self, suspect: Suspect, sets: Places) -> Array:
        """
        Compare a fit to all samples with one to each of several sets.

        Parameters
        ----------
        suspect : Suspect
            Data and arm.
        sets : (k,) ndarray of int
            Number of the set of each sample.

        Returns
        -------
        (K, n) ndarray
            Residual of each joint in the first fit by that in the second, set by set.

        """
        theta, _ = self.fit(suspect)
        every = zip(*suspect.rows.by_group(sets), strict=True)
        found = []
        for products, counts in every:
            own = mixed(products, suspect.mixing)
            _, alone = self._free(own, counts, self._prior, self._tie, self._more(suspect.rows))
            found.append(np.sqrt(_squares(own, theta) / np.maximum(counts, 1) / alone))
        return np.array(found)

    def possible(self, suspect: Suspect, start: Fit | None = None) -> tuple[float, Fit]:
        """Log likelihood at the best possible parameters, and these."""
        rows = self._rebased(suspect).rows
        fit = self._possible(suspect.arm, rows.mixed(suspect.mixing), rows.counts,
                             self._more(rows), start)
        return self._value(fit.variance, rows.counts, suspect.mixing), fit

    def blocks(self, suspect: Suspect, fit: Fit) -> Prediction:
        """Predict each group of samples from the others, from their fit on."""
        products, counts = self._rebased(suspect).rows.by_group(suspect.groups)
        products, groups = mixed(products, suspect.mixing), np.arange(len(counts))
        values, left = np.zeros(len(groups)), np.zeros((len(groups), suspect.arm.n))
        more = self._more(suspect.rows)
        for k in groups.tolist():
            others = groups != k
            known = counts[others].sum(axis=0)
            found = self._possible(suspect.arm, products[others].sum(axis=0), known, more, fit)
            left[k] = np.maximum(_squares(products[k], found.theta), 0.0)
            # Of a variance that is known from so many samples: Student's t.
            terms = counts[k] * np.log(found.variance) + (known + counts[k]) * np.log1p(
                left[k] / np.maximum(known, 1) / found.variance)
            values[k] = self._jacobian(counts[k], suspect.mixing) - terms[self.joints].sum() / 2
        return Prediction(values, left[:, self.joints], products[:, self.joints, -1, -1])

    def _rebased(self, suspect: Suspect) -> Suspect:
        """Return a suspect with rows of a base of its arm, which its geometry decides."""
        columns = base_parameters(in_any_gravity(suspect.arm)).columns
        if np.array_equal(columns, suspect.rows.columns):
            return suspect
        return replace(suspect, rows=replace(suspect.rows, columns=columns))

    def _of_arm(self, arm: ArmModel) -> tuple[ArmModel, ArmPrior, PhysicalCone, Array]:
        """Arm in any gravity, prior, cone, and information (b, b) of the base parameters."""
        if arm not in self._priors:
            anywhere = in_any_gravity(arm)
            prior = arm_prior(anywhere).scaled_to(self._torque)
            self._priors[arm] = (anywhere, prior, physical_cone(anywhere, prior),
                                 np.asarray(np.linalg.inv(prior.covariance)))
        return self._priors[arm]

    def _value(self, variance: Array, counts: Array, mixing: Array) -> float:
        terms = counts[self.joints] * np.log(variance[self.joints])
        return self._jacobian(counts, mixing) - float(terms.sum() / 2)

    def _jacobian(self, counts: Array, mixing: Array) -> float:
        """Change of the density of the signals: of each joint its own samples count."""
        own, counts = mixing[np.ix_(self.joints, self.joints)], counts[self.joints]
        lengths = np.linalg.norm(own, axis=0)
        turned = float(np.linalg.slogdet(own / lengths)[1])
        return float(counts @ np.log(lengths) + counts.mean() * turned)

    def _free(
        self, products: Array, counts: Array, prior: ArmPrior, tie: Array, more: Array,
    ) -> tuple[Array, Array]:
        """Parameters (c,) of a fit without constraints, and mean square residuals (n,)."""
        c, pull = products.shape[-1] - 1, np.append(tie @ prior.theta, np.zeros(len(more)))
        tie = block_diag(tie, more)
        floor, variance = _floor(products, counts)
        for _ in range(PASSES):
            H = np.einsum('j,jab->ab', 1 / variance, products)
            theta = np.linalg.solve(H[:c, :c] + tie, H[:c, c] + pull)
            variance = np.maximum(_squares(products, theta) / np.maximum(counts, 1), floor)
        return theta, np.asarray(variance)

    def _more(self, rows: SuspectRows) -> Array:
        """Information (l, l) of the prior of parameters that may have another value."""
        return np.diag(self._prior.std[rows.again]**-2)

    def _possible(
        self, arm: ArmModel, products: Array, counts: Array, more: Array, start: Fit | None,
    ) -> Fit:
        """Fit with possible parameters; what changes has its prior alone."""
        arm, prior, cone, tie = self._of_arm(arm)
        _, variance = self._free(products, counts, prior, tie, more)
        floor, _ = _floor(products, counts)
        b, c = len(prior.grouping), products.shape[-1] - 1
        H = np.einsum('j,jab->ab', 1 / variance, products)
        load = H[b:c, b:c] + more
        own = H[:b] - H[:b, b:c] @ np.linalg.solve(load, H[b:c])
        found = PossibleParameters(
            arm, prior, cone, own[:, :b], own[:, c], prior.covariance,
            cone.prior if start is None else start.values)
        values = found.constrained_fit(prior, found.information, found.score)
        theta = prior.grouping @ values
        theta = np.append(theta, np.linalg.solve(load, H[b:c, c] - H[b:c, :b] @ theta))
        left = _squares(products, theta) / np.maximum(counts, 1)
        return Fit(theta, np.maximum(left, floor), values)


def _floor(products: Array, counts: Array) -> tuple[Array, Array]:
    """Smallest credible mean squares of residuals (n,), and those of the torque."""
    power = products[:, -1, -1] / np.maximum(counts, 1)
    power = np.maximum(power, SILENT * power.max() + TINY)
    return FLOOR * power, power


def _squares(products: Array, theta: Array) -> Array:
    """Return the sum of the squared residuals of each joint, (n,)."""
    x = np.append(theta, -1.0)
    return np.asarray(products @ x @ x)
