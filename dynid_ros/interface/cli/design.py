"""
Design an exciting motion within all limits.

Design the Fourier motion that best excites the parameters of an arm, and after it a random one of
other frequencies for validation. Both are at rest at both ends, within the limits of position,
velocity, acceleration and torque, and clear of the arm itself and of the obstacles in arm.yaml.
Ctrl-C keeps the best so far.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.arguments import (
    add_output,
    count,
    finite,
    not_negative,
    positive,
    seed,
)
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.progress import progress
from dynid_ros.utilities.text import counted, plain, sentence

if TYPE_CHECKING:
    from dynid_ros.applications.payload.design import PayloadDesign
    from dynid_ros.arm import ArmModel
    from dynid_ros.estimation.model.identified_model import IdentifiedModel
    from dynid_ros.motion.excitation.search import Design

#: Arms swing of themselves above this, Hz.
HIGHEST_HZ = 20.0
#: Word after --for, and the mass of the heaviest load where none is given, kg.
PAYLOAD, HEAVIEST = 'payload', 2.0
#: Samples of an exported motion, some 1 GB of text for an arm of seven joints.
MOST_SAMPLES = 5_000_000


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('arm', metavar='ARM', help='a shipped arm, or the path of an arm.yaml')
    add_output(parser, 'excitation.yaml to write')
    add = parser.add_argument
    add('--period', type=positive, default=10.0, help='s (default: %(default)g)')
    add('--harmonics', type=count, default=8, help='number of harmonics (default: %(default)s)')
    add('--periods', type=count,
        help='repetitions of the motion (default: 3; 1 with --for payload)')
    add('--ramp', type=not_negative, default=0.0, metavar='S',
        help='time in which the amplitude grows and shrinks (default: %(default)g)')
    add('--criterion', choices=('condition', 'volume'), default='condition',
        help='condition number, or volume of the confidence ellipsoid (D-optimality)')
    add('--scale-columns', action='store_true', help='scale the columns to unit length first')
    add('--for', dest='chosen', nargs='+', default=[], metavar='PARAMETER',
        help='minimise the variance of these base parameters instead, such as Izz6; or, with the '
             'word payload, that of mass and centre of a load, of an arm that is known')
    add('--load', nargs='+', type=finite, metavar='KG',
        help='with --for payload: mass of the heaviest load, with which all limits hold, and its '
             'centre X Y Z in the frame of the tool, m (default: 2 kg at its origin)')
    add('--given', nargs='+', default=[], type=Path, metavar='RESULT',
        help='results of earlier recordings; improve their weakest parameters')
    add('--starts', type=count, default=3,
        help='random motions to start from (default: %(default)s)')
    add('--time', type=positive, default=20.0, metavar='S',
        help='end the search, which begins once the arm and its meshes are read, after this '
             'time; one that ends earlier depends on the seed alone (default: %(default)g)')
    add('--seed', type=seed, default=0, help='(default: %(default)s)')
    add('--export', nargs='+', default=[], type=Path, metavar='FILE',
        help='samples as well: .yaml (JointTrajectory) or .csv')
    add('--rate', type=positive, default=100.0, help='of these samples, Hz (default: %(default)g)')
    add('--plots', type=Path, metavar='FOLDER', help='drawings of joints and tool path')


def run(args: Namespace) -> Answer:
    """Design the motion and write it."""
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.surroundings import load_surroundings
    from dynid_ros.interface.python.boundary import as_models
    from dynid_ros.motion.excitation.design import design, design_both
    from dynid_ros.motion.excitation.design_objective import (
        DesignObjective,
        parameters_sought,
        Task,
    )
    from dynid_ros.motion.excitation.prior_information import objective_given
    from dynid_ros.motion.feasibility.scene import build_scene
    from dynid_ros.motion.trajectory.trajectory_file import check_formats, export_motion
    from dynid_ros.utilities.atomic_write import check_output

    load, seconds = None, _length(args)
    arm = load_arm(args.arm)
    check_formats(args.export)
    check_output(args.output, *args.export)
    scene = build_scene(arm, load_surroundings(args.arm, arm))
    earlier = as_models(args.given, 'given')
    if args.chosen == [PAYLOAD]:
        load = _load_design(args, arm, seconds, earlier)
        arm, objective = load.arm, load.objective
    else:
        objective = DesignObjective(
            args.criterion, args.scale_columns,
            parameters_sought(arm, args.chosen) if args.chosen else None)
        if earlier:
            objective = objective_given(objective, arm, earlier, seconds)
    task = Task(args.period, args.harmonics, args.periods, args.ramp, objective, args.starts,
                args.time, args.seed)
    designed = (design_both if load is None else design)(
        arm, task, scene, lambda start, gone, best: progress(
            f'start {start + 1}, best {best:.4g}', gone / args.time))
    if load is not None:
        # With the standard deviations to be expected of a load.
        mass_std, center_std = load.expected_std(designed.motion)
        mass = float(load.load[0])
        designed = replace(designed, notes=designed.notes | {
            'regards_earlier_results': load.measured, 'payload': {
                'mass': mass, 'center': (load.load[1:4] / mass).tolist(), 'mass_std': mass_std,
                'center_std': center_std.tolist(), 'noise_measured': load.measured}})
    designed.save(args.output)
    motion, notes = designed.motion, designed.notes
    for path in args.export:
        export_motion(path, designed.pair or motion, arm.joint_names, args.rate)
    if args.plots:
        from dynid_ros.pages.report.plots import draw_motion

        draw_motion(args.plots, motion, arm)
    return Answer(
        {'arm': arm.name, 'motion': args.output, **notes},
        f'A motion of {motion.duration:g} s for {arm.name}, within all limits at all times; '
        f'condition number {designed.condition_number:.1f}.', table=_margins(designed, arm),
        notes=map(sentence, _notes(designed, arm)), wrote=[args.output, *args.export], details=[
            f'{counted(motion.periods, "period")} of {motion.period:g} s, '
            f'{counted(motion.harmonics, "harmonic")}; {counted(designed.starts, "start")} in '
            f'{designed.seconds:.1f} s.', sentence(f'{notes["criterion"]}: {designed.score:.4g}')])


def _length(args: Namespace) -> float:
    """Choose the number of periods, and return the length of the motion, s, if it can be made."""
    from dynid_ros.motion.trajectory.fourier import LONGEST

    if args.periods is None:
        args.periods = 1 if args.chosen == [PAYLOAD] else 3
    if args.load and args.chosen != [PAYLOAD]:
        raise InputError('--load is for --for payload only')
    seconds: float = args.period * args.periods + 2 * args.ramp
    if seconds > LONGEST:
        raise InputError(f'the motion would last {seconds:g} s; keep --period times --periods and '
                         f'twice --ramp within {LONGEST:g} s')
    if args.export and seconds * args.rate > MOST_SAMPLES:
        raise InputError(f'--export would write {seconds * args.rate:.3g} samples; lower --rate '
                         f'to {MOST_SAMPLES / seconds:g} Hz or less')
    if args.harmonics > HIGHEST_HZ * args.period:
        raise InputError(
            f'{args.harmonics} harmonics of a period of {args.period:g} s reach '
            f'{args.harmonics / args.period:.3g} Hz, where an arm is no longer rigid; stay below '
            f'{HIGHEST_HZ:g} Hz')
    return seconds


def _load_design(
    args: Namespace, arm: ArmModel, seconds: float, earlier: list[IdentifiedModel],
) -> PayloadDesign:
    from dynid_ros.applications.payload.design import PayloadDesign

    mass, *center = args.load or [HEAVIEST]
    if not mass > 0 or len(center) not in (0, 3):
        raise InputError(
            '--load takes a mass above zero, kg, alone or with X Y Z of its centre, m')
    return PayloadDesign(arm, seconds, mass, center or (0.0, 0.0, 0.0), earlier)


def _notes(designed: Design, arm: ArmModel) -> Iterator[str]:
    notes = designed.notes
    if 'validation' in notes:
        yield (f'Another motion of {notes["validation"]["seconds"]:.3g} s for validation follows, '
               f'{notes["validation"]["way_seconds"]:.1f} s on the way to it')
    if 'payload' in notes:
        expected = notes['payload']
        center = ', '.join(f'{1000 * value:.2g}' for value in expected['center_std'])
        noise = ('the noise of the model' if expected['noise_measured'] else
                 'residuals of 0.5 % of the effort limits, five independent ones a second '
                 '(--given MODEL for those of your arm)')
        yield (f'limits hold with {expected["mass"]:g} kg; its standard deviations to be '
               f'expected: mass {expected["mass_std"]:.2g} kg, centre {center} mm, with {noise}')
    if 'torque' not in notes['margins']:
        yield 'Torque is not checked: the arm has no effort limits'
    elif arm.inertial is None or not arm.inertial[:, 0].all():
        yield 'Links without inertias: torque is checked with cylinders from joint to joint'
    if not notes['margins']['clearance']:
        yield ('Collisions are not checked: the description has no collision shapes, and arm.yaml '
               'no "collision" capsules')
    if not designed.complete:
        yield f'The search took all of its --time, {designed.seconds:.1f} s; more may find better'
    if notes['pairs_not_checked']:
        yield f'Touch nearly everywhere, not checked: {", ".join(notes["pairs_not_checked"])}'
    yield from notes['notes']
    less, gaps = notes['less_clearance'], notes['hull_gaps']
    if less:
        yield (f'close neighbours keep less than {1000 * notes["clearance"]:g} mm: ' + ', '.join(
            f'{name} {1000 * value:.1f} mm' for name, value in less.items()))
    if gaps:
        widest = max(gaps, key=gaps.get)
        yield (f'convex hulls stand for {len(gaps)} meshes and reach at most '
               f'{1000 * gaps[widest]:.0f} mm beyond them ({widest})')


def _margins(designed: Design, arm: ArmModel) -> list[list[str]]:
    """Least margin of each quantity and unit, as rad and m cannot be compared."""
    from dynid_ros.arm.description.tree import joint_units

    units = {'position': 'rad', 'velocity': 'rad/s', 'acceleration': 'rad/s²', 'torque': 'Nm'}
    rows = [['limit of', 'least margin', 'at']]
    for quantity, values in designed.notes['margins'].items():
        of_joint = dict(zip(
            arm.joint_names, joint_units(units.get(quantity, ''), arm.prismatic), strict=True))
        least: dict[str, str] = {}
        for name in sorted(values, key=values.get):
            least.setdefault(of_joint.get(name, 'm'), name)
        rows += [[quantity, plain(values[name], 3, unit), name] for unit, name in least.items()]
    return rows
