"""
Record a simulated arm, faster than real time.

Simulate an arm in MuJoCo under computed-torque control, with friction, encoder quantisation and
torque noise, and record it into a rosbag2. Plausible links, rotor inertia and friction take the
place of those that the arm does not state; recording.yaml in the bag states all of them. A result
gives its arm with the physically possible parameters, and all of its friction.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dynid_ros.interface.cli.common.arguments import (
    add_output,
    arm_or_result,
    seed,
)
from dynid_ros.interface.cli.common.output import add_answer, answer, shown_progress

if TYPE_CHECKING:
    from dynid_ros.motion.trajectory.motion_pair import Motion


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'arm', metavar='ARM',
        help='a shipped arm, or the path of an arm.yaml, a URDF, or the folder of a result')
    parser.add_argument(
        'excitation', nargs='?', type=Path, metavar='EXCITATION',
        help='excitation.yaml; without it, a random motion within the limits')
    add_output(parser, 'folder of the bag')
    parser.add_argument(
        '--seed', type=seed, default=0, help='of noise and random motion (default: %(default)s)')
    add_answer(parser)


def run(args: Namespace) -> int:
    """Simulate and write the bag."""
    from dynid_ros.data.files.bag_writer import check_bag, write_joint_states
    from dynid_ros.errors import InputError
    from dynid_ros.motion.excitation.random_motion import random_motion
    from dynid_ros.motion.trajectory.motion_file import check_made_for, read_motion
    from dynid_ros.simulation.plausible_drive import assumptions, with_plausible_drives
    from dynid_ros.simulation.record import simulate, simulation_notes
    from dynid_ros.utilities.text import sentence, several

    model, arm = arm_or_result(args.arm)
    if model is not None:
        arm = model.possible_arm
    if arm.drive.topic is not None:
        raise InputError(
            f'{args.arm}: simulations hold the drive signal in the joint states; simulate an arm '
            'without drive.topic')
    check_bag(args.output)
    notes = []
    if arm.coupling:
        notes.append(f'The simulation has no couplings: {arm.name} loses '
                     f'{several(column.name for column in arm.coupling)}.')
    arm, assumed = with_plausible_drives(arm)
    if assumed:
        notes.append(sentence(assumptions(arm, assumed)))
    if args.excitation is None:
        motion: Motion = random_motion(arm, args.seed)
    else:
        excitation = read_motion(args.excitation)
        check_made_for(excitation, arm, args.excitation)
        motion = excitation.motion
    with shown_progress() as show:
        simulation = simulate(
            arm, motion, seed=args.seed, progress=lambda done: show('simulate', done))
    log = simulation.log
    write_joint_states(
        args.output, log.joint_names, log.t, log.q, log.qd, log.u,
        sidecar=simulation_notes(arm, assumed, simulation, args.seed))
    answer(args, {
        'arm': arm.name, 'bag': str(args.output), 'samples': len(log.t), 'seconds': log.seconds,
        'assumed': {name: value.tolist() for name, value in assumed.items()},
    }, f'Simulated {log.seconds:.1f} s of {arm.name}, {len(log.t)} samples'
        + (', the end of them a motion for validation.' if log.validation else '.'),
        notes=notes, wrote=[args.output])
    return 0
