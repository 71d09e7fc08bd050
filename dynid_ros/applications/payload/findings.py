# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Verdict on an estimated load: presence, trust, and the joints that are evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.payload.body import load_body, LoadBody
from dynid_ros.applications.payload.change import Change
from dynid_ros.applications.payload.fit import LoadRegression
from dynid_ros.applications.payload.known_friction import breakaway
from dynid_ros.applications.payload.load_estimate import (
    KnownLoad,
    LoadFit,
    Part,
    residual_squares,
)
from dynid_ros.applications.payload.rest_fit import rest_rows
from dynid_ros.arm.parameters import INERTIAL, torque_units
from dynid_ros.data.signals.rests import Rests
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import plain, within

# Bounds of the verdict on a load. Measured figures come from benchmarks/payload.py, with simulated
# arms.

#: Mass below which an arm counts as free if its error bar includes zero.
FREE_KG = 0.05
#: Half the width of that error bar in standard deviations.
ERROR_BAR = 3.0
#: Torque error of a joint with the load, relative to the error of the model in its own recording
#: and to the torque itself, above which there must be another cause.
UNEXPLAINED, UNEXPLAINED_SHARE = 4.0, 0.1
#: Torque of a joint that ten free parameters of a load explain, but neither the body nor the free
#: arm, relative to the residual of the model's own recording. Loads of real arms reach 0.7, and
#: those with a counterweight 3 and more.
NO_BODY = 2.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """
    Torque error joint by joint, (n,) each, Nm (N for prismatic joints).

    Attributes
    ----------
    before, after, free : (n,) ndarray
        Root mean square without a load, with it, and with the ten parameters that fit best,
        possible or not; friction and zeros are of the recording.
    torque : (n,) ndarray
        Root mean square of the torque itself.
    usual : (n,) ndarray
        Residual of the model in its own recording; at rest, friction adds to it.

    """

    before: Array
    after: Array
    free: Array
    torque: Array
    usual: Array

    @staticmethod
    def of_rows(
        regression: LoadRegression, parts: Sequence[Part], fit: LoadFit, body: LoadBody,
    ) -> Evidence:
        """Compare the torque in motion with the torque of the free and of the loaded arm."""
        before, after, free = (_left(parts, thetas) for thetas in _arms(fit, body))
        return Evidence(
            before, after, free, _left(parts, 0 * fit.thetas), regression.model.sigma)

    @staticmethod
    def of_rests(
        regression: LoadRegression, rests: Rests, fit: LoadFit, body: LoadBody,
    ) -> Evidence:
        """Compare the torque at rest with the torque of the free and of the loaded arm."""
        W = rest_rows(regression.arm, rests)
        errors = (rests.tau - W @ thetas[0] for thetas in _arms(fit, body))
        before, after, free, torque = (
            np.sqrt((x**2).mean(axis=0)) for x in (*errors, rests.tau))
        usual = np.hypot(regression.model.sigma, breakaway(regression.model))
        return Evidence(before, after, free, torque, usual)

    @property
    def unexplained(self) -> NDArray[np.bool_]:
        """Joints, (n,), whose torque no body on the last link explains."""
        return self._missed(self.after)

    @property
    def loaded(self) -> NDArray[np.bool_]:
        """Joints, (n,), whose torque the free arm does not explain."""
        return self._missed(self.before)

    def _missed(self, left: Array) -> NDArray[np.bool_]:
        missed = np.sqrt(np.maximum(left**2 - self.free**2, 0.0))
        most = np.maximum(UNEXPLAINED * self.usual, UNEXPLAINED_SHARE * self.torque)
        return np.asarray((self.free > most) | (missed > NO_BODY * self.usual))


def _arms(fit: LoadFit, body: LoadBody) -> tuple[Array, Array, Array]:
    """Return the base parameters (K, b) without a load, with the body, and with the free load."""
    return (fit.thetas_with(np.zeros(len(INERTIAL))), fit.thetas_with(body.parameters),
            fit.thetas)


def _left(parts: Sequence[Part], thetas: Array) -> Array:
    """Return the residual torque of parameters of each recording (K, b), (n,)."""
    counts = np.maximum(np.sum([part.rows.rows for part in parts], axis=0), 1)
    return np.asarray(np.sqrt(residual_squares(parts, thetas) / counts))


def judge_payload(
    regression: LoadRegression, parts: Sequence[Part], fit: LoadFit, body: LoadBody,
    evidence: Evidence, change: Change | None,
) -> tuple[bool, tuple[Finding, ...], tuple[str, ...]]:
    """
    Judge an estimate.

    Returns
    -------
    present : bool
        Whether there is a load.
    findings : tuple of Finding
        Reasons against the estimate.
    remarks : tuple of str
        Further sentences.

    """
    mass, std = float(fit.load[0]), float(fit.std[0])
    bar = ERROR_BAR * std
    none = mass < FREE_KG and abs(mass) <= bar and not evidence.loaded.any()
    findings = [] if change is None or not change.matters else [_changed(change)]
    # One load cannot explain the torque of two.
    if not findings and (elsewhere := _elsewhere(regression, parts, evidence)):
        return False, (elsewhere,), ()
    if mass < -bar:
        findings.insert(0, Finding(
            'payload_negative',
            f'the arm carries {-mass:.2f} ± {INTERVAL * std:.2f} kg less than in the '
            'recording of the model: that was made with a load, or the two are exchanged'))
    elif evidence.unexplained.any() and not findings:
        return False, (_unexplained(regression, parts, evidence),), ()
    elif not none and mass <= bar and not findings:
        names = ', '.join(np.array(regression.arm.joint_names)[evidence.loaded])
        differs = f'the torque of {names} is not that of the free arm, but ' if names else ''
        findings.append(Finding(
            'payload_undetermined',
            f'{differs}the mass of {mass:.2f} kg is within its error bar of {bar:.2f} kg, so that '
            'nothing is certain of the load; record a longer or faster motion, in which the '
            'joints do not move in step, or identify the arm again'))
    return not none and mass > bar, tuple(findings), _open(body, none or mass < -bar)


