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
import sys
from typing import TYPE_CHECKING

from dynid_ros.interface.cli.common.arguments import (
    add_json,
    add_output,
    answer,
    arm_or_result,
    progress_bar,
    seed,
)

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
    add_output(parser, 'folder of the bag, which must not exist yet')
    parser.add_argument(
        '--seed', type=seed, default=0, help='of noise and random motion (default: %(default)s)')
    add_json(parser)


def run(args: Namespace) -> int:
    """Simulate and write the bag."""
    from dynid_ros.data.files.bag_writer import check_absent, write_joint_states
    from dynid_ros.errors import InputError
    from dynid_ros.motion.excitation.random_motion import random_motion
    from dynid_ros.motion.trajectory.motion_file import check_made_for, read_motion
    from dynid_ros.simulation.plausible_drive import assumptions, with_plausible_drives
    from dynid_ros.simulation.record import simulate, simulation_notes

    model, arm = arm_or_result(args.arm)
    if model is not None:
        arm = model.possible_arm
    if arm.drive.topic is not None:
        raise InputError(
            f'{args.arm}: simulations hold the drive signal in the joint states; simulate an arm '
            'without drive.topic')
    check_absent(args.output)
    if arm.coupling:
        print(f"dynid: the simulation has no couplings; '{arm.name}' loses "
              f'{", ".join(column.name for column in arm.coupling)}', file=sys.stderr)
    arm, assumed = with_plausible_drives(arm)
    if assumed:
        print(f'dynid: {assumptions(arm, assumed)}', file=sys.stderr)
    if args.excitation is None:
        motion: Motion = random_motion(arm, args.seed)
    else:
        excitation = read_motion(args.excitation)
        check_made_for(excitation, arm, args.excitation)
        motion = excitation.motion
    with progress_bar('simulate', 1.0, '{desc} {percentage:3.0f}% |{bar}| {elapsed}') as bar:
        simulation = simulate(
            arm, motion, seed=args.seed, progress=lambda done: bar.update(done - bar.n))
    log = simulation.log
    write_joint_states(
        args.output, log.joint_names, log.t, log.q, log.qd, log.u,
        sidecar=simulation_notes(arm, assumed, simulation, args.seed))
    answer(args, {
        'arm': arm.name, 'bag': str(args.output), 'samples': len(log.t), 'seconds': log.seconds,
        'assumed': {name: value.tolist() for name, value in assumed.items()},
    }, [f'{arm.name}: {len(log.t)} samples, {log.seconds:.1f} s, in {args.output}'])
    return 0
