"""Output of the commands, for users and for scripts."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
import math
from typing import Any

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.friction_curve import friction_lines
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import Metrics, unrepeated_percent
from dynid_ros.estimation.model.words import headline, notes, ROUTINE
from dynid_ros.interface.cli.common.output import answer
from dynid_ros.utilities.text import plain, sentence, several


def metrics_as_dict(metrics: Metrics | None) -> dict[str, Any] | None:
    """Figures under the keys that scripts rely on."""
    if metrics is None:
        return None
    return {
        'source': metrics.source,
        'samples': metrics.samples,
        'relative_error_percent': metrics.relative_error_percent,
        'joints': [dict(vars(joint)) for joint in metrics.joints],
    }


def result_as_dict(result: IdentifiedModel) -> dict[str, Any]:
    """Key facts of a result under the keys that scripts rely on."""
    return {
        'arm': result.arm.name,
        'sources': list(result.sources),
        'samples': result.samples,
        'seconds': result.seconds,
        'parameters': {'base': len(result.theta), 'total': result.arm.layout.size,
                       'from_prior': list(compress(
                           base_parameters(result.arm).names, ~result.from_data))},
        'possible': result.possible,
        'condition_number': result.condition_number,
        'friction': list(result.arm.friction),
        'friction_strength': result.friction_strength,
        'conditioning': dict(vars(result.treatment)),
        'repeats': result.repeats,
        'unrepeated': result.unrepeated,
        'fit': metrics_as_dict(result.fit),
        'validation': metrics_as_dict(result.validation),
        'standard_parameters': _standard_as_dict(result),
        'stated_parameters': stated_as_dict(result.stated),
        'error_by_bandwidth': [dict(vars(each)) for each in result.error_by_bandwidth],
        'verdict': {**vars(result.verdict), 'reasons': list(result.verdict.reasons),
                    'warnings': list(result.verdict.warnings),
                    'uses': [dict(vars(use)) for use in result.uses],
                    'findings': [dict(vars(each)) for each in result.verdict.findings]},
        'defects': [defect.as_dict() for defect in result.defects],
        'timing': result.timing,
    }


def stated_as_dict(stated: Mapping[str, Metrics]) -> dict[str, Any]:
    """Figures of stated parameters, by how much of them is fitted."""
    return {how: metrics_as_dict(found) for how, found in stated.items()}


def _standard_as_dict(result: IdentifiedModel) -> dict[str, Any] | None:
    """Physically possible parameters under the keys that scripts rely on; None without any."""
    try:
        found = result.standard_parameters()
    except InputError:
        return None
    cost = result.consistent
    return {
        'values': dict(zip(found.names, found.values.tolist(), strict=True)),
        'std': dict(zip(found.names, found.std.tolist(), strict=True)),
        'from_data': [name for name, data in zip(found.names, found.from_data, strict=True)
                      if data],
        'impossible': list(found.impossible),
        'relative_error_percent': None if cost is None else cost.relative_error_percent,
    }


def show_result(args: Namespace, result: IdentifiedModel, wrote: Sequence[object]) -> None:
    """Print the verdict on a result, its errors joint by joint, and notes."""
    answer(args, result_as_dict(result), wrote=wrote, **result_answer(result))


def result_answer(result: IdentifiedModel) -> dict[str, Any]:
    """Verdict, errors joint by joint, notes and details, as `answer_lines` takes them."""
    return {
        'line': headline(result), 'notes': notes(result), 'details': result_details(result),
        'table': error_table(result.validation or result.fit, result.arm, result.unrepeated)}


def error_table(
    metrics: Metrics, arm: ArmModel, unrepeated: Sequence[float] | None = None,
) -> list[list[str]]:
    """Errors joint by joint, with the torque that the arm itself does not repeat, Nm."""
    floors = None if unrepeated is None else unrepeated_percent(metrics, unrepeated)[1]
    rows = [['joint', 'torque error', 'of its torque', 'R²',
             *([] if floors is None else ['not repeated'])]]
    for k, (joint, unit) in enumerate(zip(metrics.joints, torque_units(arm), strict=True)):
        rows.append([joint.name, 'at rest'] if math.isnan(joint.rmse) else [
            joint.name, plain(joint.rmse, 2, unit), f'{joint.relative_error_percent:.1f} %',
            f'{joint.r2:.3f}', *([] if floors is None else [plain(floors[k], 2, '%')])])
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
    yield from (sentence(note) for note in settings.notes if note.startswith(ROUTINE))
    yield from map(error_line, filter(None, (result.fit, result.validation)))
    yield (f'The error bars alone give {plain(result.verdict.expected_error_percent, 2)} % torque '
           'error on other motions within the recorded range.')
    yield from (sentence(use.sentence) for use in result.uses)
    yield from map(sentence, friction_lines(result))
    yield from _link_lines(result)


def _link_lines(result: IdentifiedModel) -> Iterator[str]:
    """State what it costs that every link is possible."""
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


def defect_notes(defects: Sequence[Defect]) -> list[str]:
    """
    List defects, the severe ones first: a sentence each, its code for scripts and searches.

    Joints of which the same holds share one.
    """
    order = ('error', 'warning', 'info')
    alike: dict[tuple[str, str], list[Defect]] = {}
    for each in sorted(defects, key=lambda each: order.index(each.severity)):
        text = each.message.replace(each.joint, 'each') if each.joint else each.message
        alike.setdefault((f'{each.severity.capitalize()} {each.code}', text), []).append(each)
    return [f'{kind}{f" [{several(str(each.joint) for each in own)}]" if own[0].joint else ""}: '
            f'{(sentence(text) if own[1:] else own[0].message).rstrip(".")}.'
            for (kind, text), own in alike.items()]
