"""
Identify arms from many recordings, and find changes.

Read any number of recordings once, on all processors or on a Dask cluster; fit a model of each arm
and one of all; name changes of load, drifting friction and gains, and bags that do not belong.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
import re
from time import perf_counter
from typing import Any, TYPE_CHECKING

from dynid_ros.interface.cli.common.arguments import (
    add_arm,
    add_json,
    add_output,
    add_reading,
    answer,
    check_folder,
    progress_bar,
)

if TYPE_CHECKING:
    from dynid_ros.applications.fleet.run import FleetResult

#: Skipped bags that the summary lists; the page and ``--json`` list all.
LISTED = 10


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
    add_json(parser)


def run(args: Namespace) -> int:
    """Identify the fleet, write all results, and print a summary."""
    start = perf_counter()
    from dynid_ros.applications.fleet.cluster import cluster
    from dynid_ros.applications.fleet.run import run_fleet
    from dynid_ros.arm import load_arm
    from dynid_ros.errors import listed
    from dynid_ros.estimation.result_files.result_file import RESULT, write_result
    from dynid_ros.pages.report.fleet_page import fleet_page
    from dynid_ros.utilities.atomic_write import write_whole

    arm = load_arm(args.arm)
    check_folder(args.output)
    with cluster(args.scheduler) as spread, progress_bar('fleet', 1, '{desc} |{bar}|') as bar:
        def progress(stage: str, done: int, of: int) -> None:
            bar.set_description(f'{stage}: {done} of {of}', refresh=False)
            bar.update(done / max(of, 1) - bar.n)

        found = run_fleet(
            arm, args.bags, args.output, spread, by=args.by, again=args.again, topic=args.topic,
            received=args.received, progress=progress)
    wrote = [args.output / 'fleet.html']
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
    answer(args, fleet_as_dict(found), [
        *fleet_lines(found),
        f'wrote {listed(list(map(str, wrote)))} ({perf_counter() - start:.1f} s)'])
    return 0 if good(found) else 1


def good(found: FleetResult) -> bool:
    """Whether all models can be trusted and nothing has changed; skipped bags do not count."""
    models = [found.whole, *(report.model for report in found.arms.values())]
    return not found.findings and all(
        model is not None and model.verdict.trustworthy for model in models)


def fleet_lines(found: FleetResult) -> Iterator[str]:
    """Summary for people."""
    used = sum(report.used for report in found.arms.values())
    yield (f'{len(found.bags)} bags of {len(found.arms)} arm'
           f'{"s" if len(found.arms) != 1 else ""}, {found.read} of them read now: {used} used, '
           f'{len(found.odd)} do not belong, {len(found.skipped)} skipped')
    for name, report in (*found.arms.items(), ('all', None)):
        model, count = (found.whole, '') if report is None else (
            report.model, f'{report.used:5d} bags')
        if model is None:
            yield f'  {name:20s} {count:10s} too few rows for a model'
            continue
        error = model.fit if model.validation is None else model.validation
        kind = 'held-out' if error.held_out else 'in-sample'
        verdict = '' if model.verdict.trustworthy else (
            f'  not trustworthy: {"; ".join(model.verdict.reasons)}')
        yield (f'  {name:20s} {count:10s} {kind} torque error '
               f'{error.relative_error_percent:.2f} %{verdict}')
    for text in found.findings:
        yield f'! {text}'
    for bag in found.skipped[:LISTED]:
        yield f'skipped {bag.name}: {bag.reason}'
    if len(found.skipped) > LISTED:
        yield f'... and {len(found.skipped) - LISTED} more, listed in fleet.html'


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
