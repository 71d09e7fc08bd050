# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Identify the two-axis arm from encoders and voltage alone, as the article does, and better.

Run it with a folder for the plots: ``python examples/two_axis_article.py docs/figures``.
The story is told in docs/two_axis.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import sys

import numpy as np
from scipy.signal import lfilter
from two_axis_experiment import Experiment, PERIOD, run

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.filters import butterworth, differentiate, nuttall_fir
from dynid_ros.data.signals.first_order import FirstOrderFilter
from dynid_ros.dynamics.arm_prior import known_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.momentum import momentum_regressors
from dynid_ros.estimation.blocks.groups import GROUPS
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.covariance import group_scatter
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.estimation.online.recursive_least_squares import LiveEstimate, RecursiveLeastSquares
from dynid_ros.utilities.arrays import inverse_of

#: Bandwidth of the first-order filters of the article, rad/s.
LAMBDA = 30.0
#: Cut-off of the better position filter, Hz.
CUTOFF_HZ = 30.0
#: Samples of a recursive update, and of a point in the plot.
STEP, POINT = 10, 100
NAMES = tuple(f'theta{i}' for i in range(1, 10))


@dataclass(frozen=True)
class Result:
    """
    One way to identify the nine parameters.

    Attributes
    ----------
    name : str
        Which way.
    q : (N, 2) ndarray
        Filtered positions, rad.
    W, tau : (M, 2, 9) and (M, 2) ndarray
        Rows.
    theta, std : (9,) ndarray
        Estimate of the batch, and its standard deviations with regard to coloured residuals.

    """

    name: str
    q: np.ndarray
    W: np.ndarray
    tau: np.ndarray
    theta: np.ndarray
    std: np.ndarray


def nine_of_twelve(arm: ArmModel) -> np.ndarray:
    """
    Return the base parameters of the arm from the nine of the article, (12, 9).

    The arm has twelve; three are zero for a pendulum that is symmetric to its plane of motion.
    """
    base = base_parameters(arm)
    row = {name: k for k, name in enumerate(base.names)}
    reach, g = arm.translation[1, 1], -arm.gravity[2]
    G = np.zeros((base.count, 9))
    G[row['Izz1'], [0, 1]] = 1.0
    G[row['Ixx2'], 1] = -1.0
    G[row['mx2'], 4] = 1.0 / g
    # theta3 is reach times mx2 for this arm; the article leaves it free.
    G[row['Ixz2'], [2, 4]] = 1.0, -reach / g
    G[row['Izz2'], 3] = 1.0
    for k, name in enumerate(('Fv1', 'Fv2', 'Fcs1', 'Fcs2'), start=5):
        G[row[name], k] = 1.0
    return G


