# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answer for a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynid_ros.applications.fleet.run import FleetResult
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.utilities.text import counted, plain, sentence


def fleet_answer(found: FleetResult, wrote: Sequence[Path]) -> Answer:
    """State what has changed; status 1 if there is something to look at."""
    used = sum(report.used for report in found.arms.values())
    models = [found.whole, *(report.model for report in found.arms.values())]
    trusted = all(model is not None and model.verdict.trustworthy for model in models)
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
        'odd': [{'bag': each.bag.name, 'arm': each.arm, 'difference': each.difference,
                 'findings': each.findings} for each in found.odd],
        'skipped': [{'bag': bag.name, 'reason': bag.reason}
                    for bag in found.skipped],
    }
