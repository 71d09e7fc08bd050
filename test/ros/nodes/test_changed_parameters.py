# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Parameters that change while a node runs, and those that may not."""

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticArray
from identifier_rig import ready, recording
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters

from dynid_ros.ros.nodes.common.estimate_messages import numbers_of
from dynid_ros.ros.nodes.common.qos import LATCHED


def change(talker, node, name, value):
    """Set a parameter; return the reason of a refusal, or an empty text."""
    kind, field = (ParameterType.PARAMETER_DOUBLE, 'double_value') if isinstance(
        value, float) else (ParameterType.PARAMETER_STRING, 'string_value')
    answer = talker.call(SetParameters, f'{node}/set_parameters', parameters=[
        Parameter(name=name, value=ParameterValue(type=kind, **{field: value}))])
    (result,) = answer.results
    return '' if result.successful else result.reason


def stamp(report):
    """Return when a node sent a report: on a busy machine, old ones still wait to be heard."""
    return report.header.stamp.sec + 1e-9 * report.header.stamp.nanosec


def test_rate_and_memory_of_the_identifier_change_while_it_runs(start, talker):
    log = recording()
    heard = talker.listen(DiagnosticArray, '/diagnostics', 100)
    summary = talker.listen(DynamicJointState, '/identifier/summary', LATCHED)
    _, publisher = ready(start, talker)
    talker.until(lambda: len(heard) > 2, 'reports')
    assert change(talker, '/identifier', 'report_rate', 0.5) == ''
    talker.until(lambda: stamp(heard[-1]) - stamp(heard[-2]) > 1.5, 'a report at the new rate')
    assert change(talker, '/identifier', 'report_rate', 10.0) == ''
    assert change(talker, '/identifier', 'memory', 2.0) == ''
    talker.play(publisher, log.joint_names, log.t, log.q, log.u)
    talker.until(lambda: summary and numbers_of(summary[-1])[1]['samples'] > 0, 'estimates')
    assert 'does not come back' in change(talker, '/identifier', 'memory', 0.0)
    assert change(talker, '/identifier', 'arm', 'panda')
    assert change(talker, '/identifier', 'report_rate', 1e6)
