# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Distance of exported arms from recorded ones in MuJoCo, and how often their samples hold it.

    python benchmarks/rollouts.py [FOLDER]

The first table has simulated arms of three makers, five of each, whose links, rotors and friction
are not those that their descriptions state: by half a mass, a tenth of a length and half an
inertia (standard deviations). Each is recorded with plausible sensors on two random motions; the
first is identified with plain friction, the second is simulated again with the exported model,
with the true arm, and with the description as stated, from measured states under the recorded
torque. Errors are the root mean square over the joints and the five, in degrees. The samples that
are within are those of the second motion and the horizon for which the recorded position lies
between the 2.5 and 97.5 % quantiles of 100 samples of the posterior, over restarts, joints and the
five.

With FOLDER, that of shared/recordings.py, a second table has the arms of accuracy.py: friction
chosen from the data, plain friction, the description as stated (arm.yaml or its URDF), the model
of the UR10 that was published with the recording and fitted to all of it, and the noise of the
recorded torque through the model. The published model is code for its torque; the trajectory that
its authors give with that torque is identified to get links that move.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from dataclasses import replace
from pathlib import Path
import sys
from typing import Any

import numpy as np
from shared.other_arms import other_links
from shared.recordings import in_two, recordings
from shared.tables import heading, row

from dynid_ros.applications.export.format_friction import simple_arm
from dynid_ros.applications.rollout.rollout import FLOOR, IDENTIFIED, Rollouts, STATED
from dynid_ros.applications.rollout.samples import Samples
from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.plausible_drive import with_plausible_drives
from dynid_ros.simulation.record import simulate
from dynid_ros.utilities.text import plain

PLAIN = ('viscous', 'coulomb', 'offset')
MAKERS = ('ur10', 'panda', 'gluon_6l3')
#: True arms of each description, and samples of each model.
ARMS, SAMPLES = 5, 100
PERIOD, PERIODS = 10.0, 2
TRUTH, PUBLISHED = 'truth', 'published'


def degrees(found: Rollouts, name: str) -> list[str]:
    """Error at each horizon."""
    return [plain(np.rad2deg(value), 2) for value in found.overall(name)]


def simulated(name: str) -> None:
    """Print the row of an arm for each horizon."""
    stated, _ = with_plausible_drives(load_arm(name))
    stated = replace(stated, friction=PLAIN,
                     conditioning=replace(stated.conditioning, delay=0.0))
    errors: dict[str, list[np.ndarray]] = {}
    inside: dict[float, list[np.ndarray]] = {}
    for arm in range(1, ARMS + 1):
        truth = other_links(stated, np.random.default_rng(arm))
        truth = replace(truth, friction_nominal={**truth.friction_nominal,
                                                 'offset': np.zeros(truth.n)})
        logs: list[Recording] = [
            simulate(truth, random_motion(stated, 2 * arm + k, period=PERIOD, periods=PERIODS,
                                          tries=20), seed=10 * arm + k).log for k in (1, 2)]
        model = identify(stated, [logs[0]], friction=PLAIN, holdout=0)
        found = Rollouts(model, logs[1], {TRUTH: truth, STATED: stated})
        for each in found.errors:
            errors.setdefault(each, []).append(found.overall(each))
        samples = Samples(model, SAMPLES, arm)
        for horizon in found.horizons:
            inside.setdefault(horizon, []).append(samples.within(logs[1], horizon))
    mean = {each: np.sqrt(np.mean(np.square(own), axis=0)) for each, own in errors.items()}
    for k, horizon in enumerate(inside):
        degree = {each: plain(np.rad2deg(own[k]), 2) for each, own in mean.items()}
        row(name, f'{horizon:g} s', *(degree[each] for each in (IDENTIFIED, TRUTH)),
            f'{mean[IDENTIFIED][k] / mean[TRUTH][k]:.2f}', degree[STATED], degree[FLOOR],
            f'{100 * np.mean(np.concatenate(inside[horizon])):.0f} %')


def published(arm: ArmModel, path: Path) -> ArmModel:
    """Return links and friction with the torque of the published model along its trajectory."""
    from rosbags.highlevel import AnyReader

    with AnyReader([path]) as bag:
        messages: list[Any] = [bag.deserialize(data, connection.msgtype)
                               for connection, _, data in bag.messages()]
    points = [point for each in messages for point in each.points]
    t = np.array([each.time_from_start.sec + 1e-9 * each.time_from_start.nanosec
                  for each in points])
    q, tau = (np.array([getattr(each, name) for each in points])
              for name in ('positions', 'effort'))
    log = Recording(t, q, tau, arm.joint_names, 'effort', 'published')
    exact = replace(arm, conditioning=replace(arm.conditioning, delay=0.0))
    found = identify(exact, [log], holdout=0)
    print(f'<!-- torque of the published model, fitted: {found.fit.relative_error_percent:.2f} % '
          'error -->')
    return simple_arm(found, rotor_inertia=True)


def real(folder: Path) -> None:
    """Print a row for each recording and horizon."""
    for name, arm, log, share in recordings(folder):
        first, rest = in_two(log, share)
        model = identify(arm, [first], holdout=0)
        others = {STATED: arm}
        if name == 'ur10':
            others[PUBLISHED] = published(arm, folder / 'ur10' / 'validation_trajectory.db3')
        found = Rollouts(model, rest, others)
        simple = Rollouts(identify(arm, [first], friction=PLAIN, holdout=0), rest, {})
        samples = Samples(model, SAMPLES)
        for k, horizon in enumerate(found.horizons):
            row(name, f'{horizon:g} s', found.counts[k], degrees(found, IDENTIFIED)[k],
                degrees(simple, IDENTIFIED)[k], degrees(found, STATED)[k],
                degrees(found, PUBLISHED)[k] if PUBLISHED in others else '-',
                degrees(found, FLOOR)[k],
                f'{100 * np.mean(samples.within(rest, horizon)):.0f} %')


def main(folder: Path | None) -> None:
    """Print two Markdown tables."""
    heading('simulated arm', 'horizon', 'identified', 'truth', 'ratio', 'as stated',
            'torque noise alone', 'samples hold')
    for name in MAKERS:
        simulated(name)
    if folder is not None:
        heading('arm, held out', 'horizon', 'restarts', 'identified', 'plain', 'as stated',
                PUBLISHED, 'torque noise alone', 'samples hold')
        real(folder)


if __name__ == '__main__':
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]) if len(sys.argv) == 2 else None)
