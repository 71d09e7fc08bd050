# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Uses for which a model is good enough, each with the figure that decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.parameters import torque_units
from dynid_ros.errors import InputError
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.utilities.text import plain, span

if TYPE_CHECKING:
    from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: Standard deviations of the held-out error above which contact torque is detectable.
VISIBLE = 3.0
#: Largest share of a known mass that half of its 95 % interval takes.
KNOWN = 0.1
#: Finding that invalidates the masses of a model, and nothing else.
GAINS = 'gains_refuted'
#: What a model without physical links lacks.
IMPOSSIBLE = 'simulation and masses need links that are possible bodies'


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
    brief : str
        The use in few words if the model serves it, else a clause on what the model lacks.

    """

    purpose: str
    serves: bool
    figure: str
    brief: str

    @property
    def sentence(self) -> str:
        """State the use in one line."""
        good = 'good' if self.serves else 'not shown to be good'
        return f'{good} for {self.purpose}: {self.figure}'


def uses(model: IdentifiedModel) -> tuple[Use, ...]:
    """
    Judge a model for feed-forward, contact, simulation, and the masses themselves.

    Parameters
    ----------
    model : IdentifiedModel
        The model; its held-out error decides, and without one it serves no use.

    """
    return (_prediction(model), _contact(model), _simulation(model), _masses(model))


def _prediction(model: IdentifiedModel) -> Use:
    metrics = model.validation or model.fit
    kind = f'on {model.held_out}' if metrics.held_out else 'in-sample'
    return Use('feed-forward and gravity compensation', _predicts(model),
               f'{_by_joint(model, 1.0)}, {metrics.relative_error_percent:.1f} % {kind}',
               'feed-forward')


def _contact(model: IdentifiedModel) -> Use:
    largest = ' or '.join(plain(high, 2, unit) for _, high, unit in _ranges(model, VISIBLE))
    return Use('contact', _predicts(model),
               f'a torque shows from {_by_joint(model, VISIBLE)} on', f'contact above {largest}')


def _simulation(model: IdentifiedModel) -> Use:
    purpose, found = 'simulation and controllers', model.consistent
    if found is None:
        return Use(purpose, False, 'no possible links were tried',
                   'simulation needs possible links of "dynid identify"')
    if np.isnan(found.relative_error_percent):
        return Use(purpose, False, 'no held-out motion', 'simulation needs a held-out motion')
    worse = '' if model.possible else ', which blocks that were not fitted refute'
    return Use(purpose, _predicts(model) and model.possible,
               f'{found.relative_error_percent:.1f} % with physically possible parameters{worse}',
               'simulation' if model.possible else IMPOSSIBLE)


def _masses(model: IdentifiedModel) -> Use:
    purpose, drive, gains = 'masses as such', model.arm.drive, 'masses need drive gains'
    if not drive.in_newton_metres:
        return Use(purpose, False, f'arm.yaml states no gains for the {drive.signal}', gains)
    if not model.possible:
        return Use(purpose, False, 'no physically possible parameters predict as well', IMPOSSIBLE)
    if any(finding.code == GAINS for finding in model.verdict.findings):
        return Use(purpose, False, 'the data refute the stated gains', gains)
    try:
        found = model.standard_parameters()
    except InputError:
        return Use(purpose, False, 'the result has no links', IMPOSSIBLE)
    masses = model.arm.layout.all_inertial().reshape(model.arm.links, -1)[:, 0]
    known = found.from_data[masses] & (
        INTERVAL * found.std[masses] < KNOWN * np.abs(found.values[masses]))
    count, within = f'{int(known.sum())} of {model.arm.links}', f'to within {100 * KNOWN:.0f} %'
    serves = model.verdict.trustworthy and bool(known.any())
    return Use(purpose, serves, f'{count} {within}',
               f'{count} masses' if serves else f'no single mass is known {within}')


def _predicts(model: IdentifiedModel) -> bool:
    """Whether motion that was not fitted validates the torque of the model."""
    metrics = model.validation
    return (model.verdict.trustworthy and metrics is not None and not model.repeats
            and bool(np.isfinite(metrics.relative_error_percent)))


def _by_joint(model: IdentifiedModel, factor: float) -> str:
    """Range of the errors of the joints that moved, in their units."""
    joints = (model.validation or model.fit).joints
    moved = sum(bool(np.isfinite(joint.rmse)) for joint in joints)
    ranges = [f'{span(plain(low, 2), plain(high, 2))} {unit}'
              for low, high, unit in _ranges(model, factor)]
    those = '' if moved == len(joints) else f' ({moved} of {len(joints)} moved)'
    return f'{" and ".join(ranges) or "none"} by joint{those}'


def _ranges(model: IdentifiedModel, factor: float) -> list[tuple[float, float, str]]:
    """Least and largest error of the joints that moved, multiplied, for each unit."""
    errors = factor * np.array([joint.rmse for joint in (model.validation or model.fit).joints])
    units, moved = np.array(torque_units(model.arm)), np.isfinite(errors)
    return [(float(own.min()), float(own.max()), unit)
            for unit in dict.fromkeys(units[moved].tolist())
            for own in [errors[moved & (units == unit)]]]
