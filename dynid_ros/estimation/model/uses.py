"""For which uses a model is good enough, each with the figure that decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.parameters import torque_units
from dynid_ros.errors import InputError

if TYPE_CHECKING:
    from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: Standard deviations of the error in unseen samples above which a torque shows.
SHOWS = 3.0
#: Half of a 95 % interval, and that of a known mass relative to the mass.
INTERVAL, KNOWN = 1.96, 0.1
#: Finding that takes the scale of masses, and of nothing else, from a model.
GAINS = 'gains_refuted'


@dataclass(frozen=True)
class Use:
    """
    One use of a model.

    Attributes
    ----------
    purpose : str
        The use.
    serves : bool
        Whether the model is good enough for it.
    figure : str
        The figure that decides, with its unit, or the reason why there is none.

    """

    purpose: str
    serves: bool
    figure: str

    @property
    def sentence(self) -> str:
        """State the use in one line."""
        good = 'good' if self.serves else 'not shown to be good'
        return f'{good} for {self.purpose}: {self.figure}'


def uses(model: IdentifiedModel) -> tuple[Use, ...]:
    """
    Judge a model for feed-forward, contact, simulation, and masses as such.

    Parameters
    ----------
    model : IdentifiedModel
        The model, of whose held-out error the figures are; in-sample, it serves none.

    """
    return (_prediction(model), _contact(model), _simulation(model), _masses(model))


def _prediction(model: IdentifiedModel) -> Use:
    metrics = model.validation or model.fit
    kind = 'in-sample' if not metrics.held_out else (
        'on the fitted motion again' if model.repeats else 'on another motion')
    return Use('feed-forward and gravity compensation', _predicts(model),
               f'{_by_joint(model, 1.0)}, {metrics.relative_error_percent:.1f} % {kind}')


def _contact(model: IdentifiedModel) -> Use:
    return Use('contact', _predicts(model),
               f'a torque shows from {_by_joint(model, SHOWS)} on')


def _simulation(model: IdentifiedModel) -> Use:
    found = model.consistent
    if found is None or np.isnan(found.relative_error_percent):
        return Use('simulation and controllers', False, 'no held-out motion')
    worse = '' if model.possible else ', which blocks that were not fitted refute'
    return Use('simulation and controllers', _predicts(model) and model.possible,
               f'{found.relative_error_percent:.1f} % with physically possible parameters{worse}')


def _masses(model: IdentifiedModel) -> Use:
    purpose, drive = 'masses as such', model.arm.drive
    if drive.signal != 'effort' and (drive.gain == 1).all():
        return Use(purpose, False, f'arm.yaml states no gains for the {drive.signal}')
    if not model.possible:
        return Use(purpose, False, 'no physically possible parameters predict as well')
    if any(finding.code == GAINS for finding in model.verdict.findings):
        return Use(purpose, False, 'the data refute the stated gains')
    try:
        found = model.standard_parameters()
    except InputError:
        return Use(purpose, False, 'the result has no links')
    masses = model.arm.layout.all_inertial().reshape(model.arm.links, -1)[:, 0]
    known = found.from_data[masses] & (
        INTERVAL * found.std[masses] < KNOWN * np.abs(found.values[masses]))
    return Use(purpose, model.verdict.trustworthy and bool(known.any()),
               f'{int(known.sum())} of {model.arm.n} to within {100 * KNOWN:.0f} %')


def _predicts(model: IdentifiedModel) -> bool:
    """Whether a motion that was not fitted supports the torque of the model."""
    metrics = model.validation
    return (model.verdict.trustworthy and metrics is not None and not model.repeats
            and bool(np.isfinite(metrics.relative_error_percent)))


def _by_joint(model: IdentifiedModel, factor: float) -> str:
    """Range of the errors of the joints that moved, in their units."""
    errors = np.array([joint.rmse for joint in (model.validation or model.fit).joints])
    units, moved = np.array(torque_units(model.arm)), np.isfinite(errors)
    ranges = []
    for unit in dict.fromkeys(units[moved].tolist()):
        own = factor * errors[moved & (units == unit)]
        ranges.append(f'{own.min():.2g} to {own.max():.2g} {unit}')
    those = '' if moved.all() else f' ({moved.sum()} of {len(moved)} moved)'
    return f'{" and ".join(ranges) or "none"} by joint{those}'
