"""Friction terms that single joints do without."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from dynid_ros.arm.model import ArmModel
from dynid_ros.cross_validation.friction_choice import (
    difference,
    Folds,
    Own,
    PLAIN_FORMS,
    THRESHOLDS,
)
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.regression.weighted_least_squares import QRFactors, reweighted, stack

Array = NDArray[np.float64]

#: Terms that every joint keeps.
KEPT = {term for terms in PLAIN_FORMS for term in terms}


def friction_by_joint(arm: ArmModel, terms: tuple[str, ...], folds: Folds) -> ArmModel:
    """
    Take friction terms away from joints whose torque they predict worse.

    One term of one joint after the other goes, the most harmful first, as long as the error over
    blocks of time falls by a standard error. The error is the mean over the joints of the share of
    torque that is left, so that a wrist counts as much as a shoulder. Every joint keeps viscous
    and Coulomb friction and the offset, and terms are not added: in a recording of a few seconds,
    terms for single joints predict those seconds only.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    terms : tuple of str
        Terms that `choose_friction` chose for all joints.
    folds : Folds
        Blocks of the training part.

    Returns
    -------
    ArmModel
        With the terms of each joint.

    """
    shared = arm.with_friction(terms)
    if terms in PLAIN_FORMS or not folds.apart:
        return shared
    gone = _harmful(terms, folds)
    used = tuple(term for term in terms if any((j, term) not in gone for j in range(arm.n)))
    lacking = tuple(tuple(term for term in used if (j, term) in gone) for j in range(arm.n))
    return arm.with_friction(used, lacking if any(lacking) else ())


def _harmful(terms: tuple[str, ...], folds: Folds) -> set[Own]:
    """Find the terms that joints do without."""
    blocks, owners = folds.blocks(terms)
    sigma = reweighted(stack(blocks), arm_prior(folds.arm).rows(folds.columns(terms)))[1]
    fits = [BlockFit(block, stack([*blocks[:k], *blocks[k + 1:]]), sigma)
            for k, block in enumerate(blocks)]
    # A joint that no torque moves has no share.
    torque = np.where(folds.torque.any(axis=0), folds.torque.mean(axis=0), np.inf)
    gone: set[Own] = set()
    while all(fit.determined for fit in fits):
        now = np.array([fit.left()[:, 0] / torque for fit in fits]).mean(axis=1)
        places = np.array([k for k, owner in enumerate(owners) if owner and owner[1] not in KEPT],
                          dtype=np.intp)
        trials = np.array([fit.left(places) / torque[:, None] for fit in fits]).mean(axis=1)
        gains = [difference(now, trial) for trial in trials.T]
        harmful = [(gain, place) for (gain, standard_error), place in zip(
            gains, places, strict=True) if gain >= THRESHOLDS.standard_errors * standard_error]
        if not harmful:
            break
        place = int(max(harmful)[1])
        owner = owners.pop(place)
        assert owner is not None
        gone.add(owner)
        for fit in fits:
            fit.take_away(place)
    return gone


class BlockFit:
    """
    A block of time, predicted by a weighted fit to the others.

    Parameters
    ----------
    block, others : QRFactors
        Rows of the block, and of all others.
    sigma : (n,) ndarray
        Residual by which each joint is weighted, Nm.

    """

    def __init__(self, block: QRFactors, others: QRFactors, sigma: Array) -> None:
        self._block = block.factors
        stacked, joints = others.stacked()
        self._R = np.asarray(np.linalg.qr(stacked / sigma[joints, None], mode='r'))

    @property
    def determined(self) -> bool:
        """Whether the others determine all columns."""
        diagonal = np.abs(np.diag(self._R)[:-1])
        lengths = np.linalg.norm(self._R[:, :-1], axis=0)
        return bool((diagonal > np.finfo(float).eps * len(diagonal) * lengths).all())

    def left(self, places: NDArray[np.intp] | None = None) -> Array:
        """
        Predict the block without each of some columns, or with all.

        Without column k least squares gives ``theta - C[:, k] theta[k] / C[k, k]``, where C is
        the covariance.

        Returns
        -------
        (n, m) ndarray
            Squared torque of each joint that is left, Nm².

        """
        c = self._R.shape[1] - 1
        inverse = solve_triangular(self._R[:c, :c], np.eye(c))
        theta = (inverse @ self._R[:c, c])[:, None]
        if places is not None:
            covariance = inverse @ inverse[places].T
            theta = theta - covariance * (
                theta[places, 0] / covariance[places, np.arange(len(places))])
        residual = self._block[:, :, -1:] - self._block[:, :, :-1] @ theta
        return np.asarray((residual**2).sum(axis=1))

    def take_away(self, place: int) -> None:
        """Fit without a column from now on."""
        self._block = np.delete(self._block, place, axis=2)
        self._R = np.asarray(np.linalg.qr(np.delete(self._R, place, axis=1), mode='r'))
