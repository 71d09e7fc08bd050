# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answer for an identified model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
import math
from typing import Any, TYPE_CHECKING

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.conditioning_words import clock_lines, ladder_line
from dynid_ros.estimation.model.friction_curve import friction_lines
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import Metrics, unrepeated_percent
from dynid_ros.estimation.model.verdict import Verdict
from dynid_ros.estimation.model.verdict_words import headline, notes, ROUTINE
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.utilities.text import plain, sentence

if TYPE_CHECKING:
    from dynid_ros.applications.rollout.rollout import Rollouts

#: Attributes of a result that scripts find under their names.
RESULT_KEYS = (
    'sources', 'samples', 'seconds', 'possible', 'condition_number', 'friction_strength',
    'repeats', 'unrepeated', 'fit', 'validation', 'error_by_bandwidth', 'defects', 'timing')
#: The same of a clock: times for a drawing are none for scripts.
CLOCK_KEYS = ('source', 'kind', 'rate_hz', 'jitter', 'step')
#: Least R² that is printed: that of a torque that hardly changes has no bound.
LEAST_R2 = -99.0
#: Suspects that ``--verbose`` lists.
SUSPECTS = 6


def result_as_dict(result: IdentifiedModel) -> dict[str, Any]:
    """Key facts of a result under the keys that scripts rely on."""
    return {
        'arm': result.arm.name,
        **{key: getattr(result, key) for key in RESULT_KEYS},
        'parameters': {'base': len(result.theta), 'total': result.arm.layout.size,
                       'from_prior': list(compress(
                           base_parameters(result.arm).names, ~result.from_data))},
        'friction': result.arm.friction,
        'conditioning': result.treatment,
        'clocks': [{key: getattr(clock, key) for key in CLOCK_KEYS} for clock in result.clocks],
        'standard_parameters': _standard_as_dict(result),
        'stated_parameters': result.stated,
        'verdict': {**vars(result.verdict), 'reasons': result.verdict.reasons,
                    'warnings': result.verdict.warnings, 'uses': result.uses},
    }


def _standard_as_dict(result: IdentifiedModel) -> dict[str, Any] | None:
    """Physically possible parameters under the keys that scripts rely on; None without any."""
    try:
        found = result.standard_parameters()
    except InputError:
        return None
    cost = result.consistent
    return {
        'values': dict(zip(found.names, found.values, strict=True)),
        'std': dict(zip(found.names, found.std, strict=True)),
        'from_data': list(compress(found.names, found.from_data)),
        'impossible': found.impossible,
        'relative_error_percent': None if cost is None else cost.relative_error_percent,
    }


def result_answer(
    result: IdentifiedModel, wrote: Sequence[object] = (), rollouts: Rollouts | None = None,
) -> Answer:
    """State the verdict on a result, its errors joint by joint, notes and details."""
    moved, lines = ([], []) if rollouts is None else ([rollout_note(rollouts)], rollouts.lines())
    return Answer(
        {**result_as_dict(result), 'rollouts': None if rollouts is None else rollouts.as_dict()},
        headline(result), int(not result.verdict.trustworthy),
        error_table(result.validation or result.fit, result.arm, result.unrepeated),
        [*notes(result), *moved], [*result_details(result), *lines], wrote)


def rollout_note(found: Rollouts) -> str:
    """State how far an exported arm is from the recorded one in MuJoCo."""
    return sentence(f'in MuJoCo it {found.headline}')


