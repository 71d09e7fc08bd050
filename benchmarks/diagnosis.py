# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Whether `identify` names the true cause of faults planted into good recordings.

    python benchmarks/diagnosis.py [FOLDER] [--arms NAME...] [--faults NAME...]

FOLDER is that of shared/recordings.py; three recordings of its field/ count, which are trusted
without a fault. Simulated arms are shipped ones, and five of other makers, for which
example-robot-data has to be installed. Each fault is planted into each joint to
which it applies, and the recording is identified as `dynid identify` does it. Printed is, for each
fault and recording, how often the verdict names the fault, names another one, is only "not
trustworthy", and how often it trusts the model: with the error of the model on the held-out third
hardly changed (the parameters absorb the fault, and a note lists such faults), or although it
predicts worse.
A warning that names the fault counts as naming it. Faults of joints with less than a thousandth of
the torque, as recorded and as planted, are left out: the verdict neither accuses nor condemns such
joints. Recordings without a fault come from
verdicts.py.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
import warnings

from any_arm import folder_of_robots, ROBOTS
import numpy as np
from shared.recordings import CASES
from shared.tables import heading, row

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.arm.drive import joint_position, joint_torque, motor_position
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings import quality
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.filters import butterworth, differentiate
from dynid_ros.data.signals.segments import sample_rate
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import ArmWarning, DynidError
from dynid_ros.estimation.diagnosis.expected_error import WEAKEST
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate
from dynid_ros.utilities.arrays import Array

Planted = Iterator[tuple[ArmModel, Recording]]
REAL = {name: file for name, file, _ in CASES} | {
    'sawyer': 'field/sawyer/log_1khz.npz', 'dual_arm': 'field/dual_arm/motion_15.7.csv',
    'dvrk_psm': 'field/dvrk_psm/free.csv'}
SIMULATED = ('ur10', 'panda', 'gluon_6l3')
#: Arms of any_arm.py.
MAKERS = ('xarm7', 'kinova', 'talos_left_arm', 'z1', 'ur3')
#: Held-out error of a joint, by that of the recording without the fault, and in percentage
#: points above it, up to which the fault counts as absorbed.
INTACT, SLACK = 1.5, 3.0
#: Angle of a wrong zero, rad; load at the tool, kg; delays, s.
ANGLE, LOAD, LATE = float(np.radians(10.0)), 3.0, 0.06


def signals(log: Recording, u: Array) -> Recording:
    """Replace the drive signals."""
    return replace(log, u=u)


def positions(log: Recording, q: Array) -> Recording:
    """Replace the positions."""
    return replace(log, q=q, qd=None)


def column(values: Array, joint: int, change: Callable[[Array], Array]) -> Array:
    """Change one column."""
    changed = values.copy()
    changed[:, joint] = change(values[:, joint])
    return changed


def swapped(values: Array, joints: tuple[int, ...]) -> Array:
    """Exchange columns in a cycle."""
    order = np.arange(values.shape[1])
    order[list(joints)] = np.roll(order[list(joints)], 1)
    return values[:, order]


@dataclass(frozen=True, eq=False)
class Good:
    """A good recording, with its arm and the model that is fitted to it."""

    arm: ArmModel
    log: Recording
    model: IdentifiedModel


def single_efforts(good: Good, *changes: Callable[[Array], Array]) -> Planted:
    """Change one drive signal after another, in each of several ways."""
    for joint in range(good.arm.n):
        for change in changes:
            yield good.arm, signals(good.log, column(good.log.u, joint, change))


def motors(good: Good, change: Callable[[Array], Array]) -> Recording:
    """Change the positions where they are measured, at the motors."""
    drive = good.arm.drive
    return positions(good.log, joint_position(change(motor_position(good.log.q, drive)), drive))


def tilted(good: Good) -> Planted:
    """Describe another direction of gravity."""
    length = np.linalg.norm(good.arm.gravity)
    for way in ((0, 0, 1), (1, 0, 0), (0, 0.6, -0.8), (-0.34, 0, -0.94)):
        yield replace(good.arm, gravity=length * np.array(way)), good.log


def weightless(good: Good) -> Planted:
    """Describe no gravity, or take its torque out of the signal."""
    yield replace(good.arm, gravity=np.zeros(3)), good.log
    still = np.zeros_like(good.log.q)
    layout = good.model.arm.layout
    theta = np.zeros(layout.size)
    theta[base_parameters(good.model.arm).columns] = good.model.theta
    weight = regressor(good.arm.rigid, good.log.q, still, still) @ theta[layout.all_inertial()]
    through = joint_torque(np.eye(good.arm.n), good.arm.drive)
    yield good.arm, signals(good.log, good.log.u - weight @ np.linalg.inv(through))


