# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Find contacts in a recording, by an identified model.

Run the momentum observer over a recording, as the monitor node does over an arm: external torque,
and each contact with the joint that felt it and the force, if it was at the tool. Status 1 if the
model fits no more.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.arguments import add_output
from dynid_ros.interface.cli.common.described import add_described, given, READING

CURVES, PICTURE = 'monitor.npz', 'monitor.svg'


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'monitor', {
        'recording': 'BAG', 'model': '--model', 'alarms_per_hour': '--alarms-per-hour RATE',
        **READING})
    add_output(parser, f'folder for {PICTURE} and {CURVES}', required=False)


def run(args: Namespace) -> Answer:
    """Monitor, draw, and list the contacts; status 1 if the model does not fit."""
    from dynid_ros.data.tables.array_table import npz_bytes
    from dynid_ros.interface.answers.monitor import monitor_answer
    from dynid_ros.interface.python.applications import monitor
    from dynid_ros.interface.python.boundary import as_model
    from dynid_ros.pages.report.figures import contact_figure, drawn
    from dynid_ros.utilities.atomic_write import check_output, write_together

    wrote = [] if args.output is None else [args.output / PICTURE, args.output / CURVES]
    check_output(*wrote)
    model = as_model(args.model)
    found = monitor(**given(args) | {'model': model})
    if wrote:
        curves = {name: getattr(found, name) for name in ('t', 'torque', 'threshold', 'contact')}
        picture = drawn(contact_figure(model.arm, found), 'svg')
        write_together(dict(zip(wrote, (picture, npz_bytes(**curves)), strict=True)))
    return monitor_answer(found, model, args.alarms_per_hour, wrote)
