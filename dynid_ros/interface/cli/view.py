"""
See a motion, a recording or a result in 3D in a browser.

Show an arm in 3D with its surroundings, over the time of a motion (ARM MOTION), of a recording
(BAG --arm ARM) or of the held-out samples of a result (DIR), with clearance, joint states against
their limits, outliers and defects. Ctrl-C ends the page. Needs viser (pip install viser).
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.arguments import add_reading, read_recording
from dynid_ros.interface.cli.common.output import add_answer, answer
from dynid_ros.utilities.text import sentence

if TYPE_CHECKING:
    from dynid_ros.arm import ArmModel
    from dynid_ros.estimation.model.identified_model import IdentifiedModel
    from dynid_ros.pages.view.inertia_ellipsoids import Ellipsoid
    from dynid_ros.pages.view.stage import Content
    from dynid_ros.pages.view.track import Track

PORT = 8080


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = ('dynid view [-h] (ARM MOTION | BAG --arm ARM | DIR) [--model DIR] '
                    '[--html FILE] ...')
    parser.add_argument('what', nargs='+', metavar='ARM MOTION | BAG | DIR',
                        help='an arm and its excitation.yaml or JointTrajectory; or a recording; '
                             'or a folder of dynid identify')
    add = parser.add_argument
    add('--arm', metavar='ARM',
        help='the arm of a recording; for a result, where its meshes and surroundings are')
    add('--model', type=Path, metavar='DIR',
        help='folder of dynid identify: predicts the torque of a motion or a recording')
    add('--html', type=Path, metavar='FILE',
        help='write one self-contained file instead, which works without a network')
    add('--host', default='127.0.0.1', help='address to listen on (default: %(default)s, which '
        'no other computer reaches; whoever reaches another one sees the page)')
    add('--port', type=int, default=PORT,
        help='port to listen on, 0 for any that is free (default: %(default)s)')
    add_reading(parser)
    add_answer(parser)


def run(args: Namespace) -> int:
    """Serve the page until Ctrl-C, or write it."""
    from dynid_ros.pages.view.exported_page import exported_page
    from dynid_ros.pages.view.player import Player
    from dynid_ros.pages.view.server import LOOPBACK, open_server
    from dynid_ros.pages.view.stage import Stage
    from dynid_ros.utilities.atomic_write import check_output, write_whole

    if args.html is not None:
        check_output(args.html)
    # Early, so that nobody waits for a port that is taken.
    server = open_server(LOOPBACK if args.html else args.host, 0 if args.html else args.port,
                         'dynid view')
    try:
        content = _content(args)
        title, notes = content.track.title, [sentence(note) for note in content.notes]
        server.gui.set_panel_label(title)
        stage = Stage(server, content)
        if args.html is not None:
            page = exported_page(server, stage)
            write_whole(args.html, page)
            answer(args, {'title': title, 'file': str(args.html), 'notes': notes},
                   f'{title}: a page of {len(page) / 1e6:.1f} MB, which needs no network.',
                   notes=notes, wrote=[args.html])
            return 0
        player = Player(server, stage)
        url = f'http://{args.host}:{server.get_port()}'
        answer(args, {'title': title, 'url': url, 'notes': notes},
               f'{title}: {url} (Ctrl-C ends)', notes=notes)
        sys.stdout.flush()
        player.run()
    finally:
        server.stop()
    return 0


def _content(args: Namespace) -> Content:
    """Read what is to be shown."""
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.surroundings import load_surroundings, Surroundings
    from dynid_ros.estimation.result_files.result_file import read_result
    from dynid_ros.pages.view.inertia_ellipsoids import ellipsoids
    from dynid_ros.pages.view.link_visuals import link_visuals
    from dynid_ros.pages.view.recorded_track import check_joints, result_track
    from dynid_ros.pages.view.stage import content_of

    what, source = args.what, args.arm
    if len(what) > 2:
        raise InputError(f'view takes an arm and a motion, or a recording, or a result, not '
                         f'{len(what)} names')
    if len(what) == 2 and source is not None:
        raise InputError('--arm is for a recording or a result; ARM MOTION names the arm')
    if len(what) == 2:
        source = what[0]
    path = Path(what[-1])
    arm = None if source is None else load_arm(source)
    model = None if args.model is None else read_result(args.model)
    if arm is not None and model is not None:
        check_joints(model, arm, args.model)
    links: tuple[Ellipsoid, ...] = ()
    if _is_result(path) and len(what) == 1:
        if model is not None:
            raise InputError('--model is for a motion or a recording; a result is a model')
        result = read_result(path)
        if arm is not None:
            check_joints(result, arm, path)
        track, links = result_track(result, arm or result.arm), ellipsoids(result)
    else:
        track = _track(args, path, arm, model)
    around = Surroundings() if source is None else load_surroundings(source, track.arm)
    return content_of(track, around, link_visuals(source, track.arm), links)


def _is_result(path: Path) -> bool:
    from dynid_ros.estimation.result_files.result_file import RESULT

    return path.name == RESULT or (path / RESULT).is_file()


def _track(
    args: Namespace, path: Path, arm: ArmModel | None, model: IdentifiedModel | None,
) -> Track:
    """Read a motion or a recording."""
    from dynid_ros.pages.view.recorded_track import recording_track
    from dynid_ros.pages.view.track import motion_track

    if arm is None:
        raise InputError(
            f'{path} is no result of dynid identify; give the arm of a recording with --arm, or '
            'an arm and its motion: dynid view ARM MOTION')
    if len(args.what) == 2:
        return motion_track(path, arm, model)
    recording = read_recording(args, path, arm)
    return recording_track(recording, arm, model)