def exchanged_efforts(good: Good) -> Planted:
    """Exchange drive signals."""
    for joints in (*combinations(range(good.arm.n), 2), (0, 1, 2), (1, 2, good.arm.n - 1)):
        yield good.arm, signals(good.log, swapped(good.log.u, joints))


def exchanged_positions(good: Good) -> Planted:
    """Exchange positions."""
    for joints in combinations(range(good.arm.n), 2):
        yield good.arm, motors(good, lambda q, own=joints: swapped(q, own))


def exchanged_joints(good: Good) -> Planted:
    """Exchange positions and drive signals alike, as arrays without names have them."""
    for joints in (*combinations(range(good.arm.n), 2), (0, 1, 2)):
        yield good.arm, signals(
            motors(good, lambda q, own=joints: swapped(q, own)), swapped(good.log.u, joints))


def units(good: Good) -> Planted:
    """Give all drive signals in other units: mNm, N cm, kgf m, and at motors before gears."""
    for factor in (1e3, 100.0, 1 / 9.81, 0.01):
        yield good.arm, signals(good.log, factor * good.log.u)


def effort_signs(good: Good) -> Planted:
    """Reverse one drive signal, or all."""
    yield from single_efforts(good, np.negative)
    yield good.arm, signals(good.log, -good.log.u)


def position_signs(good: Good) -> Planted:
    """Reverse one position."""
    for joint in range(good.arm.n):
        yield good.arm, motors(good, lambda q, own=joint: column(q, own, np.negative))


def reversed_axes(good: Good) -> Planted:
    """Reverse one position and its drive signal."""
    for joint in range(good.arm.n):
        log = signals(good.log, column(good.log.u, joint, np.negative))
        yield good.arm, motors(replace(good, log=log),
                               lambda q, own=joint: column(q, own, np.negative))


def scales(good: Good) -> Planted:
    """Scale one drive signal."""
    yield from single_efforts(good, *(partial(np.multiply, each) for each in (1000.0, 2.0, 0.5)))


def clipped(good: Good) -> Planted:
    """Cut one drive signal off at half of its largest value."""
    yield from single_efforts(
        good, lambda x: np.clip(x, -np.abs(x).max() / 2, np.abs(x).max() / 2))


def dead(good: Good) -> Planted:
    """Leave nearly nothing of one drive signal, or of the last three."""
    rng = np.random.default_rng(0)
    yield from single_efforts(good, lambda x: np.ptp(x) * np.round(x / np.ptp(x)),
                              lambda x: 1e-3 * x.std() * rng.normal(size=len(x)))
    last = good.log.u.copy()
    last[:, -3:] = 1e-3 * rng.normal(size=last[:, -3:].shape)
    yield good.arm, signals(good.log, last)


def velocities(good: Good) -> Planted:
    """Record velocities as positions."""
    measured = good.log.qd
    yield good.arm, positions(good.log, measured if measured is not None else np.gradient(
        good.log.q, good.log.t, axis=0))


def other_times(good: Good) -> Planted:
    """Stamp the motion as if it took another time."""
    for factor in (0.5, 0.8, 1.25, 2.0):
        yield good.arm, replace(good.log, t=factor * good.log.t, qd=None)


def degrees(good: Good) -> Planted:
    """Record degrees."""
    yield good.arm, positions(good.log, np.degrees(good.log.q))


def copies(good: Good) -> Planted:
    """Record velocity, position, or friction alone as effort."""
    speed = np.gradient(good.log.q, good.log.t, axis=0)
    yield good.arm, signals(good.log, 10 * speed)
    yield good.arm, signals(good.log, 10 * good.log.q)
    noise = np.random.default_rng(0).normal(size=speed.shape)
    yield good.arm, signals(good.log, 3 * speed + 5 * np.sign(speed) + 0.1 * noise)


def zeros(good: Good) -> Planted:
    """Shift one zero."""
    for joint in np.flatnonzero(~good.arm.prismatic):
        yield good.arm, positions(good.log, column(good.log.q, int(joint), lambda x: x + ANGLE))


def delays(good: Good) -> Planted:
    """Delay one drive signal."""
    yield from single_efforts(good, lambda x: np.interp(good.log.t - LATE, good.log.t, x))


