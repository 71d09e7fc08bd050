# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
See a motion, a recording or a result in 3D in a browser.

Show an arm in 3D with its surroundings, over the time of a motion (ARM MOTION), of a recording
(BAG --arm ARM) or of the held-out samples of a result (DIR), with clearance, joint states against
their limits, outliers and defects. Ctrl-C ends the page. Needs viser (pip install viser).
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.arguments import add_address, add_described, given, READING
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.text import sentence


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
    add_address(parser, 'whoever reaches another one sees the page')
    add_described(parser, 'read_recording', READING)


def run(args: Namespace) -> int:
    """Serve the page until Ctrl-C, or write it."""
    from dynid_ros.pages.viewer.exported_page import exported_page
    from dynid_ros.pages.viewer.file_page import FilePage
    from dynid_ros.pages.viewer.scene.track_scene import TrackScene
    from dynid_ros.pages.viewer.server import LOOPBACK, open_server, url_of
    from dynid_ros.utilities.atomic_write import check_output, write_whole

    check_output(*filter(None, [args.html]))
    # Early, so that nobody waits for a port that is taken.
    server = open_server(LOOPBACK if args.html else args.host, 0 if args.html else args.port,
                         'dynid view')
    try:
        scene = TrackScene(server, *_content(args))
        title, notes = scene.track.title, [sentence(note) for note in scene.notes]
        facts = {'title': title, 'notes': notes}
        server.gui.set_panel_label(title)
        if args.html is not None:
            exported = exported_page(server, scene)
            write_whole(args.html, exported)
            return Answer(
                {**facts, 'file': args.html},
                f'{title}: a page of {len(exported) / 1e6:.1f} MB, which needs no network.',
                notes=notes, wrote=[args.html]).give(args)
        page, url = FilePage(server, scene), url_of(server)
        Answer({**facts, 'url': url}, f'{title}: {url} (Ctrl-C ends)', notes=notes).give(args)
        page.run()
    finally:
        server.stop()
    return 0


def _content(args: Namespace) -> tuple[Any, ...]:
    """Read the track, the surroundings and the ellipsoids to show."""
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.surroundings import load_surroundings, Surroundings
    from dynid_ros.interface.python.boundary import as_model, is_result
    from dynid_ros.interface.python.identification import read_recording
    from dynid_ros.pages.viewer.scene.inertia_ellipsoids import ellipsoids
    from dynid_ros.pages.viewer.sources.file import (
        check_joints,
        motion_track,
        recording_track,
        result_track,
    )

    *first, last = args.what
    if len(first) > 1:
        raise InputError(f'view takes an arm and a motion, or a recording, or a result, not '
                         f'{len(args.what)} names')
    if first and args.arm is not None:
        raise InputError('--arm is for a recording or a result; ARM MOTION names the arm')
    source, path = first[0] if first else args.arm, Path(last)
    arm = None if source is None else load_arm(source)
    shown = not first and is_result(path)
    if shown and args.model is not None:
        raise InputError('--model is for a motion or a recording; a result is a model')
    folder = path if shown else args.model
    model = None if folder is None else as_model(folder)
    if arm is not None and model is not None:
        check_joints(model, arm, folder)
    if shown and model is not None:
        track = result_track(model, arm or model.arm)
    elif arm is None:
        raise InputError(
            f'{path} is no result of dynid identify; give the arm of a recording with --arm, or '
            'an arm and its motion: dynid view ARM MOTION')
    elif first:
        track = motion_track(path, arm, model)
    else:
        track = recording_track(read_recording(path, arm, **given(args, READING)), arm, model)
    around = Surroundings() if source is None else load_surroundings(source, track.arm)
    return track, around, ellipsoids(model) if shown and model is not None else ()
