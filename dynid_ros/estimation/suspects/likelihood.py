# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
The score of a suspect: the log likelihood of the signals at physically possible parameters.

With independent Gaussian noise whose variance is estimated from the residuals, the signals have
the log likelihood ``-1/2 Σ N_j log σ_j² + N log |det M|`` for torque ``tau @ M``: the determinant
is the change of their density. The unconstrained likelihood is an upper bound, so a suspect whose
unconstrained likelihood is too small needs no search among possible parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.blocks.filtered_columns import Places
from dynid_ros.estimation.blocks.groups import GROUPS
from dynid_ros.estimation.estimate.folds import CLEARLY_WORSE
from dynid_ros.estimation.estimate.physical_cone import physical_cone, PhysicalCone
from dynid_ros.estimation.estimate.possible_parameters import PossibleParameters
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.suspects.cross_validation import Prediction
from dynid_ros.estimation.suspects.sums import Sums
from dynid_ros.estimation.suspects.suspect import in_any_gravity, Suspect
from dynid_ros.estimation.suspects.suspect_rows import SuspectRows
from dynid_ros.utilities.arrays import Array

#: Unexplained share of the variation of a drive signal from which nothing predicts it: no signal
#: at all does not predict it clearly worse.
DEAD_SHARE = 1 / CLEARLY_WORSE
#: Suspects that are fitted together: more do not fit the cache.
FITTED_TOGETHER = 32


@dataclass(frozen=True, eq=False)
class Fit:
    """
    A fit of all joints.

    Attributes
    ----------
    theta : (c,) ndarray
        Base parameters, then those of `SuspectRows.added`.
    variance : (n,) ndarray
        Mean square residual of each joint.
    values : (p,) ndarray
        Standard parameters, a start for another search.

    """

    theta: Array
    variance: Array
    values: Array


