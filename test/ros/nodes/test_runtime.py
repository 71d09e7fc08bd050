# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""How every node starts, and shows its parameters."""

import pytest
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters

from dynid_ros.ros.stand_in import active


@pytest.mark.parametrize('node', ['identifier', 'recorder'])
def test_each_parameter_is_shown_also_a_list_that_nobody_has_given(start, talker, tmp_path, node):
    start(node, arm='two_axis', output_folder=tmp_path)
    names = talker.call(ListParameters, f'/{node}/list_parameters').result.names
    values = talker.call(GetParameters, f'/{node}/get_parameters', names=names).values
    assert len(values) == len(names) > 3
    assert ParameterType.PARAMETER_NOT_SET not in [value.type for value in values]
    own = [name for name in names if name in ('friction', 'topics', 'output_folder')]
    described = talker.call(
        DescribeParameters, f'/{node}/describe_parameters', names=own).descriptors
    assert len(own) == 2
    assert all(each.read_only and 'restart' in each.additional_constraints for each in described)


def test_an_empty_list_can_be_given(start, talker):
    start('identifier', arm='two_axis', friction='[]')
    (value,) = talker.call(
        GetParameters, '/identifier/get_parameters', names=['friction']).values
    assert (value.type, list(value.string_array_value)) == (
        ParameterType.PARAMETER_STRING_ARRAY, [])


@pytest.mark.skipif(active(), reason='only ROS 2 has /rosout')
def test_an_error_at_the_start_reaches_rosout(start, talker):
    from rcl_interfaces.msg import Log

    heard = talker.listen(Log, '/rosout', 100)
    status, printed = start('recorder', arm='no_such_arm').end()
    assert status == 2
    assert printed.count('no_such_arm') == 1
    talker.until(lambda: any('no_such_arm' in each.msg for each in heard), 'the error', 10.0)