def uncompensated(good: Good) -> Planted:
    """Take a torque out of one drive signal that compensates for more than its friction."""
    qd = np.gradient(good.log.q, good.log.t, axis=0)
    for joint in np.flatnonzero(qd.any(axis=0)):
        u = good.log.u.copy()
        u[:, joint] -= u[:, joint].std() / qd[:, joint].std() * qd[:, joint]
        yield good.arm, signals(good.log, u)


def lengths(good: Good) -> Planted:
    """Describe an offset between two joints as a third too long."""
    for joint in np.flatnonzero(np.linalg.norm(good.arm.translation, axis=1) > 0.1):
        translation = good.arm.translation.copy()
        translation[joint] *= 4 / 3
        yield good.arm.with_tree(translation=translation), good.log


def other_arm(good: Good) -> Planted:
    """Describe another arm."""
    for name in ('ur10', 'gluon_6l3', 'tx40'):
        other = load_arm(name)
        if other.n == good.arm.n and name != good.arm.name:
            tree = replace(other.tree, joint_names=good.arm.joint_names)
            yield replace(good.arm, tree=tree), good.log


def payload(good: Good) -> Planted:
    """Add a load at the tool from a moment on."""
    rate = sample_rate(good.log)
    q = butterworth(good.log.q, rate, good.model.treatment.cutoff_hz)
    qd = differentiate(q, rate)
    point = good.arm.tool.placement.translation + np.array([0.0, 0.0, 0.05])
    inertia = LOAD * (point @ point * np.eye(3) - np.outer(point, point))
    own = [LOAD, *(LOAD * point), *inertia[np.triu_indices(3)]]
    last = good.arm.layout.inertial(good.arm.tool.joint % good.arm.n)
    torque = regressor(good.arm, q, qd, differentiate(qd, rate))[:, :, last] @ own
    through = joint_torque(np.eye(good.arm.n), good.arm.drive)
    for share in (0.67, 0.4):
        late = good.log.t > share * good.log.t[-1]
        yield good.arm, signals(
            good.log, good.log.u + late[:, None] * (torque @ np.linalg.inv(through)))


#: Faults, the codes that name them, and how they are planted. Nobody guesses another arm, or
#: velocities in the place of positions: that nothing explains these is the right answer, as are
#: lengths that differ, or torque that follows the alleged positions.
FAULTS: dict[str, tuple[tuple[str, ...], Callable[..., Planted]]] = {
    'none': ((), lambda good: iter([(good.arm, good.log)])),
    'gravity tilted': (('gravity_direction',), tilted),
    'gravity declared zero, or taken out': (
        ('gravity_missing', 'gravity_removed'), weightless),
    'efforts exchanged': (('effort_exchanged',), exchanged_efforts),
    'positions exchanged': (('position_exchanged',), exchanged_positions),
    'joints exchanged': (('joint_exchanged',), exchanged_joints),
    'all efforts in another unit': (('effort_unit',), units),
    # Where the sign changes no prediction, friction that drives a joint warns of it.
    'sign of an effort': (('effort_sign', 'friction_drives'), effort_signs),
    'sign of a position': (('position_sign', 'friction_drives'), position_signs),
    'axis of a joint reversed': (('axis_reversed', 'position_zero'), reversed_axes),
    'scale of an effort': (
        ('effort_scale', 'gains_refuted', 'effort_beyond_limit'), scales),
    'effort cut off at half': (('effort_clipped',), clipped),
    'dead effort': (('effort_meaningless', 'effort_zero', 'effort_constant'), dead),
    'degrees for radians': (('position_degrees',), degrees),
    'velocity for position': (('unexplained', 'effort_copies_position'), velocities),
    'time axis off': (('time_axis',), other_times),
    'effort is a copy': (
        ('effort_copies_velocity', 'effort_copies_position', 'effort_of_velocity'), copies),
    'zero off by 10 degrees': (('position_zero',), zeros),
    'one effort 60 ms late': (('effort_delay',), delays),
    'one effort without compensation': (('friction_compensated',), uncompensated),
    'offset of a joint a third too long': (('link_length',), lengths),
    'description of another arm': (('unexplained', 'other_masses', 'link_length'), other_arm),
    'load of 3 kg from a moment on': (('payload_changed',), payload),
}


