"""Scores of the rows of a stream, for the covariance of an estimate with coloured residuals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.regression.covariance import small_sample_factor, window_factor
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import GrowingRows

#: Rows that are kept as they are: all of most recordings, a minute at 17 Hz, 4 MB for 7 joints.
KEPT = 1000
#: Rows that leave at once: enough for a fast product, too few to delay a block.
CHUNK = 16
#: Torques by parameter, at least. The residuals of as many torques as parameters are zero; from
#: here on, more intervals hold the truth than with the colour of the innovations.
FEWEST = 1.5
#: Positions between the rows of two stretches, more than any window.
BREAK = 10**6


class ScoreProducts(GrowingRows):
    """
    The scores behind the covariance after Newey and West, in bounded memory.

    The score of a row is its regressor times its residual, and residuals of rows that were
    predicted early tell how little was known then, not how large the noise is. So the last
    `KEPT` rows are kept, and their residuals follow from the estimate at the time of the
    question, as in the batch. Rows that leave are scored once and for all, by an estimate that
    has learned from `KEPT` rows after them.

    With Bartlett weights the covariance of a sum of scores is the sum of the squares of their
    moving sums over the window, divided by its length (Newey and West 1987); so one
    product is enough for all lags. Products of joints stay apart, because the weights of joints
    change.

    Parameters
    ----------
    joints, parameters : int
        n and b.

    Attributes
    ----------
    lags : int
        Largest lag, rows; may be changed between stretches.
    total, values : int
        Rows so far, and torques in them.
    rows : (m, n, b + 1) ndarray
        Rows ``[W tau]`` that are kept; zeros where a joint was not fitted.
    positions : (m + 1,) ndarray of int
        Places in time of the last row that left and of those kept, in rows.
    products : (n b, n b) ndarray
        Sum of the squared moving sums of the rows that left.
    tail : (lags, n b) ndarray
        Scores of the last rows that left, those without motion as zeros.
    now, segment : int
        Place in time of the last row, in rows, and its stretch.

    """

    saved = ('lags', 'total', 'values', 'products', 'tail', 'now', 'segment', 'rows', 'positions')

    def __init__(self, joints: int, parameters: int) -> None:
        self._shape = n, b = joints, parameters
        self.lags = self.total = self.values = self.now = 0
        self.segment = -1
        super().__init__(np.zeros((0, n, b + 1)))
        self.positions = np.full(1, -BREAK)
        self.products = np.zeros((0, 0))
        self.tail = np.zeros((0, n * b))

    def add(
        self, W: Array, tau: Array, learned: NDArray[np.bool_], segment: int, theta: Array,
    ) -> None:
        """
        Take in rows.

        Parameters
        ----------
        W, tau : (k, n, b) and (k, n) ndarray
            Rows, in the order of time.
        learned : (k, n) ndarray of bool
            Which are fitted.
        segment : int
            Their stretch; nothing is correlated across a gap.
        theta : (b,) ndarray
            Estimate, for rows that leave.

        """
        if segment != self.segment:
            self.segment, self.now = segment, self.now + BREAK
        kept = np.flatnonzero(learned.any(axis=1))
        new = np.concatenate([W, tau[:, :, None]], axis=2)[kept]
        self.append(new * learned[kept][:, :, None])
        self.positions = np.append(self.positions, self.now + 1 + kept)
        self.now += len(W)
        self.total += len(kept)
        self.values += int(learned.sum())
        while len(self.positions) > KEPT + CHUNK + 1:
            self._leave(theta)

    def root(self, theta: Array, sigma: Array, parameters: float) -> Array | None:
        """
        Rows whose squares add up to the covariance of the score of an estimate.

        Parameters
        ----------
        theta : (b,) ndarray
            Estimate.
        sigma : (n,) ndarray
            Standard deviation of the noise of each joint, Nm, in its weights.
        parameters : float
            Number of parameters that the rows determine.

        Returns
        -------
        (m, b) ndarray or None
            With `small_sample_factor` and the `window_factor` of the rows kept; None without
            lags, and where residuals show nothing, see `FEWEST`.

        """
        n, b = self._shape
        if not self.lags or self.values < FEWEST * b:
            return None
        weights = 1 / sigma**2
        rows = self.rows
        e = rows @ np.append(-theta, 1.0)
        scores = np.einsum('kib,ki->kb', rows[:, :, :-1], e * weights)
        tail = np.einsum('kib,i->kb', self.tail.reshape(-1, n, b), weights)
        spread = np.concatenate([self._spaced(scores), np.zeros((self.lags, b))])
        correction = (small_sample_factor(self.total, parameters, self.lags)
                      * window_factor([spread], self.lags))
        root = _moving_sums(_resized(tail, self.lags), spread) / np.sqrt(self.lags + 1)
        if len(self.products):
            left = (weights @ self.products.reshape(n, -1)).reshape(b, n, b)
            values, vectors = np.linalg.eigh(np.einsum('bjc,j->bc', left, weights))
            root = np.concatenate([root, (np.sqrt(np.maximum(values, 0.0)) * vectors).T])
        return np.asarray(np.sqrt(correction) * root)

    def _leave(self, theta: Array) -> None:
        """Score the oldest rows, and drop them."""
        rows, self.rows = np.split(self.rows, [CHUNK])
        e = rows @ np.append(-theta, 1.0)
        scores = (e[:, :, None] * rows[:, :, :-1]).reshape(CHUNK, -1)
        spread = self._spaced(scores)
        tail = _resized(self.tail, self.lags)
        sums = _moving_sums(tail, spread)
        if not len(self.products):
            self.products = np.zeros((scores.shape[1], scores.shape[1]))
        self.products += sums.T @ sums / (self.lags + 1)
        self.tail = _resized(np.concatenate([tail, spread]), self.lags)
        self.positions = self.positions[CHUNK:]

    def _spaced(self, scores: Array) -> Array:
        """Insert zeros where time passed without rows, as far as `window_factor` reaches."""
        places = self.positions[:len(scores) + 1]
        steps = np.minimum(np.diff(places), 2 * self.lags + 2)
        if (steps == 1).all():
            return scores
        spread = np.zeros((int(steps.sum()), scores.shape[1]))
        spread[np.cumsum(steps) - 1] = scores
        return spread


def _moving_sums(before: Array, scores: Array) -> Array:
    """Sum each of the scores (m, c) and the L before it; `before` (L, c) precede the first."""
    total = np.zeros((1 + len(before) + len(scores), scores.shape[1]))
    np.cumsum(np.concatenate([before, scores]), axis=0, out=total[1:])
    return np.asarray(total[len(before) + 1:] - total[:-len(before) - 1])


def _resized(tail: Array, rows: int) -> Array:
    """Return the last of some rows, with zeros before them if they are too few."""
    if len(tail) >= rows:
        return tail[len(tail) - rows:]
    return np.concatenate([np.zeros((rows - len(tail), tail.shape[1])), tail])
