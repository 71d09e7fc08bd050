# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""YAML that is read: within bounds, and with numbers as a user means them."""

import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
import pytest
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.schema import read_yaml
from dynid_ros.arm.description.yaml_source import parse_yaml, YamlError
from dynid_ros.errors import ArmError, DynidError, one_line
from dynid_ros.utilities.atomic_write import LARGEST_FILE

ROWS = 'description: {mdh: {rows: [{alpha: 0, a: 0, d: 0, theta: 0}]}}\n'
BOMB = 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n' + ''.join(
    f'a{i}: &a{i} [{",".join(10 * [f"*a{i - 1}"])}]\n' for i in range(1, 12))


@pytest.mark.parametrize(('text', 'message'), [
    ('a: !!bool x', 'does not fit its tag .*bool", line 1'),
    ('\na: !!int ""', 'does not fit its tag .*int", line 2'),
    ('a: !!timestamp x', 'does not fit its tag'),
    ('a: !!float 1..2', 'does not fit its tag'),
    pytest.param(f'a: {"9" * 400}', 'integer has 400 digits, line 1', id='400 digits'),
    pytest.param(f'a: {"9" * 9999}', 'integer has 9999 digits', id='9999 digits'),
    pytest.param('a: ' + 100_000 * '[', 'nesting depth', id='brackets'),
    pytest.param('a: ' + 100_000 * '{b: ', 'nesting depth', id='braces'),
    pytest.param(BOMB, 'more than 500000 values', id='bomb'),
    ('a: &a {b: [*a]}', 'alias "a" contains itself'),
    ('a: "x\\0y"', 'NUL or half a character, line 1'),
    ('a: "\\ud800"', 'line 1'),
    ('a: {b: 1, b: 2}', 'key "b" is repeated, lines 1 and 1'),
])
def test_a_text_that_nobody_means_is_refused_at_once(text, message):
    with pytest.raises(YamlError, match=message):
        parse_yaml(text.encode())


def test_an_alias_may_be_used_often():
    assert parse_yaml(b'a: &x [1, 2]\nb: [*x, *x]\nc: *x')['b'] == [[1, 2], [1, 2]]


TEXT = st.text(st.characters(exclude_categories=['Cs', 'Cc', 'Zl', 'Zp']))


@given(st.dictionaries(TEXT, st.lists(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers(-2**63, 2**63) | TEXT)))
def test_all_that_is_written_is_read_without_loss(content):
    assert parse_yaml(yaml.safe_dump(content, allow_unicode=True).encode()) == content


@pytest.mark.parametrize(('written', 'value'), [
    ('-.087', -0.087), ('.5', 0.5), ('1e-3', 1e-3), ('-1E3', -1e3), ('1.5e3', 1.5e3),
    ('.5e3', 500.0), ('010', 10.0), ('-010', -10.0), ('08', 8.0), ('1_000', 1000.0),
    ('0x10', 16.0), ('+5', 5.0), ('5.', 5.0), ('0', 0.0)])
def test_a_number_is_read_as_it_looks(tmp_path, written, value):
    path = tmp_path / 'arm.yaml'
    path.write_text(f'{ROWS}gravity: [0, 0, {written}]\n')
    assert load_arm(path).gravity[2] == value


@pytest.mark.parametrize('written', [
    '1:30', '1:30.5', '2026-01-01', '.nan', '-.inf', '1e999', '1,5', '١', 'yes', '0o17x'])
def test_what_only_looks_like_a_number_is_refused(tmp_path, written):
    path = tmp_path / 'arm.yaml'
    path.write_text(f'{ROWS}conditioning:\n  delay: {written}\n')
    with pytest.raises(ArmError, match=r'"conditioning.delay" in .*arm.yaml must be a number'):
        load_arm(path)


def test_names_that_look_like_numbers_stay_names(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text(f'{ROWS}joints: [010]\nname: 2026-01-01\n')
    arm = load_arm(path)
    assert (arm.name, arm.joint_names) == ('2026-01-01', ('010',))


@pytest.mark.skipif(not Path('/dev/zero').exists(), reason='there is no /dev/zero')
def test_a_device_without_end_is_no_description(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text('description: {urdf: /dev/zero}\n')
    with pytest.raises(ArmError, match=r'URDF /dev/zero: it has more than \d+ MB'):
        load_arm(path)
    with (tmp_path / 'large.yaml').open('wb') as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(ArmError, match=r'large.yaml: it has more than'):
        read_yaml(tmp_path / 'large.yaml')


def test_a_long_value_is_not_echoed(tmp_path):
    path = tmp_path / 'arm.yaml'
    for setting in (f'gravity: {"g" * 10**5}', f'"{"k " * 10**5}": 1', f'name: [{"n," * 9999}]',
                    f'friction: [{"f" * 10**5}]', f'drive: {{signal: "{"s " * 9999}"}}'):
        path.write_text(ROWS + setting)
        with pytest.raises(ArmError) as caught:
            load_arm(path)
        assert len(str(caught.value)) <= 1100, setting[:20]
        assert str(path) in str(caught.value)


def test_a_message_is_one_line_whatever_it_cites():
    assert str(DynidError('joint "a\nb\x1b[31m" is odd')) == r'joint "a\nb\x1b[31m" is odd'
    assert one_line('plain µ') == 'plain µ'
    assert len(one_line('x' * 10**6)) < 300 and len(one_line('x y ' * 10**6)) < 1100


def test_an_infinite_limit_is_still_one(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text(f'{ROWS}limits: {{upper: [.inf], lower: [-.inf], velocity: [.Inf]}}\n')
    assert math.isinf(load_arm(path).limits.upper[0])
