# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Parameters of nodes of the embedded layer, and the services that show and set them."""

import math

import pytest
from rcl_interfaces.msg import (
    FloatingPointRange,
    ParameterDescriptor,
    ParameterType,
    ParameterValue,
    SetParametersResult,
)
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from ros.stand_in.embedded_rig import call, layer_only

pytestmark = layer_only


def parameters(talker):
    talker.declare_parameter('rate', 5.0, ParameterDescriptor(
        description='how fast', floating_point_range=[
            FloatingPointRange(from_value=1.0, to_value=10.0)]))
    talker.declare_parameter('fixed', 'x', ParameterDescriptor(read_only=True))
    talker.declare_parameter('count', 3)
    talker.declare_parameter('names', ['a', 'b'])


def set_one(pair, name, **value):
    kinds = {'double_value': ParameterType.PARAMETER_DOUBLE,
             'string_value': ParameterType.PARAMETER_STRING,
             'integer_value': ParameterType.PARAMETER_INTEGER}
    kind = next((kinds[field] for field in value), 0)
    (result,) = call(
        pair, pair[1].create_client(SetParameters, '/talker/set_parameters'),
        parameters=[ParameterMessage(name=name, value=ParameterValue(type=kind, **value))]
    ).results
    return result


def test_parameters_are_shown_to_those_who_ask(pair):
    parameters(pair[0])
    values = call(pair, pair[1].create_client(GetParameters, '/talker/get_parameters'),
                  names=['rate', 'fixed', 'count', 'names', 'absent']).values
    assert [value.type for value in values] == [3, 4, 2, 9, 0]
    assert values[0].double_value == 5.0
    assert values[1].string_value == 'x'
    assert values[2].integer_value == 3
    assert list(values[3].string_array_value) == ['a', 'b']
    listed = call(pair, pair[1].create_client(ListParameters, '/talker/list_parameters'))
    assert {'rate', 'fixed', 'count', 'names', 'use_sim_time'} == set(listed.result.names)
    rate, fixed = call(
        pair, pair[1].create_client(DescribeParameters, '/talker/describe_parameters'),
        names=['rate', 'fixed']).descriptors
    assert (rate.name, rate.type, rate.description) == ('rate', 3, 'how fast')
    assert (rate.floating_point_range[0].from_value, fixed.read_only) == (1.0, True)


@pytest.mark.parametrize(('name', 'value', 'reason'), [
    ('fixed', {'string_value': 'y'}, 'read-only'),
    ('rate', {'double_value': 10.5}, 'from 1 to 10'),
    ('rate', {'double_value': math.nan}, 'from 1 to 10'),
    ('rate', {'integer_value': 5}, 'must be of type DOUBLE'),
    ('rate', {}, 'must be of type DOUBLE'),
    ('count', {'integer_value': 7}, 'seven'),
    ('absent', {'integer_value': 7}, "no parameter 'absent'"),
])
def test_parameter_that_must_not_be_set_keeps_its_value(pair, name, value, reason):
    parameters(pair[0])
    pair[0].add_on_set_parameters_callback(lambda given: SetParametersResult(
        successful=given[0].value != 7, reason='never seven'))
    before = pair[0].get_parameter(name).value
    result = set_one(pair, name, **value)
    assert not result.successful
    assert reason in result.reason
    assert pair[0].get_parameter(name).value == before


def test_parameter_that_may_be_set_is_set(pair):
    parameters(pair[0])
    assert set_one(pair, 'rate', double_value=10.0).successful
    assert pair[0].get_parameter('rate').value == 10.0


def test_parameters_of_the_command_line_are_judged_when_they_are_declared(init):
    init('-p', 'rate:=11.0', '-p', 'count:=3.5', '-p', 'names:=[1, 2]')
    node = Node('talker')
    for name, default, said in (('count', 3, 'must be of type INTEGER, not 3.5'),
                                ('names', ['a'], r"'names' cannot be \[1, 2\]")):
        with pytest.raises(ParameterException, match=said):
            node.declare_parameter(name, default)
    with pytest.raises(ParameterException, match='from 1 to 10, not 11'):
        parameters(node)
