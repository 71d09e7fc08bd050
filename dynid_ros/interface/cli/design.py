# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
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
from pathlib import Path
from typing import Any, TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.arguments import add_described, add_output, given, number
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.text import counted, plain, sentence

if TYPE_CHECKING:
    from dynid_ros.motion.excitation.search import Design

#: Word after --for, and the mass of the heaviest load where none is given, kg.
PAYLOAD, HEAVIEST_LOAD_KG = 'payload', 2.0
#: Samples of an exported motion, some 1 GB of text for an arm of seven joints.
MOST_SAMPLES = 5_000_000


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'design_excitation', {
        'arm': 'ARM', 'period': '--period', 'harmonics': '--harmonics', 'periods': '--periods',
        'ramp': '--ramp S', 'criterion': '--criterion', 'scale_columns': '--scale-columns',
        'load': '--load KG', 'known': '--known WORD', 'link': '--link JOINT',
        'given': '--given RESULT', 'starts': '--starts', 'seconds': '--time S', 'seed': '--seed'})
    add_output(parser, 'excitation.yaml to write')
    add = parser.add_argument
    add('--for', dest='chosen', nargs='+', default=[], metavar='PARAMETER',
        help='minimise the variance of these base parameters instead, such as Izz6; or, with the '
             'word payload, of mass and centre of a load, for an arm that is known')
    add('--export', nargs='+', default=[], type=Path, metavar='FILE',
        help='samples as well: .yaml (JointTrajectory) or .csv')
    add('--rate', type=number('Positive'), default=100.0,
        help='of these samples, Hz (default: %(default)g)')
    add('--plots', type=Path, metavar='FOLDER', help='drawings of joints and tool path')


def run(args: Namespace) -> Answer:
    """Design the motion and write it."""
    from dynid_ros.interface.python.motions import design_excitation
    from dynid_ros.motion.trajectory.trajectory_file import check_formats, export_motion
    from dynid_ros.utilities.atomic_write import check_output

    wanted = given(args) | _task(args)
    seconds = args.period * (args.periods or 1) + 2 * args.ramp
    if args.export and seconds * args.rate > MOST_SAMPLES:
        raise InputError(f'--export would write {seconds * args.rate:.3g} samples; lower --rate '
                         f'to {MOST_SAMPLES / seconds:g} Hz or less')
    check_formats(args.export)
    check_output(args.output, *args.export)
    designed = design_excitation(**wanted)
    designed.save(args.output)
    arm, motion, notes = designed.arm, designed.motion, designed.notes
    for path in args.export:
        export_motion(path, designed.pair or motion, arm.joint_names, args.rate)
    if args.plots:
        from dynid_ros.pages.report.plots import draw_motion

        draw_motion(args.plots, motion, arm)
    return Answer(
        {'arm': arm.name, 'motion': args.output, **notes},
        f'A motion of {motion.duration:g} s for {arm.name}, within all limits at all times; '
        f'condition number {designed.condition_number:.1f}.', table=_margins(designed),
        notes=map(sentence, _notes(designed)), wrote=[args.output, *args.export], details=[
            f'{counted(motion.periods, "period")} of {motion.period:g} s, '
            f'{counted(motion.harmonics, "harmonic")}; {counted(designed.starts, "start")} in '
            f'{designed.seconds:.1f} s.', sentence(f'{notes["criterion"]}: {designed.score:.4g}')])


def _task(args: Namespace) -> dict[str, Any]:
    """Return what the motion is to determine: parameters, or the heaviest load."""
    if args.chosen == [PAYLOAD]:
        return {'load': args.load or [HEAVIEST_LOAD_KG]}
    for name in ('load', 'known', 'link'):
        if getattr(args, name):
            raise InputError(f'--{name} is for --for payload only')
    return {'parameters': args.chosen}


def _notes(designed: Design) -> Iterator[str]:
    arm, notes = designed.arm, designed.notes
    if 'validation' in notes:
        yield (f'Another motion of {notes["validation"]["seconds"]:.3g} s for validation follows, '
               f'{notes["validation"]["way_seconds"]:.1f} s on the way to it')
    if 'payload' in notes:
        expected = notes['payload']
        # What is known has no deviation.
        spread = [f'mass {expected["mass_std"]:.2g} kg'] if expected['mass_std'] else []
        if any(expected['center_std']):
            spread.append('centre ' + ', '.join(
                f'{1000 * value:.2g}' for value in expected['center_std']) + ' mm')
        noise = ('the noise of the model' if expected['noise_measured'] else
                 'residuals of 0.5 % of the effort limits, five independent ones a second '
                 '(--given MODEL takes the residuals of your arm)')
        yield (f'limits hold with {expected["mass"]:g} kg; its standard deviations to be '
               f'expected: {", ".join(spread) or "none, as nothing of it is open"}, with {noise}')
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


def _margins(designed: Design) -> list[list[str]]:
    """Least margin of each quantity and unit, as rad and m cannot be compared."""
    from dynid_ros.arm.description.tree import joint_units

    arm = designed.arm
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