def regressors(arm: ArmModel, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ya and Yb of the article without its derivative of M, (N, 2, 9) each."""
    columns, G = base_parameters(arm).columns, nine_of_twelve(arm)
    momentum, force = momentum_regressors(arm, q, qd)
    return momentum[:, :, columns] @ G, force[:, :, columns] @ G


def as_printed(e: Experiment) -> Result:
    """Identify as the article: its FIR filter, three-point difference and zero-order hold."""
    q = nuttall_fir(e.q)
    qd = np.zeros_like(q)
    qd[1:-1] = (q[2:] - q[:-2]) / (2 * PERIOD)
    qd[-1] = qd[-2]
    momentum, force = regressors(e.arm, q, qd)
    tau = joint_torque(e.u, e.arm.drive)
    return solved('as printed', q, held(force, momentum), held(tau))


def better(e: Experiment) -> Result:
    """Identify with matched filters, smoother velocities and torque where it acts."""
    q = butterworth(e.q, 1 / PERIOD, CUTOFF_HZ)
    qd = differentiate(q, 1 / PERIOD)
    momentum, force = regressors(e.arm, q, qd)
    # A voltage is held until the next one: around a sample, the mean of two acts.
    u = np.concatenate([e.u[:1], (e.u[1:] + e.u[:-1]) / 2])
    tau = joint_torque(u, e.arm.drive)
    return solved('better', q, matched(force, momentum), matched(tau))


def held(x: np.ndarray, p: np.ndarray | None = None) -> np.ndarray:
    """
    Filter x by f and p by s f with a zero-order hold, as the article does.

    g(z) is a difference half a sample ahead of f(z) and larger by a factor of 1 + lambda T / 2:
    inertial parameters are too small by that factor.
    """
    pole = np.exp(-LAMBDA * PERIOD)
    sources = (1.0 - pole) * x[1:-1]
    if p is not None:
        sources = sources + LAMBDA * (p[2:] - p[1:-1])
    return lfilter([1.0], [1.0, -pole], sources, axis=0)


def matched(x: np.ndarray, p: np.ndarray | None = None) -> np.ndarray:
    """Filter x by f and p by s f so that both match, as `dynid` does."""
    flat = [None if part is None else part.reshape(len(part), -1) for part in (x, p)]
    both = FirstOrderFilter(LAMBDA, PERIOD, flat[0].shape[1]).apply(*flat)
    return both.reshape(-1, *x.shape[1:])


def solved(name: str, q: np.ndarray, W: np.ndarray, tau: np.ndarray) -> Result:
    """Batch least squares, all rows alike as in the article."""
    rows = W.reshape(-1, 9)
    theta = np.linalg.lstsq(rows, tau.ravel(), rcond=None)[0]
    R = np.linalg.qr(rows, mode='r')
    fit = Solution(theta, np.ones(2), inverse_of(R), R, R @ theta, np.zeros((0, 10)), np.ones(0),
                   float(np.linalg.cond(R)))
    parts = [QRFactors(part.transpose(1, 0, 2), np.full(2, len(part)))
             for part in np.array_split(np.concatenate([W, tau[:, :, None]], axis=2), GROUPS)]
    covariance = group_scatter(parts, fit).covariance(fit)
    return Result(name, q, W, tau, theta, np.sqrt(np.diag(covariance)))


@dataclass(frozen=True)
class Evolution:
    """
    Estimates while the arm moves.

    Attributes
    ----------
    t : (K,) ndarray
        s.
    theta, std : (K, 9) ndarray
        Estimates and standard deviations.
    last : Estimate
        What is known at the end.

    """

    t: np.ndarray
    theta: np.ndarray
    std: np.ndarray
    last: LiveEstimate


class Unweighted(RecursiveLeastSquares):
    """Recursive least squares in which both joints count alike, as in the article."""

    sigma = np.ones(2)


def step_by_step(result: Result) -> Evolution:
    """Estimate recursively from the same rows."""
    # Zeros that any row outweighs.
    nothing = known_prior(1e-9 * np.eye(9, 10), np.ones(2))
    estimator = Unweighted(2, 9, np.ones(9), nothing)
    times, estimates = [], []
    for k in range(0, len(result.W), STEP):
        W, tau = result.W[k:k + STEP], result.tau[k:k + STEP]
        rows = np.ones_like(tau, dtype=bool)
        estimator.predict(W, tau, rows)
        estimator.learn(W, tau, rows)
        if k % POINT == 0:
            times.append((k + STEP) * PERIOD)
            estimates.append(estimator.estimate())
    return Evolution(
        np.array(times), np.array([x.theta for x in estimates]),
        np.array([x.std for x in estimates]), estimator.estimate())


def table(e: Experiment, results: list[Result]) -> str:
    """Estimates and their errors as a Markdown table."""
    head = ' | '.join(f'{r.name} | error | std' for r in results)
    lines = [f'| | true | {head} |', '|---' * (2 + 3 * len(results)) + '|']
    for i, name in enumerate(NAMES):
        cells = ' | '.join(
            f'{r.theta[i]:.6f} | {100 * (r.theta[i] / e.theta[i] - 1):+.2f} % | {r.std[i]:.1e}'
            for r in results)
        lines.append(f'| {name} | {e.theta[i]:.6f} | {cells} |')
    return '\n'.join(lines)


def draw_evolution(e: Experiment, evolutions: dict[str, Evolution], path: Path) -> None:
    """Draw the nine estimates over time with their 95 % bands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout='constrained')
    panels = figure.subplots(3, 3).ravel()
    colours = ('tab:red', 'tab:blue')
    for (name, evolution), colour in zip(evolutions.items(), colours, strict=True):
        for i, axes in enumerate(panels):
            value, band = evolution.theta[:, i], 1.96 * evolution.std[:, i]
            axes.plot(evolution.t, value, color=colour, label=name)
            axes.fill_between(evolution.t, value - band, value + band, color=colour,
                              alpha=0.15, linewidth=0)
    for i, axes in enumerate(panels):
        true = e.theta[i]
        axes.axhline(true, color='black', linewidth=0.8, linestyle='--', label='true')
        axes.set(title=rf'$\theta_{i + 1}$', xlim=(0, 10), ylim=(0.8 * true, 1.2 * true))
        axes.grid(alpha=0.3)
    panels[0].legend()
    for axes in panels[6:]:
        axes.set_xlabel('time, s')
    figure.savefig(path)


def draw_position(e: Experiment, q: np.ndarray, path: Path) -> None:
    """Draw filtered against raw positions where the joint turns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.5), layout='constrained')
    axes = figure.subplots()
    middle = 1000 + int(np.argmax(e.exact[1000:4000, 0]))
    k = slice(middle - 40, middle + 40)
    axes.step(e.t[k], e.q[k, 0], where='mid', color='tab:blue', label='encoder')
    axes.plot(e.t[k], q[k, 0], color='tab:red', linestyle='--', label='FIR filtered')
    axes.plot(e.t[k], e.exact[k, 0], color='black', linewidth=0.8, label='true')
    axes.set(xlabel='time, s', ylabel='position of joint 1, rad')
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def main(folder: Path | None) -> None:
    """Run the experiment, print the table, draw the plots."""
    e = run()
    results = [as_printed(e), better(e)]
    print(table(e, results))
    evolutions = {result.name: step_by_step(result) for result in results}
    for result in results:
        last = evolutions[result.name].last
        apart = np.abs(last.theta / result.theta - 1).max()
        print(f'{result.name}: the last recursive estimate is within {apart:.0e} of the batch; '
              f'condition number {last.condition_number:.0f}')
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        draw_evolution(e, evolutions, folder / 'two_axis_evolution.svg')
        draw_position(e, results[0].q, folder / 'two_axis_position.svg')


if __name__ == '__main__':
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
