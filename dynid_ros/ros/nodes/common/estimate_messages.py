# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Messages of an estimate, with named values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from control_msgs.msg import DynamicJointState, InterfaceValue
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import WrenchStamped
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dynid_ros.applications.payload.estimate import Payload
from dynid_ros.arm.model import ArmModel
from dynid_ros.estimation.online.live_verdict import LiveVerdict
from dynid_ros.estimation.online.recursive_least_squares import LiveEstimate
from dynid_ros.estimation.verdict.confirmation import NOT_YET
from dynid_ros.ros.nodes.common.lockstep import time_message
from dynid_ros.utilities.arrays import Array

OK, WARN, ERROR, STALE = (
    DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE)


def name_of(node: Node) -> str:
    """Return the name of a node with its namespace, the prefix of its statuses."""
    return str(node.get_fully_qualified_name()).strip('/')


def status(
    node: Node, arm: ArmModel, task: str, level: bytes, message: str,
    values: Mapping[str, object] | None = None,
) -> DiagnosticStatus:
    """Status of a task of a node, with named values; plots read the numbers."""
    return DiagnosticStatus(
        level=level, name=f'{name_of(node)}: {task}', message=message, hardware_id=arm.name,
        values=[KeyValue(key=key, value=_text(value)) for key, value in (values or {}).items()])


def array(node: Node, statuses: Iterable[DiagnosticStatus]) -> DiagnosticArray:
    """Collect statuses under the time of a node."""
    message = DiagnosticArray(status=list(statuses))
    message.header.stamp = node.get_clock().now().to_msg()
    return message


def numbers(
    stamp: int, names: Sequence[str], columns: Mapping[str, NDArray[np.generic]],
) -> DynamicJointState:
    """
    Collect numbers by the name of the parameter or joint, and by the name of the quantity.

    Parameters
    ----------
    stamp : int
        ns.
    names : sequence of str
        Parameters or joints.
    columns : mapping of str to (k,) ndarray
        Such as values and standard deviations.

    """
    rows = np.column_stack(list(columns.values())).astype(float).tolist()
    message = DynamicJointState(joint_names=list(names), interface_values=[
        InterfaceValue(interface_names=list(columns), values=row) for row in rows])
    message.header.stamp = time_message(stamp)
    return message


def numbers_of(message: DynamicJointState) -> tuple[tuple[str, ...], dict[str, Array]]:
    """Read names and columns of `numbers`; none of another kind of message."""
    names, rows = tuple(message.joint_names), message.interface_values
    kinds = list(rows[0].interface_names) if len(rows) else []
    if len(rows) != len(names) or any(
            list(row.interface_names) != kinds or len(row.values) != len(kinds) for row in rows):
        return (), {}
    return names, dict(zip(kinds, np.array([list(row.values) for row in rows]).T, strict=True))


def parameter_numbers(
    stamp: int, names: Sequence[str], values: Array, std: Array, from_data: NDArray[np.bool_],
) -> DynamicJointState:
    """Collect values, standard deviations, and whether they come from the data or a prior."""
    return numbers(stamp, names, {'value': values, 'std': std, 'from_data': from_data})


def joint_numbers(arm: ArmModel, stamp: int, estimate: LiveEstimate) -> DynamicJointState:
    """Report the a-priori prediction error of each joint."""
    metrics = estimate.metrics
    return numbers(stamp, arm.joint_names, {
        'rmse': metrics.rmse, 'relative_error_percent': metrics.relative_error_percent,
        'r2': metrics.r2, 'left_out': estimate.left_out})


def summary_numbers(
    arm: ArmModel, stamp: int, estimate: LiveEstimate, samples: int,
) -> DynamicJointState:
    """Report the progress of a session."""
    figures = {
        'samples': samples, 'determined': estimate.determined.sum(),
        'parameters': len(estimate.determined), 'condition_number': estimate.condition_number,
        'relative_error_percent': estimate.metrics.overall_percent}
    return numbers(stamp, [arm.name], {
        name: np.array([value], dtype=float) for name, value in figures.items()})


def estimate_status(node: Node, arm: ArmModel, estimate: LiveEstimate) -> DiagnosticStatus:
    """Report how many parameters are determined, and how well torque is predicted."""
    known, every = int(estimate.determined.sum()), len(estimate.determined)
    text = (f'{known} of {every} parameters are determined, '
            f'{estimate.metrics.overall_percent:.2f} % torque error')
    far = {joint: count for joint, count in zip(
        arm.joint_names, estimate.left_out.tolist(), strict=True) if count}
    if far:
        text += '; outliers were left out: ' + ', '.join(
            f'{count} of {joint}' for joint, count in far.items())
    return status(node, arm, 'estimate', WARN if far or known < every else OK, text, {
        f'{name} torque error, %': error for name, error in zip(
            arm.joint_names, estimate.metrics.relative_error_percent, strict=True)})


def load_status(node: Node, arm: ArmModel, found: Payload | None) -> DiagnosticStatus:
    """Report the mass of a load, whether it is trusted, why not, and its open questions."""
    if found is None:
        return status(node, arm, 'verdict', WARN, 'the mass is not determined yet')
    values: dict[str, object] = {
        'trustworthy': found.trustworthy, 'present': found.present,
        'code': ', '.join(finding.code for finding in found.findings),
        'remarks': '; '.join(found.remarks)}
    return status(
        node, arm, 'verdict', OK if found.trustworthy else WARN, found.headline, values)


def verdict_status(node: Node, arm: ArmModel, judged: LiveVerdict) -> DiagnosticStatus:
    """Report a verdict in a line, its uses, and code, evidence and remedy of each finding."""
    assert judged.verdict is not None
    values: dict[str, object] = {'trustworthy': judged.verdict.trustworthy,
                                 **{use.purpose: use.sentence for use in judged.uses}}
    for number, finding in enumerate(judged.verdict.findings, 1):
        own = {'code': finding.code, 'severity': finding.severity, 'text': finding.text,
               'joints': ', '.join(finding.joints),
               'error_before_percent': finding.error_before_percent,
               'error_after_percent': finding.error_after_percent, 'remedy': finding.remedy}
        last = f'_{number}' if number > 1 else ''
        values |= {key + last: value for key, value in own.items() if value is not None}
    codes = [finding.code for finding in judged.verdict.findings[:1]]
    level = OK if not codes or codes[0] in NOT_YET else WARN
    return status(node, arm, 'verdict', level, judged.headline, values)


def effort_message(arm: ArmModel, stamp: int, effort: Array) -> JointState:
    """Torque of each joint, Nm; NaN where there is no value."""
    message = JointState(name=list(arm.joint_names), effort=effort.tolist())
    message.header.stamp = time_message(stamp)
    return message


def wrench_message(stamp: int, frame: str, wrench: Array) -> WrenchStamped:
    """Write ``[Tx Ty Tz Fx Fy Fz]``, Nm and N."""
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = time_message(stamp), frame
    torque, force, values = message.wrench.torque, message.wrench.force, wrench.tolist()
    torque.x, torque.y, torque.z, force.x, force.y, force.z = values
    return message


def number_of(text: str) -> float:
    """Read the number in a value of a status; NaN where there is none."""
    try:
        return float(text)
    except ValueError:
        return float('nan')


def _text(value: object) -> str:
    return f'{value:.9g}' if isinstance(value, float) else str(value)
