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

from dynid_ros.interface.cli.common.arguments import (
    add_output,
    seed,
)
from dynid_ros.interface.cli.common.output import add_answer, answer, shown_progress


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
    from dynid_ros.interface.python.boundary import as_simulated_arm
    from dynid_ros.simulation.session import simulated_recording

    with shown_progress():
        log = simulated_recording(
            as_simulated_arm(args.arm), args.excitation, seed=args.seed, out=args.output)
    assert log.arm is not None
    answer(args, {
        'arm': log.arm.name, 'bag': str(args.output), 'samples': len(log.t),
        'seconds': log.seconds,
        'assumed': {name: value.tolist() for name, value in log.assumed.items()},
    }, f'Simulated {log.seconds:.1f} s of {log.arm.name}, {len(log.t)} samples'
        + (', with a motion for validation at the end.' if log.validation else '.'),
        wrote=[args.output])
    return 0
