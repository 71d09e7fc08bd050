# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Models of an arm and of the complete fleet, from merged factors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import hashlib
from itertools import compress

import numpy as np

from dynid_ros.applications.fleet.bags import Bag
from dynid_ros.applications.fleet.comparison import merged
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.applications.fleet.summary import stored_factors
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.diagnosis.expected_error import LARGEST_EXPECTED_PERCENT
from dynid_ros.estimation.estimate.chosen_estimate import Estimate, free_estimate
from dynid_ros.estimation.estimate.covariance import scatter_of
from dynid_ros.estimation.estimate.weights import Solution, solve
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import JointMetrics, Metrics, TINY
from dynid_ros.estimation.model.verdict import Finding, no_errors, Verdict
from dynid_ros.estimation.verdict.judge import held_out_findings, not_excited, UNEXCITED_SHARE
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import counted

#: Fewest bags whose scatter determines the error bars.
FEWEST_BAGS = 5


def fleet_model(
    settings: FleetSettings, name: str, bags: Sequence[Bag],
) -> IdentifiedModel | None:
    """
    Fit one model to the sidecars of bags.

    Parameters
    ----------
    settings : FleetSettings
        Settings of the fleet.
    name : str
        Name of the arm.
    bags : sequence of Bag
        The bags.

    Returns
    -------
    IdentifiedModel or None
        Its covariance is clustered by bag where there are `FEWEST_BAGS`, and its held-out figures
        leave out one bag each. None with too few rows.

    """
    arm, factors, numbers = settings.arm, stored_factors(settings, bags), range(len(bags))
    data = merged(map(factors, numbers))
    if data.rows.sum() <= len(settings.columns):
        return None
    solution = solve(data, arm_prior(arm))
    own, left_out_squares = changes(map(factors, numbers), solution)
    # The scatter of few bags is too small.
    scatter = scatter_of(own if len(bags) >= FEWEST_BAGS else own[:0], solution)
    estimate = free_estimate(arm_prior(arm), solution, scatter)
    source, squares = f'{counted(len(bags), "bag")} of {name}', data.residual_squares(
        solution.theta)
    fit, held_out = _metrics(source, False, arm, data, squares), None
    if len(bags) > 1:
        held_out = _metrics(
            f'{source}, each predicted by the others', True, arm, data,
            left_out_squares.sum(axis=0))
    digest = hashlib.sha256('\n'.join(sorted(bag.identity for bag in bags)).encode())
    return IdentifiedModel(
        arm=arm, **estimate.fields,
        sigma=np.sqrt(squares / np.maximum(data.rows, 1)),
        samples=sum(bag.samples for bag in bags), seconds=sum(bag.seconds for bag in bags),
        sources=(source,), data_hash=digest.hexdigest(), treatment=settings.conditioning,
        fit=fit, validation=held_out,
        held_out='' if held_out is None else 'bags that were left out',
        verdict=_verdict(arm, data, estimate, fit, held_out, len(bags)))


def changes(parts: Iterable[QRFactors], solution: Solution) -> tuple[Array, Array]:
    """
    Return the change of a fit without each of its B bags, and the residuals of the bag then.

    Returns
    -------
    changes : (B, b) ndarray
        As of `whitened_changes`; but bag by bag, in little memory.
    left_out_squares : (B, n) ndarray
        Squared residuals of each joint, the bag predicted by the fit to all others, Nm².

    """
    found, squares, half = [], [], solution.half
    for part in parts:
        normal = part.normal(solution.sigma)
        # theta minus that without the bag, (N - A)⁻¹ s, with A and N the normal matrices of the
        # bag and of all.
        system = np.eye(len(solution.theta)) - half.T @ normal[:, :-1] @ half
        own = np.linalg.solve(system, half.T @ (normal @ np.append(-solution.theta, 1.0)))
        found.append(own)
        squares.append(part.residual_squares(solution.theta - half @ own))
    return np.array(found), np.array(squares)


def _metrics(
    source: str, held_out: bool, arm: ArmModel, data: QRFactors, squares: Array,
) -> Metrics:
    """Return metrics from the sums of squared residuals of each joint, (n,)."""
    power, rows, base = data.torque_squares(), data.rows, base_parameters(arm).names
    offsets = [f'Fo{k + 1}' for k in range(arm.n)]
    # The column of an offset is one in each row, so its product with the torque is the sum.
    total = np.array([factor[:, base.index(name)] @ factor[:, -1] if name in base else np.nan
                      for factor, name in zip(data.factors, offsets, strict=True)])
    own = np.where(rows > 0, squares, np.nan)
    count = np.maximum(rows, 1)
    joints = zip(
        arm.joint_names, np.sqrt(own / count).tolist(),
        (100 * np.sqrt(own / np.maximum(power, TINY))).tolist(),
        (1 - own / np.maximum(power - total**2 / count, TINY)).tolist(), strict=True)
    return Metrics(
        source, held_out, int(rows.max()),
        100 * float(np.sqrt(squares.sum() / max(power.sum(), TINY))),
        tuple(JointMetrics(*each) for each in joints))


def _verdict(
    arm: ArmModel, data: QRFactors, estimate: Estimate, fit: Metrics,
    held_out: Metrics | None, bags: int,
) -> Verdict:
    R = data.factors[:, :, :-1]
    variance = np.einsum('imb,bc,imc->', R, estimate.covariance, R, optimize=True)
    expected = float(100 * np.sqrt(variance / max(data.torque_squares().sum(), TINY)))
    weak = tuple(compress(base_parameters(arm).names, estimate.data_share < UNEXCITED_SHARE))
    findings = not_excited(arm, data.rows > 0, weak)
    if expected > LARGEST_EXPECTED_PERCENT:
        findings.append(Finding(
            'excitation', f'the error bars alone give {expected:.0f} % torque error on the '
            'motions of the bags', 'record more bags'))
    if bags < FEWEST_BAGS:
        findings.append(Finding(
            'few_bags', f'the scatter of {counted(bags, "bag")} gives no error bars, and error '
            'bars of white residuals, used instead, are too small',
            f'record {FEWEST_BAGS} bags or more'))
    findings += held_out_findings(fit, held_out)
    return Verdict(no_errors(findings), tuple(findings), expected, (), weak)
