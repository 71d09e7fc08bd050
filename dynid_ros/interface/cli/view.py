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

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_address
from dynid_ros.interface.cli.common.described import add_described, given, READING
from dynid_ros.interface.cli.common.output import print_answer
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
    from dynid_ros.pages.viewer.scene.inertia_ellipsoids import ellipsoids
    from dynid_ros.pages.viewer.scene.track_scene import TrackScene
    from dynid_ros.pages.viewer.server import LOOPBACK, open_server, url_of
    from dynid_ros.pages.viewer.sources.named import shown
    from dynid_ros.utilities.atomic_write import check_output, write_whole

    check_output(*filter(None, [args.html]))
    # Early, so that nobody waits for a port that is taken.
    server = open_server(LOOPBACK if args.html else args.host, 0 if args.html else args.port,
                         'dynid view')
    try:
        track, around, model = shown(args.what, args.arm, args.model, **given(args))
        scene = TrackScene(server, track, around, () if model is None else ellipsoids(model))
        title, notes = scene.track.title, [sentence(note) for note in scene.notes]
        facts = {'title': title, 'notes': notes}
        server.gui.set_panel_label(title)
        if args.html is not None:
            exported = exported_page(server, scene)
            write_whole(args.html, exported)
            return print_answer(Answer(
                {**facts, 'file': args.html},
                f'{title}: a page of {len(exported) / 1e6:.1f} MB, which needs no network.',
                notes=notes, wrote=[args.html]), args)
        page, url = FilePage(server, scene), url_of(server)
        print_answer(
            Answer({**facts, 'url': url}, f'{title}: {url} (Ctrl-C ends)', notes=notes), args)
        page.run()
    finally:
        server.stop()
    return 0
