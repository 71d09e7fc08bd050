# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction curves of an identified arm over the speed, and a summary line for each joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dynid_ros.arm.description.tree import of_sliding
from dynid_ros.arm.friction import friction_terms, JointHistory, PLAIN_TERMS
from dynid_ros.arm.parameters import torque_units
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import plain

#: Points of a curve, spaced logarithmically, and the ratio of the lowest to the highest speed.
CURVE_POINTS, SPEED_RATIO = 200, 1e-3
#: Speed, relative to the highest, that separates break-away from the straight line.
BREAK_AWAY_SPEED = 0.1
#: Highest speed if neither samples nor limits give one, rad/s or m/s.
SPEED = 1.0
#: Share by which friction at low speed must exceed the line to be mentioned.
MENTIONED = 0.1


@dataclass(frozen=True, eq=False)
class FrictionCurve:
    """
    Friction of one joint that slides upwards without load, without its offset.

    Attributes
    ----------
    speed, torque, std : (S,) ndarray
        Speed, rad/s or m/s, torque and its standard deviation, Nm or N.
    load : float
        Additional friction as a share of the load; zero if its interval contains zero.
    from_data : bool
        Whether the data determine any of it; else it is the prior.

    """

    speed: Array
    torque: Array
    std: Array
    load: float
    from_data: bool

    @property
    def line(self) -> tuple[float, float]:
        """Level, Nm, and slope, Nm s/rad, of a straight line through all but the low speeds."""
        fast = self.speed >= BREAK_AWAY_SPEED * self.speed[-1]
        # The weights undo the logarithmic spacing of the speeds.
        slope, level = np.polyfit(self.speed[fast], self.torque[fast], 1, w=self.speed[fast]**0.5)
        return float(level), float(slope)

    @property
    def break_away(self) -> float:
        """Largest torque at low speeds, Nm."""
        return float(self.torque[self.speed <= BREAK_AWAY_SPEED * self.speed[-1]].max())


def friction_curves(result: IdentifiedModel) -> list[FrictionCurve]:
    """
    Evaluate the friction of each joint up to its highest speed, at the warmth of the motion.

    Parameters
    ----------
    result : IdentifiedModel
        The identified model.

    """
    arm, names = result.arm, {name: k for k, name in enumerate(base_parameters(result.arm).names)}
    top, warmth = _speeds(result)
    qd = np.geomspace(SPEED_RATIO, 1.0, CURVE_POINTS)[:, None] * top
    history = JointHistory(np.broadcast_to(warmth, qd.shape), np.ones_like(qd))
    rows = np.zeros((arm.n, CURVE_POINTS, len(names)))
    load, from_data = np.zeros(arm.n), np.zeros(arm.n, dtype=np.bool_)
    for term in friction_terms(arm.friction):
        column = term.at(qd, np.zeros_like(qd), history, arm.friction_shape)
        for joint in range(arm.n):
            place = names.get(f'{term.symbol}{joint + 1}')
            if place is not None and term.needs_load:
                hidden = abs(result.theta[place]) < INTERVAL * result.std[place]
                load[joint] = 0.0 if hidden else result.theta[place]
            elif place is not None and term.name != 'offset':
                rows[joint, :, place] = column[:, joint]
                from_data[joint] |= result.from_data[place]
    std = np.sqrt(np.einsum('jsb,bc,jsc->js', rows, result.covariance, rows, optimize=True))
    return [
        FrictionCurve(
            qd[:, j], rows[j] @ result.theta, std[j], float(load[j]), bool(from_data[j]))
        for j in range(arm.n)]


def _speeds(result: IdentifiedModel) -> tuple[Array, Array]:
    """Highest and root mean square speed of each joint in the fitted motion."""
    limit = np.where(np.isfinite(result.arm.limits.velocity), result.arm.limits.velocity, SPEED)
    seen = result.recorded_range()
    if seen is None:
        return limit, np.zeros_like(limit)
    fitted = [part for part in result.predictions if not part.held_out] or result.predictions
    qd = np.concatenate([part.qd for part in fitted])
    return np.where(seen[2] > 0, seen[2], limit), np.sqrt((qd**2).mean(axis=0))


def friction_lines(result: IdentifiedModel) -> Iterator[str]:
    """Describe the friction of each joint in a line; none for an arm without any."""
    arm = result.arm
    if not set(arm.friction) - {'offset'}:
        return
    rich = set(arm.friction) - set(PLAIN_TERMS)
    for name, unit, sliding, curve in zip(
            arm.joint_names, torque_units(arm), arm.prismatic, friction_curves(result),
            strict=True):
        if not np.isfinite(curve.torque).all():
            continue
        level, slope = curve.line
        per_speed = of_sliding('Nm s/rad') if sliding else 'Nm s/rad'
        away = f'{plain(curve.break_away, 2, unit)} to break away, '
        sign = '-' if slope < 0 else '+'
        mentioned = rich and curve.break_away - level > MENTIONED * abs(level)
        loaded = f', {100 * curve.load:.2g} % of the load' if curve.load else ''
        source = '' if curve.from_data else ' (the prior: the motion shows none)'
        yield (f'friction of {name}: {away if mentioned else ""}{plain(level, 2, unit)} {sign} '
               f'{plain(abs(slope), 2, per_speed)}{loaded}{source}')