def contradiction(known: KnownLoad, free: LoadBody) -> tuple[Finding, ...]:
    """Compare known values of a load with the body that the recordings give without them."""
    pairs = [(known.mass, free.mass, free.mass_std, 'mass', 'kg', 1.0)]
    if known.center is not None:
        pairs += [(float(stated), float(found), float(std), f'centre {axis}', 'mm', 1e3)
                  for axis, stated, found, std in zip(
                      'xyz', known.center, free.center, free.center_std, strict=True)]
    apart = [f'{what} of {plain(scale * stated)} {unit}, and the recordings '
             f'{within(scale * found, scale * INTERVAL * std, unit)}'
             for stated, found, std, what, unit, scale in pairs
             if stated is not None and abs(stated - found) > ERROR_BAR * std]
    if not apart:
        return ()
    return (Finding(
        'payload_contradicted', f'the load is stated to have a {"; a ".join(apart)}: weigh it '
        'and measure its centre again, in the frame of the result, and look for another load'),)


def _unexplained(
    regression: LoadRegression, parts: Sequence[Part], evidence: Evidence,
) -> Finding:
    """Name the joints that no body explains, and the cause: one joint, or the link."""
    arm, usual, sides = regression.model.arm, evidence.usual, ''
    names, units = np.array(arm.joint_names), torque_units(arm)
    for joint in range(arm.n):
        others = np.arange(arm.n) != joint
        fit = regression.fit([Part(QRFactors(
            each.rows.factors * others[:, None, None], each.rows.rows * others), each.loaded)
            for each in parts])
        body = load_body(fit)
        left = _left(parts, fit.thetas_with(body.parameters))
        if (left < NO_BODY * usual)[others].all():
            sides = (f'; {", ".join(names[others])} agree on {body.mass:.2f} kg, which '
                     f'{names[joint]} contradicts by {left[joint]:.3g} {units[joint]}')
    missed = ', '.join(f'{names[j]} ({evidence.after[j]:.3g} instead of {usual[j]:.3g} {units[j]})'
                       for j in np.flatnonzero(evidence.unexplained))
    beside = ', '.join(names[~evidence.unexplained])
    return Finding(
        'payload_unexplained',
        f'no single body explains the torque of {missed}{beside and " beside that of "}{beside}'
        f'{sides}; look for a counterweight, a cable, a contact, other drive settings, or a '
        'change of the arm since its model was identified')


def _elsewhere(
    regression: LoadRegression, parts: Sequence[Part], evidence: Evidence,
) -> Finding | None:
    """Name another link on which a body explains the torque."""
    arm, found = regression.arm, []
    missed = evidence.after > NO_BODY * evidence.usual
    if not missed.any() or not np.sum([part.rows.rows for part in parts]):
        return None
    for link in set(range(arm.links)) - {arm.tool_link}:
        other = regression.on_link(link)
        fit = other.fit(parts)
        body = load_body(fit)
        left = Evidence.of_rows(other, parts, fit, body).after / evidence.usual
        if (left < NO_BODY).all():
            found.append((float((left**2).sum()), link, body))
    if not found:
        return None
    _, link, body = min(found, key=lambda each: each[0])
    name, mass = arm.tree.link_names[link], f' of {body.mass:.2f} kg' if body.from_data[0] else ''
    return Finding(
        'payload_elsewhere',
        f'no body on the link of {arm.tree.link_names[arm.tool_link]} explains the torque of '
        f'{", ".join(np.array(arm.joint_names)[missed])}, and one{mass} on the link of {name} '
        'does', f'if the load is there, give --link {name} (link in Python)')


def _changed(change: Change) -> Finding:
    before, after = (
        f'{side[0]:.2f} kg at [{", ".join(f"{x:.3f}" for x in side[1:] / side[0])}] m'
        if side[0] > FREE_KG else f'{side[0]:.2f} kg'
        for side in (change.before, change.after))
    return Finding(
        'payload_changed',
        f'the load changes or slips around {change.t:.1f} s of {change.source}: {before} before, '
        f'{after} after; fix it, and cut the recording there, or call ~/reset of a live session')


def _open(body: LoadBody, none: bool) -> tuple[str, ...]:
    """Name the parameters that the recordings do not determine."""
    if none or body.from_data.all():
        return ()
    names = [name for name, known in zip(INERTIAL, body.from_data, strict=True) if not known]
    return (f'not determined by this motion: {", ".join(names)}; a solid ball of this mass stands '
            'for them',)
