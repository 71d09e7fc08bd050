"""
The band of a fit: cut-offs compared by how their models predict the lowest band.

Rows made at too high a cut-off hold the noise of twice differentiated positions, which biases the
parameters, and no residual of these rows shows it. In a band so low that positions are good there
in any case, it shows: parameters of bad rows predict it worse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.conditioning import Rung
from dynid_ros.estimation.band.trial_blocks import FEWEST_BLOCKS, TrialBlocks, TrialMotions
from dynid_ros.estimation.estimate.folds import log_error_ratio
from dynid_ros.utilities.arrays import Array

#: Cut-offs that are compared, Hz.
CUTOFFS_HZ = (2.0, 3.0, 5.0, 10.0, 20.0, 40.0, 80.0)
#: Cut-off that a fit has unless its data ask for another one, Hz: friction at reversals lies above
#: the band of a slow motion. Nine recordings of real arms have errors below 2 and 5 Hz that are at
#: most 12 % above those of their best cut-off with it, 32 % with 2 Hz, 34 % with 3 Hz, 42 % with
#: 10 Hz and 109 % with 20 Hz; a tenth one asks for 3 Hz, and has 118 % with 5 Hz
#: (benchmarks/cutoff.py).
USUAL_HZ = 5.0
#: Share of the energy of the velocities that the lowest band holds: the motion, and not a part of
#: it, is to be predicted there.
MOST = 0.5
#: Ratio of errors in the lowest band from which a cut-off is worse than another one, one standard
#: error over the blocks taken off. Good rows below 5 Hz have up to 1.14, since a model with plain
#: friction fits its own band best. Bad ones have 3.3 on a real arm (4.7 s at 1 kHz), and with
#: noise of 3 mrad 1.5 on the Panda, but 1.05 on the UR10, whose friction hides it. With values
#: from 1.05 to 2, errors of real recordings without more noise differ by 0.2 % in their mean.
WORSE = 1.2
#: Standard errors by which a higher cut-off must be better to be taken.
STANDARD_ERRORS = 2.0
#: Ratio of errors from which higher cut-offs are not tried, as they are worse still.
HOPELESS = 2.0
#: Cut-off of positions that have no bound of their own, Hz.
FREE_HZ = 1e6


class Ladder:
    """
    Cut-offs and their errors.

    Parameters
    ----------
    motions : TrialMotions
        Stretches of the recordings.
    highest_hz : float
        Highest cut-off that the rates allow.

    Attributes
    ----------
    chosen_hz : float
        The cut-off that follows.
    position_hz : tuple of float
        Cut-offs of the positions at the chosen one, where some joints are noisy, Hz.
    rungs : tuple of Rung
        By their cut-off; none if the recordings are too short to compare any.
    lowest : TrialBlocks or None
        Rows of the lowest band.

    """

    def __init__(self, motions: TrialMotions, highest_hz: float) -> None:
        self.chosen_hz = min(USUAL_HZ, highest_hz)
        self.position_hz: tuple[float, ...] = ()
        self.rungs: tuple[Rung, ...] = ()
        self.lowest: TrialBlocks | None = None
        cutoffs = [each for each in CUTOFFS_HZ if each <= highest_hz]
        if highest_hz < USUAL_HZ:
            cutoffs = sorted({*cutoffs, highest_hz})
        share = motions.share_below(np.array(cutoffs))
        follows = cutoffs[int(np.argmax(share >= min(MOST, share[-1])))]
        # A recording too short for the lowest band of its motion may show one up to the usual.
        possible = [each for each in cutoffs if follows <= each <= max(follows, USUAL_HZ)
                    and motions.count(each) >= FEWEST_BLOCKS]
        if possible:
            self._climb(motions, cutoffs[cutoffs.index(possible[0]):])

    def _climb(self, motions: TrialMotions, cutoffs: Sequence[float]) -> None:
        count = motions.count(cutoffs[0])
        self.lowest = lowest = motions.below(cutoffs[0], count)
        solution = lowest.solution
        if solution is None:
            return
        total = float(np.sum([block.torque_squares() for block in lowest.blocks]
                             / solution.sigma**2))
        usual = min((each for each in cutoffs if each >= USUAL_HZ), default=cutoffs[-1])
        left, positions = dict[float, Array](), dict[float, tuple[float, ...]]()
        clean = lowest.left(lowest.fits(solution), solution.sigma)
        for cutoff in cutoffs:
            left[cutoff], positions[cutoff] = clean.sum(axis=1), ()
            if cutoff > cutoffs[0]:
                left[cutoff], positions[cutoff] = self._rung(motions, cutoff, usual, clean)
            if left[cutoff].sum() > HOPELESS**2 * min(each.sum() for each in left.values()):
                break
        self.chosen_hz = chosen(left, usual)
        self.position_hz = positions[self.chosen_hz]
        self.rungs = tuple(
            Rung(cutoff, float(100 * np.sqrt(own.sum() / max(total, 1e-300))))
            for cutoff, own in left.items())

    def _rung(
        self, motions: TrialMotions, cutoff: float, usual: float, clean: Array,
    ) -> tuple[Array, tuple[float, ...]]:
        """
        Find the error of a cut-off by block, and which positions need a lower one.

        A joint whose encoder is much noisier than the others spoils rows that are good for these.
        Its positions then stay in the lowest band, which holds most of the motion.
        """
        lowest = self.lowest
        assert lowest is not None and lowest.solution is not None
        solution, count = lowest.solution, len(lowest.blocks)

        def left(position_hz: tuple[float, ...]) -> Array:
            rows = motions.below(cutoff, count, position_hz)
            return lowest.left(rows.fits(solution), solution.sigma)

        found = left(())
        worse = np.flatnonzero(_worse_joints(found, clean))
        if cutoff > usual or not len(worse):
            return found.sum(axis=1), ()
        low, free = lowest.rows.settings.cutoff_hz, found.shape[1] * (FREE_HZ,)
        calmed = {own_hz: left(own_hz) for own_hz in (
            (*free[:joint], low, *free[joint + 1:]) for joint in worse.tolist())}
        best = min(calmed, key=lambda own_hz: float(calmed[own_hz].sum()))
        # Noise of one joint is the cause where its removal cures them all.
        if _worse_joints(calmed[best], clean).any():
            return found.sum(axis=1), ()
        return calmed[best].sum(axis=1), best


def chosen(left: dict[float, Array], usual: float) -> float:
    """
    Choose a cut-off.

    It is the usual one, or the nearest one that is not worse than a lower one; a higher one is
    taken where it is better by more than chance, as for a fast motion.

    Parameters
    ----------
    left : dict of float to (blocks,) ndarray
        By cut-off in ascending order, the squared torque that is left of each block in the lowest
        band by a fit to the others below that cut-off.
    usual : float
        Usual cut-off, Hz.

    """
    sound = [cutoff for cutoff in left if cutoff <= usual]
    while len(sound) > 1 and any(
            _worse(left[sound[-1]], left[lower], WORSE) for lower in sound[:-1]):
        sound.pop()
    best = sound[-1]
    for higher in left:
        if best == usual and higher > usual:
            mean, error = log_error_ratio(left[higher], left[best])
            if mean + STANDARD_ERRORS * error < -np.log(WORSE):
                best = usual = higher
    return best


def _worse_joints(left: Array, clean: Array) -> NDArray[np.bool_]:
    """Find the joints whose torque is predicted worse than in the lowest band, (n,)."""
    return np.array([_worse(own, before, WORSE)
                     for own, before in zip(left.T, clean.T, strict=True)])


def _worse(left: Array, other: Array, ratio: float) -> bool:
    mean, error = log_error_ratio(left, other)
    return bool(mean - error > np.log(ratio))
