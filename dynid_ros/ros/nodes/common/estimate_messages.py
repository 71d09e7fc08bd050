"""Messages of an estimate; every value has its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dynid_ros.applications.payload.body import FIELDS
from dynid_ros.applications.payload.estimate import Payload
from dynid_ros.applications.payload.words import headline
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import parameter_units
from dynid_ros.data.files.plain import json_text
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.model.standard_parameters import source_of, StandardParameters
from dynid_ros.estimation.model.uses import Use
from dynid_ros.estimation.model.verdict import Verdict
from dynid_ros.estimation.online.estimate import Estimate
from dynid_ros.estimation.online.live_verdict import NOT_YET
from dynid_ros.ros.nodes.common.lockstep import time_message
from dynid_ros.utilities.arrays import Array

OK, WARN, ERROR, STALE = (
    DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE)


def name_of(node: Node) -> str:
    """Return the name of a node with its namespace, as statuses begin."""
    return str(node.get_fully_qualified_name()).strip('/')


def status(
    name: str, source: str, level: bytes, message: str, values: Mapping[str, object]
) -> DiagnosticStatus:
    """Status with named values; plots read the numbers."""
    return DiagnosticStatus(
        level=level, name=name, message=message, hardware_id=source,
        values=[KeyValue(key=key, value=_text(value)) for key, value in values.items()])


def array(stamp: int, statuses: Iterable[DiagnosticStatus]) -> DiagnosticArray:
    """Collect statuses under one stamp, ns."""
    message = DiagnosticArray(status=list(statuses))
    message.header.stamp = time_message(stamp)
    return message


def estimate_statuses(arm: ArmModel, estimate: Estimate) -> list[DiagnosticStatus]:
    """Values, standard deviations and sources of all base parameters."""
    names = base_parameters(arm).names
    known = int(estimate.determined.sum())
    message = f'{known} of {len(names)} base parameters are determined'
    level = OK if known == len(names) else WARN
    columns = _columns(estimate.theta, estimate.std, estimate.from_data)
    return [status(name, arm.name, level, message, dict(zip(names, column, strict=True)))
            for name, column in columns.items()]


def payload_statuses(arm: ArmModel, found: Payload | None) -> list[DiagnosticStatus]:
    """Values, standard deviations and sources of a load, as a geometry_msgs/Inertia has them."""
    if found is None:
        return [status('values', arm.name, WARN, 'the mass is not determined yet', {})]
    (mass, std), body = found.masses[found.method], found.body
    message = f'{mass:.3f} ± {1.96 * std:.3f} kg' + (
        '' if found.present or not found.trustworthy else ', no payload')
    level = OK if found.trustworthy else WARN
    columns = _columns(body.fields, body.fields_std, body.from_data)
    return [status(name, arm.name, level, message, dict(zip(FIELDS, column, strict=True)))
            for name, column in columns.items()]


def load_status(name: str, found: Payload) -> DiagnosticStatus:
    """Report whether a load is trusted, why not, and what it leaves open."""
    values: dict[str, object] = {
        'trustworthy': found.trustworthy, 'present': found.present,
        'code': ', '.join(finding.code for finding in found.findings),
        'remarks': '; '.join(found.remarks)}
    return status(name, found.model.arm.name, OK if found.trustworthy else WARN,
                  headline(found), values)


def standard_statuses(arm: ArmModel, found: StandardParameters) -> list[DiagnosticStatus]:
    """Physically possible parameters, their standard deviations, and the data's share of each."""
    level, message = OK, 'every link is possible'
    if found.impossible:
        level, message = WARN, f'impossible by the estimates alone: {", ".join(found.impossible)}'
    columns = {'values': found.values, 'std': found.std, 'data_share': found.data_share}
    return [status(name, arm.name, level, message, dict(zip(found.names, column, strict=True)))
            for name, column in columns.items()]


def validation_statuses(arm: ArmModel, estimate: Estimate) -> list[DiagnosticStatus]:
    """How well torque is predicted before it is used, over all joints and joint by joint."""
    metrics = estimate.metrics
    overall = status(
        'all joints', arm.name, OK, f'{metrics.overall_percent:.2f} % torque error',
        {'relative_error_percent': metrics.overall_percent})
    rows = zip(arm.joint_names, metrics.rmse, metrics.relative_error_percent, metrics.r2,
               estimate.left_out.tolist(), strict=True)
    return [overall, *(
        status(name, arm.name, WARN if far else OK, f'{error:.2f} % torque error'
               + (f'; {far} outliers were left out' if far else ''),
               {'rmse': rmse, 'relative_error_percent': error, 'r2': r2, 'left_out': far})
        for name, rmse, error, r2, far in rows)]


def verdict_status(
    name: str, arm: ArmModel, line: str, verdict: Verdict, uses: Sequence[Use],
) -> DiagnosticStatus:
    """Report a verdict in a line, its uses, and code, evidence and remedy of each finding."""
    values: dict[str, object] = {
        'trustworthy': verdict.trustworthy, **{use.purpose: use.sentence for use in uses}}
    for number, finding in enumerate(verdict.findings, 1):
        own = {'code': finding.code, 'severity': finding.severity, 'text': finding.text,
               'joints': ', '.join(finding.joints),
               'error_before_percent': finding.error_before_percent,
               'error_after_percent': finding.error_after_percent, 'remedy': finding.remedy}
        last = f'_{number}' if number > 1 else ''
        values |= {key + last: value for key, value in own.items() if value is not None}
    codes = [finding.code for finding in verdict.findings[:1]]
    level = OK if not codes or codes[0] in NOT_YET else WARN
    return status(name, arm.name, level, line, values)


def effort_message(arm: ArmModel, stamp: int, effort: Array) -> JointState:
    """Torque of each joint, Nm; NaN where there is no value."""
    message = JointState(name=list(arm.joint_names), effort=effort.tolist())
    message.header.stamp = time_message(stamp)
    return message


def result_json(arm: ArmModel, estimate: Estimate, facts: Mapping[str, object]) -> str:
    """Write an estimate as JSON."""
    base, units = base_parameters(arm), parameter_units(arm)
    columns = zip(
        base.names, estimate.theta.tolist(), estimate.std.tolist(),
        (units[c] for c in base.columns), estimate.determined.tolist(),
        map(source_of, estimate.from_data.tolist()), strict=True)
    keys = ('name', 'value', 'std', 'unit', 'determined', 'source')
    content = {
        'arm': arm.name, 'joints': list(arm.joint_names), 'friction': list(arm.friction), **facts,
        'relative_error_percent': estimate.metrics.overall_percent,
        'condition_number': estimate.condition_number,
        'parameters': [dict(zip(keys, row, strict=True)) for row in columns],
    }
    return json_text(content)


def _columns(
    values: Array, std: Array, from_data: NDArray[np.bool_],
) -> dict[str, Sequence[object] | Array]:
    return {'values': values, 'std': std, 'source': [source_of(each) for each in from_data]}


def number_of(text: str) -> float:
    """Read the number in a value of a status; NaN where there is none."""
    try:
        return float(text)
    except ValueError:
        return float('nan')


def _text(value: object) -> str:
    return f'{value:.9g}' if isinstance(value, float) else str(value)
