"""Rival explanations that change drive signals: order, sign, scale, delay, no torque, load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.trial_samples import LATE
from dynid_ros.estimation.diagnosis.hypothesis import exchange, Hypothesis, names, Step
from dynid_ros.estimation.diagnosis.joint_search import nearest, Search
from dynid_ros.estimation.diagnosis.trial_rows import trial_rows

#: Factors nearer to one than this are no wrong unit or gain: drives are known to that much.
SCALE_BAND = 1.25
#: Price of a factor beyond 10: it detaches the joint from the others, as leaving it out does.
DETACHED = 1.0
#: Factors of a signal that are tried first.
COARSE = (0.5, 2.0)
#: Decades of wrong factors of a signal that are tried, and where halving their step ends. Beyond a
#: decade a minimum begins that only detaches the joint: usual gains have a start of their own.
DECADES, SETTLED = np.union1d(np.arange(-4.0, 5.0), np.log10(COARSE)), 0.01
#: Moments, as shares of the samples, from which on the last link may carry something else, and
#: where halving their distance ends.
MOMENTS, MOMENT_SETTLED = np.arange(2, 11) / 12, 0.015


def exchanged_signals(base: Hypothesis) -> Iterator[Hypothesis]:
    """Exchange the drive signals of each pair of joints."""
    for pair in combinations(base.joints.tolist(), 2):
        yield base.with_signals(exchange(base.arm.n, pair), Step(
            'effort_exchanged', pair,
            f'the drive signals of {names(base.arm, pair)} seem to be exchanged',
            'check the order of the effort columns, or the names in the messages'))


def reversed_signals(base: Hypothesis) -> Iterator[Hypothesis]:
    """Reverse the sign of the drive signal of each joint, and of all of them."""
    for joints in (*((joint,) for joint in base.joints.tolist()), tuple(base.joints.tolist())):
        change = np.eye(base.arm.n)
        change[joints, joints] = -1
        yield base.with_signals(change, Step(
            'effort_sign', joints,
            f'the drive signal of {names(base.arm, joints)} seems to have the wrong sign',
            'reverse it in the gains of arm.yaml, or in the driver'))


def _scaled(base: Hypothesis, joint: int, decades: float) -> Hypothesis:
    change = np.eye(base.arm.n)
    change[joint, joint] = 10.0**decades
    return base.with_signals(change, Step(
        'effort_scale', (joint,),
        f'the drive signal of {names(base.arm, [joint])} seems to be '
        f'{10.0**-decades:.3g} times the torque that the other joints ask for',
        'check its unit and its gain in arm.yaml',
        DETACHED if abs(decades) > 1 else 0.0))


GAINS = Search(
    _scaled, lambda base: base.joints.tolist(), tuple(np.log10(COARSE).tolist()),
    tuple(DECADES.tolist()), 1.0, SETTLED, float(np.log10(SCALE_BAND)))


def late_signals(base: Hypothesis) -> Iterator[Hypothesis]:
    """Assume that the drive signal of each joint is late by some time."""
    for k in range(len(LATE)):
        yield from late_by(base, k)


def late_by(base: Hypothesis, k: int) -> Iterator[Hypothesis]:
    """Assume that the drive signal of each joint is late by one of `LATE`."""
    late, later, drive = float(LATE[k]), base.samples.later[:, :, k], base.arm.drive
    through = joint_torque(np.eye(base.arm.n), drive)
    change = np.linalg.solve(through.T, (later - base.samples.tau).T).T
    shifted = trial_rows(base.arm, replace(base.samples, tau=later)).products
    way = 'late' if late > 0 else 'early'
    for joint in base.joints.tolist():
        tau = base.samples.tau + change[:, joint, None] * through[joint]
        step = Step(
            'effort_delay', (joint,),
            f'the drive signal of {names(base.arm, [joint])} seems to be some '
            f'{1000 * abs(late):.0f} ms {way}, unlike the other joints',
            'take positions and signals of all joints from one message')
        if drive.is_direct:
            products = base.rows.products.copy()
            products[:, joint] = shifted[:, joint]
            yield base.changed(step, samples=replace(base.samples, tau=tau),
                               rows=replace(base.rows, products=products))
        else:
            yield base.refitted(step, samples=replace(base.samples, tau=tau))


def meaningless_signals(base: Hypothesis) -> Iterator[Hypothesis]:
    """Leave out the drive signal of one joint at a time."""
    for joint in base.joints.tolist():
        if joint not in base.excluded:
            yield base.changed(
                meaningless(base.arm, [joint]), excluded=(*base.excluded, joint))


def meaningless(arm: ArmModel, joints: Sequence[int]) -> Step:
    """Assume that the drive signals of joints do not follow their motion."""
    return Step(
        'effort_meaningless', tuple(joints),
        f'the drive signal of {names(arm, joints)} does not follow its motion',
        'it is dead, too coarse, or of another quantity: record a topic that holds its torque')


def loads_from_a_moment_on(base: Hypothesis) -> Iterator[Hypothesis]:
    """Let the last link carry something else from the moment on that fits best."""
    tried = [(share, _loaded(base, share)) for share in MOMENTS.tolist()]
    first = min(tried, key=lambda each: each[1].cost)
    apart = float(MOMENTS[1] - MOMENTS[0])
    yield nearest(partial(_loaded, base), *first, apart, MOMENT_SETTLED)[1]


def _loaded(base: Hypothesis, share: float) -> Hypothesis:
    t = base.samples.t
    moment = int(share * len(t))
    return base.refitted(Step(
        'payload_changed', (),
        f'the tool seems to carry something else from {t[moment]:.0f} s on',
        'identify the recording before and after it separately, or record again with one load'),
        loaded=np.arange(len(t)) >= moment)
