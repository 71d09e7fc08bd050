"""Whether possible parameters predict as well as unconstrained ones, in groups not fitted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.estimate.folds import Folds, growth, STANDARD_ERRORS
from dynid_ros.estimation.estimate.possible_parameters import PossibleParameters

#: Ratio of root mean squares, in the geometric mean over the groups, beyond which the possible
#: parameters predict clearly worse.
CLEARLY_WORSE = 1.1


def objection(
    parts: Sequence[Products], prior: ArmPrior, found: PossibleParameters,
) -> str:
    """
    Predict each of several groups by fits to the others, unconstrained and possible ones.

    Parameters
    ----------
    parts : sequence of Products
        Rows of the groups.
    prior : ArmPrior
        Prior of the arm, not widened to any torque yet.
    found : PossibleParameters
        Possible parameters of all rows, from which the search of each fold starts.

    Returns
    -------
    str
        A warning where the possible parameters predict worse, by much and by more than chance;
        empty otherwise.

    """
    folds = Folds(parts)
    known = folds.known(prior)
    sigma = folds.sigma(known)
    possible = []
    for products, weights, torque in zip(folds.products, sigma**-2, folds.torque, strict=True):
        normal = np.einsum('jab,j->ab', products, weights)[:-1]
        wide = prior.reaching(torque)
        possible.append(wide.grouping @ found.nearest(wide, normal[:, :-1], normal[:, -1]))
    free, bound = (folds.left(theta) / sigma**2 for theta in (
        folds.fits(known, sigma), np.array(possible)))
    mean, standard_error = growth(bound.sum(axis=1), free.sum(axis=1))
    if mean <= max(np.log(CLEARLY_WORSE), STANDARD_ERRORS * standard_error):
        return ''
    return (f'no physically possible parameters predict as well: they leave '
            f'{100 * (np.exp(mean) - 1):.0f} % more torque in parts of the motion that were not '
            'fitted; check the drive gains, the kinematics, and couplings between joints')
