"""Output of the commands, for users and for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
import math
from typing import Any

from dynid_ros.data.recordings.recording import Defect
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.friction_curve import friction_lines
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import Metrics, unrepeated_percent

#: Relative error from which the summary names a joint, %.
POOR = 25.0
#: Of a model whose held-out motion repeats the fitted one.
NO_OTHER_MOTION = (
    'no other motion validated the model: the held-out one repeats the fitted one, which tells '
    'how well that is predicted again and nothing of others (record both motions of "dynid '
    'design", or give another recording with --validate)')


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


def result_lines(result: IdentifiedModel) -> Iterable[str]:
    """Summary of a result."""
    layout, settings = result.arm.layout, result.treatment
    yield (f'{result.arm.name}: {len(result.theta)} base parameters (of {layout.size} standard '
           f'ones) from {result.seconds:.1f} s, {condition_text(result.condition_number)}')
    origin = 'from the data' if settings.cutoff_from_data else 'as given'
    delay = f'{1000 * settings.delay:.1f} ms removed' if settings.delay else 'none'
    yield (f'conditioning: {settings.filter}, cut-off {settings.cutoff_hz:.3g} Hz ({origin}), '
           f'every {settings.decimation}. of {settings.rate_hz:.4g} samples/s, delay {delay}')
    yield from settings.notes
    yield from metric_lines(result.fit, result.validation, unrepeated=result.unrepeated)
    yield from friction_lines(result)
    yield from _link_lines(result)
    yield from stated_lines(result.stated)
    yield from verdict_lines(result)


def condition_text(number: float) -> str:
    """State a condition number, or that the motion leaves parameters open."""
    if math.isinf(number):
        return 'parameters left open by the motion'
    return f'condition number {number:.0f}'


def _link_lines(result: IdentifiedModel) -> Iterable[str]:
    """State what it costs that every link is possible."""
    cost = result.consistent
    if cost is None or math.isnan(cost.relative_error_percent):
        return
    found = result.standard_parameters()
    if found.from_shape and result.arm.inertial is not None:
        yield (f'no body has the inertia that arm.yaml or the URDF states for the link of '
               f'{", ".join(found.from_shape)}: a cylinder to the next joint stands for it as the '
               'prior')
    alone = (f'impossible by the unconstrained estimate: {", ".join(found.impossible)}'
             if found.impossible else 'possible without constraints, too')
    if result.possible:
        yield f'links and rotors are physically possible ({alone})'
    else:
        yield (f'physically possible links: {cost.relative_error_percent:.2f} % torque error on '
               f'the same data ({alone})')


def stated_lines(stated: Mapping[str, Metrics], origin: str = 'arm.yaml or the URDF',
                 ) -> Iterable[str]:
    """State how well a description predicts the same torque."""
    if stated:
        errors = '; '.join(f'{found.relative_error_percent:.3g} % {how}'
                           for how, found in stated.items())
        yield f'parameters of {origin}: torque error on the same data {errors}'


def metric_lines(
    *several: Metrics | None, unrepeated: Sequence[float] | None = None,
) -> Iterable[str]:
    """Errors overall and joint by joint, the last with the torque that is not repeated, Nm."""
    shown = [metrics for metrics in several if metrics is not None]
    last = shown[-1]
    floor, floors = (
        (math.nan, None) if unrepeated is None else unrepeated_percent(last, unrepeated))
    for metrics in shown:
        if math.isnan(metrics.relative_error_percent):
            yield f'torque error: none, the arm stands still in {metrics.source}'
            continue
        kind = 'not used for fitting' if metrics.held_out else 'used for fitting (in-sample)'
        part = (f', of which the arm itself does not repeat {floor:.2f} %,'
                if metrics is last and not math.isnan(floor) else '')
        yield (f'torque error: {metrics.relative_error_percent:.2f} %{part} on data {kind}: '
               f'{metrics.source}')
    width = max(len(joint.name) for joint in last.joints)
    yield (f'  {"joint":<{width}}  {"RMSE":>9}  {"error":>8}  {"R²":>7}'
           + ('' if floors is None else '  not repeated'))
    for k, joint in enumerate(last.joints):
        yield f'  {joint.name:<{width}}  ' + (
            f'{"at rest":>9}' if math.isnan(joint.rmse) else
            f'{joint.rmse:9.4g}  {joint.relative_error_percent:6.1f} %  {joint.r2:7.4f}'
            + ('' if floors is None or math.isnan(floors[k]) else f'  {floors[k]:10.1f} %'))


def verdict_lines(result: IdentifiedModel) -> Iterable[str]:
    """State whether the result is trustworthy, with the reasons."""
    verdict = result.verdict
    metrics = result.validation or result.fit
    poor = [f'{joint.name} ({joint.relative_error_percent:.0f} %)' for joint in metrics.joints
            if joint.relative_error_percent > POOR]
    if poor:
        yield f'poorly predicted, relative to their own torque: {", ".join(poor)}'
    idle = [joint.name for joint in metrics.joints if math.isnan(joint.relative_error_percent)]
    if metrics.held_out and 0 < len(idle) < len(metrics.joints):
        yield f'not validated, at rest in the held-out set: {", ".join(idle)}'
    if not verdict.trustworthy:
        yield 'verdict: NOT trustworthy'
        yield from (f'  - {reason}' for reason in verdict.reasons)
    elif result.validation is None:
        yield 'verdict: no objections, but not validated (no held-out data)'
    elif result.repeats:
        yield (f'verdict: no objections, but {NO_OTHER_MOTION}; the error bars alone give '
               f'{verdict.expected_error_percent:.1f} % torque error within the recorded range')
    else:
        yield (f'verdict: trustworthy; the error bars alone give '
               f'{verdict.expected_error_percent:.1f} % torque error within the recorded range')
    yield from (f'  warning: {warning}' for warning in verdict.warnings)
    yield from (f'  {use.sentence}' for use in result.uses)


def defect_lines(defects: Sequence[Defect]) -> list[str]:
    """One line for each defect."""
    return [f'{each.severity}: {each.code}{f" [{each.joint}]" if each.joint else ""}: '
            f'{each.message}' for each in defects]