def recordings(
    folder: Path | None, wanted: list[str],
) -> Iterator[tuple[str, ArmModel, Recording]]:
    """Yield good recordings, each with a name."""
    for name, file in REAL.items() if folder else ():
        if not wanted or name in wanted:
            described = folder / Path(file).with_name('arm.yaml')
            arm = load_arm(described if described.exists() else name)
            # Samples that repeat are left out: with a fault, they would not repeat any more.
            yield name, arm, quality.clean(read_recording(folder / file, arm), arm)
    for name in (*SIMULATED, *MAKERS):
        label = f'{name} simulated'
        if not wanted or label in wanted:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', ArmWarning)
                arm = load_arm(name if name in SIMULATED
                               else folder_of_robots(None) / ROBOTS[name][0])
            yield label, arm, simulate(arm, random_motion(arm, 0, periods=2), rate_hz=125).log


def joint_errors(model: IdentifiedModel) -> Array:
    """Held-out errors of the joints, by their own torque, in rising order: columns may move, %."""
    assert model.validation is not None
    return np.sort([joint.relative_error_percent for joint in model.validation.joints])


def is_loud(good: Good, log: Recording) -> bool:
    """Whether a changed joint, or none, has torque as recorded or as planted."""
    changed = (log.u != good.log.u).any(axis=0) | (log.q != good.log.q).any(axis=0)
    power = [(joint_torque(u, good.arm.drive)**2).mean(axis=0) for u in (good.log.u, log.u)]
    loud = np.any([each > WEAKEST * each.sum() for each in power], axis=0)
    return bool(loud[changed].any() or not changed.any())


def outcome(arm: ArmModel, log: Recording, codes: tuple[str, ...], clean: Array) -> str:
    """Identify, and compare the verdict with the planted fault."""
    try:
        result = identify(arm, [log])
    except DynidError as error:
        return 'named' if any(word in str(error) for word in REFUSED) else 'refused'
    named = [finding.code for finding in result.verdict.findings]
    told = ' '.join((*result.verdict.reasons, *result.verdict.warnings))
    if any(code in named or code in told for code in codes) or _also(result, codes):
        return 'named'
    if result.verdict.trustworthy:
        intact = (joint_errors(result) < INTACT * clean + SLACK).all()
        noted = any(ABSORBED in note for note in result.treatment.notes)
        return 'absorbed' if intact and noted else 'trusted'
    return 'other' if named[0] in ALL_CODES else 'not trustworthy'


def _also(result: IdentifiedModel, codes: tuple[str, ...]) -> bool:
    """Whether the verdict cannot distinguish the fault from others."""
    words = {'effort_sign': 'drive signal of', 'position_sign': 'position of',
             'effort_exchanged': 'drive signals of', 'position_exchanged': 'positions of',
             'link_length': 'the offset of', 'gravity_direction': 'the stated gravity is'}
    first = next(iter(result.verdict.findings), Finding('', ''))
    return 'do not distinguish these' in first.text and any(
        words.get(code, code) in first.text for code in codes)


#: Words of the note that lists faults which the data would not show.
ABSORBED = 'cannot reveal'
#: Words of an error that refuses a recording and names the fault.
REFUSED = ('does not measure it', 'in degrees')
ALL_CODES = {code for codes, _ in FAULTS.values() for code in codes}
OUTCOMES = ('named', 'other', 'not trustworthy', 'refused', 'absorbed', 'trusted')


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('folder', nargs='?', type=Path)
    parser.add_argument('--arms', nargs='*', default=[])
    parser.add_argument('--faults', nargs='*', default=[])
    args = parser.parse_args()
    warnings.simplefilter('error')
    total: Counter[str] = Counter()
    heading('recording', 'fault', 'planted', *OUTCOMES)
    for label, arm, log in recordings(args.folder, args.arms):
        good = Good(arm, log, identify(arm, [log]))
        clean = joint_errors(good.model)
        for fault, (codes, plant) in FAULTS.items():
            if args.faults and fault not in args.faults:
                continue
            seen = Counter(outcome(other, planted, codes, clean) for other, planted in plant(good)
                           if other is not good.arm or is_loud(good, planted))
            row(label, fault, sum(seen.values()), *(seen[each] or '' for each in OUTCOMES))
            if codes:
                total += seen
    count = max(sum(total.values()) - total['absorbed'], 1)
    print('of the faults that are not absorbed: ' + ', '.join(
        f'{100 * total[each] / count:.1f} % {each}' for each in OUTCOMES if each != 'absorbed'))


if __name__ == '__main__':
    main()
