"""
How fast the live estimate of a load converges, against the batch and the truth.

    python benchmarks/payload_convergence.py [docs/figures/payload_convergence.svg] [--trials 20]

The arms come from simulated_loads.py. Each recording of the motion of 10 s for loads, with a
random load of 2 kg, goes to the live estimate in portions of 0.25 s, as the node `identifier`
has it. Printed are the time from which on the mass stays within 3 % in all recordings, its error
at the end, how many of the stated 95 % intervals of mass and centre hold there, the difference
from the batch by its standard deviation, and findings, of which none is right.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from simulated_loads import Bench, INTERVAL, loaded_recording, prepared, random_load, RATE

from dynid_ros.applications.payload.estimate import estimate_payload, Payload
from dynid_ros.applications.payload.live_payload import LivePayload
from dynid_ros.arm.parameters import inertial_to_com
from dynid_ros.data.recordings.recording import Recording

Array = np.ndarray
PORTION = round(0.25 * RATE)
MASS, ALLOWED = 2.0, 0.03
EPOCH = 10**18


def course(bench: Bench, log: Recording) -> tuple[Array, list[Payload | None]]:
    """Return the times of the portions, and what is known after each."""
    session = LivePayload(bench.model)
    stamps = EPOCH + np.rint(log.t * 1e9).astype(np.int64)
    t, known = [], []
    for start in range(0, len(stamps), PORTION):
        part = slice(start, start + PORTION)
        session.push(stamps[part], log.q[part], log.u[part])
        t.append(log.t[part][-1])
        known.append(session.load())
    return np.array(t), known


def show(bench: Bench, trials: int, axes: Any) -> None:
    """Print and draw the course of one arm."""
    errors, bars, inside, apart, found, took = [], [], [], [], 0, 0.0
    for k in range(trials):
        load = random_load(np.random.default_rng([k, 13]), MASS)
        log = loaded_recording(bench, load, 300 + k)
        begin = process_time()
        t, known = course(bench, log)
        took += process_time() - begin
        errors.append([np.nan if each is None else each.masses['motion'][0] / MASS - 1
                       for each in known])
        bars.append([np.nan if each is None else INTERVAL * each.masses['motion'][1] / MASS
                     for each in known])
        found += any(finding.code != 'payload_undetermined'
                     for each in known if each for finding in each.findings)
        last, batch = known[-1], estimate_payload(bench.model, [log])
        truth = np.array([MASS, *inertial_to_com(load)[1]])
        inside += list(np.abs(last.body.fields[:4] - truth) <= INTERVAL * last.body.fields_std[:4])
        apart.append(abs(last.masses['motion'][0] - batch.masses['motion'][0])
                     / batch.masses['motion'][1])
    error, bar = 100 * np.array(errors), 100 * np.array(bars)
    outside = ~(np.abs(error) <= 100 * ALLOWED).all(axis=0)
    since = t[np.flatnonzero(outside)[-1] + 1]
    print(f'{bench.arm.name}: within {100 * ALLOWED:g} % from {since:.2f} s on; at {t[-1]:.1f} s '
          f'largest error {np.abs(error[:, -1]).max():.2f} %; {100 * np.mean(inside):.0f} % of '
          f'{len(inside)} intervals hold; batch differs by {np.median(apart):.2f} standard '
          f'deviations (largest {np.max(apart):.2f}); {found} of {trials} with a finding; '
          f'{1e3 * took / trials / len(t):.0f} ms of a processor each 0.25 s')
    middle = np.median(bar, axis=0)
    axes.fill_between(t, -middle, middle, alpha=0.2, linewidth=0, label='95 % interval, median')
    lines = axes.plot(t, error.T, color='tab:blue', linewidth=0.7, alpha=0.6)
    lines[0].set_label('one recording')
    for side, label in ((-1, f'{100 * ALLOWED:g} %'), (1, None)):
        axes.axhline(side * 100 * ALLOWED, color='black', linestyle='--', linewidth=0.8,
                     label=label)
    axes.set(title=bench.arm.name, xlabel='time, s', ylim=(-10, 10), xlim=(0, t[-1]))
    axes.grid(alpha=0.3)


def main() -> None:
    """Print the figures of all arms, and draw them."""
    from matplotlib.figure import Figure

    parser = argparse.ArgumentParser()
    parser.add_argument('picture', nargs='?', type=Path)
    parser.add_argument('--arms', nargs='+', default=['panda', 'ur10', 'tx40'])
    parser.add_argument('--trials', type=int, default=20)
    args = parser.parse_args()
    figure = Figure(figsize=(9, 3.2), layout='constrained')
    panels = figure.subplots(1, len(args.arms), sharey=True, squeeze=False)[0]
    for name, axes in zip(args.arms, panels, strict=True):
        show(prepared(name), args.trials, axes)
    panels[0].set_ylabel('error of the mass of 2 kg, %')
    panels[-1].legend(fontsize=8)
    if args.picture is not None:
        figure.savefig(args.picture)


if __name__ == '__main__':
    main()