class Likelihood:
    """
    Scores of suspects of one arm, whose geometry may differ.

    Parameters
    ----------
    base : Suspect
        The recording as it is.

    Attributes
    ----------
    joints : (m,) ndarray of int
        Joints that move enough to be compared: in as many samples as make a group of the joint
        that moves most.

    """

    def __init__(self, base: Suspect) -> None:
        counts, joints = base.rows.counts, np.arange(base.arm.n)
        self.joints: NDArray[np.intp] = np.flatnonzero(GROUPS * counts > counts.max())
        torque = base.rows.products.shape[1] - base.arm.n + joints
        self._torque = np.sqrt(base.rows.products[joints, torque, torque] / np.maximum(counts, 1))
        self._priors: dict[ArmModel, tuple[ArmModel, ArmPrior, PhysicalCone, Array]] = {}
        # The base of the recorded arm serves all unconstrained fits.
        _, self._prior, _, self._prior_information = self._prior_of(base.arm)

    def unconstrained(self, suspect: Suspect) -> float:
        """Log likelihood at the best unconstrained parameters."""
        return self.all_unconstrained([suspect])[0]

    def all_unconstrained(self, suspects: Sequence[Suspect]) -> list[float]:
        """Return those of several suspects; suspects of the same rows are fitted together."""
        values = np.empty(len(suspects))
        sharing: dict[int, list[int]] = {}
        for k, each in enumerate(suspects):
            sharing.setdefault(id(each.rows), []).append(k)
        for places in sharing.values():
            rows = suspects[places[0]].rows
            for start in range(0, len(places), FITTED_TOGETHER):
                some = places[start:start + FITTED_TOGETHER]
                mixings = np.array([suspects[k].mixing for k in some])
                _, variances = self._fits(rows, mixings)
                values[some] = [self._value(variance, rows.counts, mixing)
                                for variance, mixing in zip(variances, mixings, strict=True)]
        return [float(value) for value in values]

    def fit(self, suspect: Suspect) -> tuple[Array, Array]:
        """Return the best unconstrained parameters (c,), and mean square residuals (n,)."""
        theta, variance = self._fits(suspect.rows, suspect.mixing[None])
        return theta[0], variance[0]

    def _fits(self, rows: SuspectRows, mixings: Array) -> tuple[Array, Array]:
        return self._free(Sums.of(rows.products, rows.counts, mixings), self._prior,
                          self._prior_information, self._change_prior(rows))

    def free_share(self, suspect: Suspect) -> Array:
        """Unexplained share (m,) of the torque of each compared joint, without constraints."""
        _, variance = self.fit(suspect)
        sums = Sums.of(suspect.rows.products, suspect.rows.counts, suspect.mixing[None])
        share = np.sqrt(variance * sums.counts / np.maximum(sums.power[0], TINY))
        return np.asarray(share[self.joints])

    def prior_information(self, rows: SuspectRows) -> Array:
        """Information (c, c) of the prior of all parameters."""
        return np.asarray(block_diag(self._prior_information, self._change_prior(rows)))

    def residual_ratios(self, suspect: Suspect, sets: Places) -> Array:
        """
        Compare a fit to all samples with a fit to each of several sets.

        Parameters
        ----------
        suspect : Suspect
            Data and arm.
        sets : (k,) ndarray of int
            Number of the set of each sample.

        Returns
        -------
        (K, n) ndarray
            Ratio of the residual of each joint in the first fit to that in the second, by set.

        """
        theta, _ = self.fit(suspect)
        groups = zip(*suspect.rows.by_group(sets), strict=True)
        ratios = []
        for products, counts in groups:
            own = Sums.of(products, counts, suspect.mixing[None])
            _, variance = self._free(own, self._prior, self._prior_information,
                                     self._change_prior(suspect.rows))
            squares = own.squares(theta[None]) / np.maximum(counts, 1)
            ratios.append(np.sqrt(squares / variance)[0])
        return np.array(ratios)

    def possible(self, suspect: Suspect, start: Fit | None = None) -> tuple[float, Fit]:
        """Return the log likelihood at the best possible parameters, and these."""
        rows = self._rebased(suspect).rows
        sums = Sums.of(rows.products, rows.counts, suspect.mixing[None])
        fit = self._possible(suspect.arm, sums, self._change_prior(rows), start)
        return self._value(fit.variance, rows.counts, suspect.mixing), fit

    def blocks(self, suspect: Suspect, fit: Fit) -> Prediction:
        """Predict each group of samples from the others, starting from a fit to all."""
        change_prior = self._change_prior(suspect.rows)

        def fitted(sums: Sums) -> tuple[Array, Array]:
            found = self._possible(suspect.arm, sums, change_prior, fit)
            return found.theta, found.variance

        return self._predicted(self._rebased(suspect), fitted, self.dispersion(suspect, fit))

    def unconstrained_blocks(self, suspect: Suspect) -> Prediction:
        """Predict each group of samples from the others without constraints."""
        change_prior = self._change_prior(suspect.rows)

        def fitted(sums: Sums) -> tuple[Array, Array]:
            theta, variance = self._free(
                sums, self._prior, self._prior_information, change_prior)
            return theta[0], variance[0]

        return self._predicted(suspect, fitted, 1.0)

    def predictable(self, suspect: Suspect) -> NDArray[np.bool_]:
        """Mark joints (m,) whose signal unconstrained parameters predict in other groups."""
        left = self.unconstrained_blocks(suspect).residual_squares.sum(axis=0)
        moving, tau = suspect.samples.moving, suspect.samples.tau @ suspect.mixing
        spread = [tau[moving[:, joint], joint].var() for joint in self.joints]
        return np.asarray(left <= DEAD_SHARE**2 * suspect.rows.counts[self.joints] * spread)

    def _predicted(
        self, suspect: Suspect, fitted: Callable[[Sums], tuple[Array, Array]], dispersion: float,
    ) -> Prediction:
        """Predict each group of samples from a fit to the others."""
        products, counts = suspect.rows.by_group(suspect.groups)
        mixing, groups = suspect.mixing[None], np.arange(len(counts))
        values, squares = np.zeros(len(groups)), np.zeros((len(groups), suspect.arm.n))
        power = np.zeros_like(squares)
        silent, heard = list(suspect.rows.silent), products
        if silent:
            heard, _ = replace(suspect.rows, silent=()).by_group(suspect.groups)
        for k in groups.tolist():
            others = groups != k
            count = counts[others].sum(axis=0)
            theta, variance = fitted(Sums.of(products[others].sum(axis=0), count, mixing))
            held_out = Sums.of(products[k], counts[k], mixing)
            squares[k] = np.maximum(held_out.squares(theta[None])[0], 0.0)
            power[k] = held_out.power[0]
            # Student's t, as the variance is estimated from so many samples.
            terms = counts[k] * np.log(variance) + (count + counts[k]) * np.log1p(
                squares[k] / np.maximum(count, 1) / variance)
            values[k] = self._jacobian(counts[k], suspect.mixing) - terms[self.joints].sum() / 2
            # The torque that a silent signal should hold; nothing measures its residual.
            W, squares[k, silent] = heard[k, silent, :len(theta), :len(theta)], 0.0
            power[k, silent] = np.einsum('a,jab,b->j', theta, W, theta)
        return Prediction(values, squares[:, self.joints], power[:, self.joints], dispersion,
                          suspect.mixing[np.ix_(self.joints, self.joints)])

    def dispersion(self, suspect: Suspect, fit: Fit) -> float:
        """
        Factor by which model errors enlarge differences of log likelihood.

        If the model is true, twice the log likelihood that the limits of possible parameters cost
        follows a mixture of chi-squared distributions with a mean of about half the number of
        parameters, as each limit binds or not (Shapiro 1988, Towards a unified theory of
        inequality constrained testing in multivariate analysis, International Statistical Review
        56). Real arms cost more: their model errors, which parameters absorb that are impossible.
        Such errors enlarge any difference of log likelihood by about the same factor (Burnham and
        Anderson 2002, Model selection and multimodel inference, section 2.5).

        Parameters
        ----------
        suspect : Suspect
            Data and arm.
        fit : Fit
            Its possible parameters.

        Returns
        -------
        float
            At least one.

        """
        counts = suspect.rows.counts
        cost = self.unconstrained(suspect) - self._value(fit.variance, counts, suspect.mixing)
        return max(1.0, 2 * cost / (len(fit.theta) / 2))

    def _rebased(self, suspect: Suspect) -> Suspect:
        """Return a suspect with the base parameters of its own geometry."""
        columns = base_parameters(in_any_gravity(suspect.arm)).columns
        if np.array_equal(columns, suspect.rows.columns):
            return suspect
        return replace(suspect, rows=replace(suspect.rows, columns=columns))

    def _prior_of(self, arm: ArmModel) -> tuple[ArmModel, ArmPrior, PhysicalCone, Array]:
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
        """Log of the change of density by mixing; each joint counts by its own samples."""
        own, counts = mixing[np.ix_(self.joints, self.joints)], counts[self.joints]
        lengths = np.linalg.norm(own, axis=0)
        turned = float(np.linalg.slogdet(own / lengths)[1])
        return float(counts @ np.log(lengths) + counts.mean() * turned)

    def _free(
        self, sums: Sums, prior: ArmPrior, information: Array, change_prior: Array,
    ) -> tuple[Array, Array]:
        """Parameters (S, c) of fits without constraints, and mean square residuals (S, n)."""
        b, score = len(prior.theta), information @ prior.theta
        theta, variance = sums.fitted(
            block_diag(information, change_prior), np.append(score, np.zeros(len(change_prior))))
        negative = _has_negative(theta[:, b:])
        if negative.any():
            rest, of_rest = sums.first(b).fitted(information, score)
            theta[negative] = np.pad(rest, ((0, 0), (0, len(change_prior))))[negative]
            variance[negative] = of_rest[negative]
        return theta, variance

    def _change_prior(self, rows: SuspectRows) -> Array:
        """Information (l, l) of the prior of the added parameters."""
        return np.diag(self._prior.std[rows.added]**-2)

    def _possible(
        self, arm: ArmModel, sums: Sums, change_prior: Array, start: Fit | None,
    ) -> Fit:
        """Fit possible parameters; of the added ones, only the first is constrained."""
        arm, prior, cone, information = self._prior_of(arm)
        _, variance = self._free(sums, prior, information, change_prior)
        b = len(prior.grouping)
        (normal,), (right,) = sums.weighted(1 / variance)
        change_normal = normal[b:, b:] + change_prior
        change = np.linalg.solve(change_normal, np.column_stack([normal[b:, :b], right[b:]]))
        near = PossibleParameters(
            arm, prior, cone, normal[:b, :b] - normal[:b, b:] @ change[:, :b],
            right[:b] - normal[:b, b:] @ change[:, b], prior.covariance,
            cone.prior if start is None else start.values)
        values = near.constrained_fit(prior, near.information, near.score)
        theta = prior.grouping @ values
        theta = np.append(theta, change[:, b] - change[:, :b] @ theta)
        if _has_negative(theta[None, b:]).any():
            fit = self._possible(arm, sums.first(b), np.zeros((0, 0)), start)
            return replace(fit, theta=np.append(fit.theta, np.zeros(len(change))))
        return Fit(theta, sums.mean_squares(theta[None])[0], values)


def _has_negative(added: Array) -> NDArray[np.bool_]:
    """Mark fits (S,) whose first added parameter is negative: the mass of a load, or friction."""
    return np.asarray((added[:, :1] < 0).any(axis=1))
