"""
Identify arms from many recordings, and find changes.

Read any number of recordings once, on all processors or on a Dask cluster; fit a model of each arm
and one of all; name changes of load, drifting friction and gains, and bags that do not belong.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
import re
from typing import Any, TYPE_CHECKING

from dynid_ros.interface.cli.common.arguments import (
    add_arm,
    add_output,
    add_reading,
)
from dynid_ros.interface.cli.common.output import add_answer, answer, shown_progress
from dynid_ros.utilities.text import counted, plain, sentence

if TYPE_CHECKING:
    from dynid_ros.applications.fleet.run import FleetResult


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'bags', nargs='+', metavar='FOLDER',
        help='folders of bags, searched with all in them; single bags; URLs that fsspec opens; or '
             '@FILE with one of these a line')
    add_arm(parser)
    add_output(parser, 'folder for models, sidecars and fleet.html')
    parser.add_argument(
        '--by', metavar='PATTERN',
        help="whose bag it is, from its path in FOLDER: '{arm}/*' for a folder of each arm "
             '(default: serial number or name in recording.yaml, else one arm)')
    parser.add_argument(
        '--scheduler', metavar='ADDRESS',
        help='a Dask scheduler, such as tcp://10.0.0.1:8786 (default: the processors of this '
             'machine)')
    parser.add_argument(
        '--again', action='store_true',
        help='choose the settings anew and read all bags again')
    add_reading(parser)
    add_answer(parser)


def run(args: Namespace) -> int:
    """Identify the fleet, write all results, and print a summary."""
    from dynid_ros.applications.fleet.cluster import cluster
    from dynid_ros.applications.fleet.run import run_fleet
    from dynid_ros.arm import load_arm
    from dynid_ros.estimation.result_files.result_file import RESULT, write_result
    from dynid_ros.pages.report.fleet_page import fleet_page
    from dynid_ros.utilities.atomic_write import check_output, write_whole

    arm = load_arm(args.arm)
    wrote = [args.output / 'fleet.html']
    check_output(*wrote)
    with cluster(args.scheduler) as spread, shown_progress() as show:
        found = run_fleet(
            arm, args.bags, args.output, spread, by=args.by, again=args.again, topic=args.topic,
            received=args.received, progress=lambda stage, done, of: show(
                f'{stage}: {done} of {of}', done / max(of, 1)))
    write_whole(wrote[0], fleet_page(found))
    models = {'all': found.whole, **{
        'arms/' + re.sub(r'[^\w.-]', '_', name): report.model
        for name, report in found.arms.items()}}
    for place, model in models.items():
        if model is not None:
            write_result(model, args.output / place)
            wrote.append(args.output / place)
        else:
            # One of an earlier run would be taken for this one's.
            (args.output / place / RESULT).unlink(missing_ok=True)
    answer(args, fleet_as_dict(found), _line(found), table=_table(found),
           notes=map(sentence, found.findings),
           details=(f'Skipped {bag.name}: {bag.reason}.' for bag in found.skipped), wrote=wrote)
    return 0 if good(found) else 1


def good(found: FleetResult) -> bool:
    """Whether all models can be trusted and nothing has changed; skipped bags do not count."""
    models = [found.whole, *(report.model for report in found.arms.values())]
    return not found.findings and all(
        model is not None and model.verdict.trustworthy for model in models)


def _line(found: FleetResult) -> str:
    """State in a line whether the arms are as they were, and what was read."""
    used = sum(report.used for report in found.arms.values())
    state = ('All models are trustworthy and nothing has changed' if good(found) else
             'Something has changed' if found.findings else 'Not all models are trustworthy')
    return (f'{state}: {counted(len(found.bags), "bag")} of {counted(len(found.arms), "arm")}, '
            f'{used} used, {len(found.odd)} odd, {len(found.skipped)} skipped.')


def _table(found: FleetResult) -> list[list[str]]:
    """Error and verdict of each arm, and of all."""
    rows = [['arm', 'bags used', 'torque error', '', 'trustworthy']]
    for name, report in (*found.arms.items(), ('all', None)):
        model, count = (found.whole, '') if report is None else (report.model, str(report.used))
        if model is None:
            rows.append([name, count, 'too few rows'])
            continue
        error = model.validation or model.fit
        rows.append([
            name, count, plain(error.relative_error_percent, 3, '%'),
            'held-out' if error.held_out else 'in-sample',
            'yes' if model.verdict.trustworthy else 'no'])
    return rows


def fleet_as_dict(found: FleetResult) -> dict[str, Any]:
    """Summary under the keys that scripts rely on."""
    from dynid_ros.interface.cli.common.summary import metrics_as_dict

    def of_model(model: Any) -> dict[str, Any] | None:
        return None if model is None else {
            'trustworthy': model.verdict.trustworthy, 'reasons': list(model.verdict.reasons),
            'fit': metrics_as_dict(model.fit), 'validation': metrics_as_dict(model.validation)}

    return {
        'bags': len(found.bags), 'read': found.read,
        'conditioning': dict(vars(found.settings.conditioning)),
        'arms': {name: {'bags': report.bags, 'used': report.used, 'model': of_model(report.model),
                        'findings': list(report.sentences)}
                 for name, report in found.arms.items()},
        'all': of_model(found.whole),
        'drift': [{'arm': each.arm, 'name': each.name, 'from': each.slope.start,
                   'to': each.slope.end, 'standard_errors': each.slope.standard_errors}
                  for each in found.series if each.drifts and each.slope is not None],
        'odd': [{'bag': each.name, 'arm': each.arm, 'difference': each.difference,
                 'findings': [dict(vars(finding)) for finding in each.findings]}
                for each in found.odd],
        'skipped': [{'bag': bag.name, 'fault': bag.fault, 'reason': bag.reason}
                    for bag in found.skipped],
    }
