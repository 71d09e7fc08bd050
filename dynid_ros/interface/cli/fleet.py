# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Identify arms from many recordings, and find changes.

Read any number of recordings once, on all processors or on a Dask cluster; fit a model of each arm
and one of all; name changes of load, drifting friction and gains, and bags that do not belong.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any, TYPE_CHECKING

from dynid_ros.interface.cli.common.arguments import (
    add_described,
    add_output,
    given,
)
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.text import counted, plain, sentence

if TYPE_CHECKING:
    from dynid_ros.applications.fleet.run import FleetResult
    from dynid_ros.estimation.model.identified_model import IdentifiedModel


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'bags', nargs='+', metavar='FOLDER',
        help='folders of bags, searched with all in them; single bags; URLs that fsspec opens; or '
             '@FILE with one of these a line')
    add_described(parser, 'identify', {'arm': '--arm'})
    add_described(parser, 'applications.fleet.run.run_fleet', {
        'by': '--by PATTERN', 'again': '--again', 'topic': '--topic', 'received': '--received'})
    add_output(parser, 'folder for models, sidecars and fleet.html')
    parser.add_argument(
        '--scheduler', metavar='ADDRESS',
        help='a Dask scheduler, such as tcp://10.0.0.1:8786 (default: the processors of this '
             'machine)')


def run(args: Namespace) -> Answer:
    """Identify the fleet, and write all results; status 1 if there is something to look at."""
    from dynid_ros.applications.fleet.cluster import cluster
    from dynid_ros.applications.fleet.run import run_fleet
    from dynid_ros.arm import load_arm
    from dynid_ros.estimation.result_files.result_file import RESULT, write_result
    from dynid_ros.pages.report.fleet_page import fleet_page
    from dynid_ros.utilities.atomic_write import check_output, write_whole

    arm = load_arm(args.arm)
    wrote = [args.output / 'fleet.html']
    check_output(*wrote)
    with cluster(args.scheduler) as spread:
        found = run_fleet(
            given=args.bags, folder=args.output, spread=spread, **given(args) | {'arm': arm})
    write_whole(wrote[0], fleet_page(found))
    places = {'all': found.whole, **{
        found.folders[name]: report.model for name, report in found.arms.items()}}
    for place, model in places.items():
        if model is not None:
            write_result(model, args.output / place)
            wrote.append(args.output / place)
        else:
            # One of an earlier run would be taken for this one's.
            (args.output / place / RESULT).unlink(missing_ok=True)
    used = sum(report.used for report in found.arms.values())
    trusted = all(model is not None and model.verdict.trustworthy for model in places.values())
    state = ('Something has changed' if found.findings else
             'All models are trustworthy and nothing has changed' if trusted else
             'Not all models are trustworthy')
    line = (f'{state}: {counted(len(found.bags), "bag")} of {counted(len(found.arms), "arm")}, '
            f'{used} used, {len(found.odd)} odd, {len(found.skipped)} skipped.')
    table = [['arm', 'bags used', 'torque error', '', 'trustworthy'], *(
        _row(name, str(report.used), report.model) for name, report in found.arms.items()),
        _row('all', '', found.whole)]
    return Answer(
        _facts(found), line, int(bool(found.findings) or not trusted), table,
        map(sentence, found.findings),
        (f'Skipped {bag.name}: {bag.reason}.' for bag in found.skipped), wrote)


def _row(name: str, used: str, model: IdentifiedModel | None) -> list[str]:
    """Error and verdict of a model."""
    if model is None:
        return [name, used, 'too few rows']
    error = model.validation or model.fit
    return [name, used, plain(error.relative_error_percent, 3, '%'),
            'held-out' if error.held_out else 'in-sample',
            'yes' if model.verdict.trustworthy else 'no']


def _facts(found: FleetResult) -> dict[str, Any]:
    """Summary under the keys that scripts rely on."""
    def of_model(model: IdentifiedModel | None) -> dict[str, Any] | None:
        return None if model is None else {
            'trustworthy': model.verdict.trustworthy, 'reasons': model.verdict.reasons,
            'fit': model.fit, 'validation': model.validation}

    return {
        'bags': len(found.bags), 'read': found.read, 'conditioning': found.settings.conditioning,
        'arms': {name: {'bags': report.bags, 'used': report.used, 'model': of_model(report.model),
                        'findings': report.sentences}
                 for name, report in found.arms.items()},
        'all': of_model(found.whole),
        'drift': [{'arm': each.arm, 'name': each.name, 'from': each.line[0], 'to': each.line[1],
                   'probability': each.probability} for each in found.series if each.drifts],
        'odd': [{'bag': each.name, 'arm': each.arm, 'difference': each.difference,
                 'findings': each.findings} for each in found.odd],
        'skipped': [{'bag': bag.name, 'fault': bag.fault, 'reason': bag.reason}
                    for bag in found.skipped],
    }