def error_table(
    metrics: Metrics, arm: ArmModel, unrepeated: Sequence[float] | None = None,
) -> list[list[str]]:
    """Errors joint by joint, with the torque that the arm itself does not repeat, Nm."""
    floors = None if unrepeated is None else unrepeated_percent(metrics, unrepeated)[1]
    rows = [['joint', 'torque error', 'of its torque', 'R²',
             *([] if floors is None else ['not repeated'])]]
    for k, (joint, unit) in enumerate(zip(metrics.joints, torque_units(arm), strict=True)):
        rows.append([joint.name, 'at rest'] if math.isnan(joint.rmse) else [
            joint.name, plain(joint.rmse, 2, unit), 'has none'
        ] if math.isnan(joint.r2) else [
            joint.name, plain(joint.rmse, 2, unit), f'{joint.relative_error_percent:.1f} %',
            f'{joint.r2:.3f}' if joint.r2 > LEAST_R2 else f'below {LEAST_R2:.0f}',
            *([] if floors is None else [plain(floors[k], 2, '%')])])
    return rows


def error_line(metrics: Metrics) -> str:
    """State the error over all joints, and of which data it is."""
    if math.isnan(metrics.relative_error_percent):
        return f'Torque error: none, the arm stands still in {metrics.source}.'
    kind = 'held-out' if metrics.held_out else 'in-sample'
    return f'Torque error, {kind}: {metrics.relative_error_percent:.2f} % ({metrics.source}).'


def result_details(result: IdentifiedModel) -> Iterator[str]:
    """State how a result was found, its uses, friction and links."""
    layout, settings = result.arm.layout, result.treatment
    yield (f'{result.arm.name}: {len(result.theta)} base parameters (of {layout.size} standard '
           f'ones) from {result.seconds:.1f} s, '
           + ('some left open by the motion' if math.isinf(result.condition_number) else
              f'condition number {result.condition_number:.0f}') + '.')
    origin = 'from the data' if settings.cutoff_from_data else 'as given'
    delay = f'{1000 * settings.delay:.1f} ms removed' if settings.delay else 'none'
    yield (f'Conditioning: {settings.filter}, cut-off {settings.cutoff_hz:.3g} Hz ({origin}), '
           f'one row in {settings.decimation} of {settings.rate_hz:.4g} samples/s, delay {delay}.')
    yield from filter(None, [ladder_line(settings)])
    yield from clock_lines(result)
    yield from (sentence(note) for note in settings.notes if note.startswith(ROUTINE))
    yield from map(error_line, filter(None, (result.fit, result.validation)))
    yield (f'The error bars alone give {plain(result.verdict.expected_error_percent, 2)} % torque '
           'error on other motions within the recorded range.')
    yield from (sentence(use.sentence) for use in result.uses)
    yield from map(sentence, friction_lines(result))
    yield from suspect_lines(result.verdict)
    yield from _link_lines(result)


def suspect_lines(verdict: Verdict) -> Iterator[str]:
    """State the likeliest suspects, a line each."""
    if not verdict.suspects:
        return
    some = any(each.reported for each in verdict.suspects)
    yield (f'Suspects{"" if some else ", none of which is reported"}, by the log likelihood that '
           'undoing them gains (evidence: on data that were not fitted):')
    for each in verdict.suspects[:SUSPECTS]:
        evidence = '' if each.evidence is None else (
            f', evidence {each.evidence:+.0f}, error {each.error_percent:.1f} %')
        size = f' ({each.size})' if each.size else ''
        yield f'  {each.gain:+.0f}{evidence}: {each.text}{size}'


def _link_lines(result: IdentifiedModel) -> Iterator[str]:
    """State the error that physically possible links cost."""
    cost = result.consistent
    if cost is None or math.isnan(cost.relative_error_percent):
        return
    found = result.standard_parameters()
    if found.from_shape and result.arm.inertial is not None:
        yield (f'No body has the inertia that arm.yaml or the URDF states for the link of '
               f'{", ".join(found.from_shape)}: a cylinder to the next joint stands for it as the '
               'prior.')
    alone = (f'impossible by the unconstrained estimate: {", ".join(found.impossible)}'
             if found.impossible else 'possible without constraints, too')
    yield (f'Links and rotors are physically possible ({alone}).' if result.possible else
           f'Physically possible links: {cost.relative_error_percent:.2f} % torque error on the '
           f'same data ({alone}).')
