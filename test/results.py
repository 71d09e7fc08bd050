# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Made-up identifications of any arm, for tests of what is done with a result."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from oracles import random_arm

from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Defect, Recording, SampleClock
from dynid_ros.data.signals.conditioning import Rung
from dynid_ros.data.signals.trial_samples import trial_samples, TrialSamples
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.band.choice import band_of_motion, choose_conditioning
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    condition_recording,
)
from dynid_ros.estimation.blocks.qr_factors import compress_groups, QRFactors
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.model.identified_model import ConditioningSettings, IdentifiedModel
from dynid_ros.estimation.model.metrics import JointMetrics, Metrics
from dynid_ros.estimation.model.verdict import Finding, Verdict
from dynid_ros.estimation.verdict.cause import with_cause

DEFECTS = (
    Defect('stamps_jitter', 'info', 'The stamps vary by 0.4 ms.', None, 12, 0.8, 4e-4, 2e-4),
    Defect('effort_zero', 'error', 'Effort of j1 is zero.', 'j1', 900),
)


LADDER = (Rung(2.0, 5.28), Rung(3.0, 5.52), Rung(5.0, 12.4))
CLOCKS = (
    SampleClock('logs/walk.db3', 'newest', 246.0, 1.2e-3, (0.0, 0.005, 0.01, 0.015),
                (2.3e-3, 3.2e-3, 1e-4, 1.1e-3), 0.005),
    SampleClock('run.csv', 'even', 100.0, 2.1e-3, (0.0, 0.01, 0.02), (-1e-3, 2e-3, 0.0), 0.01),
)


def identification(arm: ArmModel | None = None, samples: int = 300, seed: int = 0,
                   **changes: object) -> IdentifiedModel:
    """Make an identification with random numbers; ``changes`` replaces fields."""
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, 2, prismatic=False) if arm is None else arm
    b = base_parameters(arm).count
    root = rng.normal(size=(b, b))
    fields: dict[str, object] = {
        'arm': arm,
        'theta': rng.normal(size=b),
        'covariance': root @ root.T / (10 * b),
        'std_white': rng.uniform(0.01, 0.1, b),
        'data_share': rng.uniform(0.0, 1.0, b),
        'root_torque': rng.normal(size=b),
        'widening': rng.uniform(1.0, 2.0, arm.n),
        'colour': 3.2,
        'root_information': np.triu(rng.normal(size=(b, b))) + 3 * np.eye(b),
        'sigma': rng.uniform(0.1, 1.0, arm.n),
        'condition_number': 123.4,
        'samples': samples,
        'seconds': 18.4,
        'sources': ('walk.db3',),
        'data_hash': 'ab' * 32,
        'treatment': ConditioningSettings(
            3.0, True, 'butterworth', 125.0, 10, 0.004, None, ('A note.',)),
        'fit': metrics(arm, 'first 67 % of walk.db3', False, 2.98),
        'validation': metrics(arm, 'last 33 % of walk.db3', True, 5.76),
        'held_out': 'the last 33 % of the same recording',
        'verdict': Verdict(True, (), 2.3),
        'defects': DEFECTS,
        'timing': {'read': 0.3, 'total': 0.9},
        'predictions': (
            prediction(rng, arm.n, samples, 'first 67 % of walk.db3', False),
            prediction(rng, arm.n, samples // 2, 'last 33 % of walk.db3', True),
        ),
    }
    return IdentifiedModel(**{**fields, **changes})  # type: ignore[arg-type]


def metrics(arm: ArmModel, source: str, held_out: bool, error: float) -> Metrics:
    """Figures of each joint of an arm, all different."""
    joints = tuple(
        JointMetrics(name, 0.1 + j, error + j, 0.99 - 0.01 * j)
        for j, name in enumerate(arm.joint_names))
    return Metrics(source, held_out, 217, error, joints)


def prediction(
    rng: np.random.Generator, n: int, samples: int, source: str, held_out: bool,
) -> Prediction:
    """Smooth motion with a small residual."""
    t = 0.08 * np.arange(samples)
    q = np.sin(np.outer(t, 1 + np.arange(n)))
    tau = 5 * q
    return Prediction(source, held_out, t, q, np.cos(q), tau,
                      tau + rng.normal(scale=0.1, size=tau.shape))


def cause_of(arm: ArmModel, log: Recording) -> Finding:
    """Return the first cause that the samples alone give, without an identification."""
    arm = arm.with_friction(PLAIN_TERMS)
    verdict, _ = with_cause(Verdict(True, (), 0.0), arm, samples_of(arm, log))
    assert not verdict.trustworthy
    return verdict.findings[0]


def samples_of(arm: ArmModel, log: Recording) -> TrialSamples:
    """Take the samples that the diagnosis of a recording looks at, none left out."""
    log, _ = checked_recording(log, arm)
    settings = band_of_motion(choose_conditioning(arm.memoryless, [log]), [log])
    prepared = condition_recording(arm, log, settings)
    return trial_samples(prepared, settings, [np.zeros(each.tau.shape, bool) for each in prepared])


def compress(parameters: int, blocks: Iterable[RowBlock]) -> QRFactors:
    """Compress blocks of rows of one group."""
    rows = [(np.zeros(len(block.t), dtype=np.intp), block.moving,
             np.concatenate([block.W, block.tau[:, :, None]], axis=2).swapaxes(0, 1))
            for block in blocks]
    places = rows[0][1].shape[1] * [np.arange(parameters + 1)]
    return compress_groups(rows, places, parameters + 1, 1)[0]
