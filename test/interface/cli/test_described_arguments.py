# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Arguments of commands are those of the functions, as Python itself sees these."""

from argparse import ArgumentError, ArgumentParser
import inspect
import re
from typing import get_type_hints, Literal

import pytest

import dynid_ros as dyn
from dynid_ros.errors import DynidError
from dynid_ros.interface.cli.common.described import add_described, described, given
from dynid_ros.interface.cli.main import build_parser, COMMANDS

FUNCTIONS = (
    'read_recording', 'convert', 'identify', 'gains', 'replay', 'payload', 'wrist_sensor',
    'monitor', 'export', 'design_excitation', 'simulate', 'feedforward', 'external_force',
    'pose_error')


@pytest.mark.parametrize('function', FUNCTIONS)
def test_a_description_is_the_signature_that_python_sees(function):
    seen = inspect.signature(getattr(dyn, function)).parameters
    found = described(function)
    assert found.keys() == seen.keys()
    for name, own in found.items():
        assert own.required == (seen[name].default is inspect.Parameter.empty
                                and 'None' not in str(seen[name].annotation))
        # What is no plain value is left to the function.
        assert own.default is None or own.default == seen[name].default
        assert own.about and not own.about.startswith('As for')


@pytest.mark.parametrize('command', COMMANDS)
def test_meanings_are_plain_words(command):
    parser = build_parser([command])._subparsers._group_actions[0].choices[command]
    for action in parser._actions:
        assert '`' not in (action.help or '') and not (action.help or '').endswith('.')
        assert len(re.findall('default:|by default', action.help or '')) < 2


@pytest.fixture
def parser():
    return ArgumentParser(exit_on_error=False)


#: A call that ends at a file that is missing, if all else is right.
CALLS = {
    'identify': {'arm': 'two_axis', 'recordings': 'none'},
    'replay': {'arm': 'two_axis', 'recording': 'none'},
    'gains': {'arm': 'two_axis', 'recordings': 'none', 'loaded': 'none_either'},
    'design_excitation': {'arm': 'none'}, 'simulate': {'arm': 'two_axis', 'motion': 'none'}}


@pytest.mark.parametrize(('function', 'name', 'words'), [
    ('identify', 'holdout', ['-0.1', '0', '0.99', '1', 'nan']),
    ('identify', 'cutoff_hz', ['1e-4', '1e-3', '80', 'inf', 'nan']),
    ('replay', 'delay', ['-10', '10', '10.1', 'nan']),
    ('gains', 'mass', ['0', '1e-300', '2', 'inf', 'nan']),
    ('design_excitation', 'starts', ['0', '1', '1000000', '1000001', '1.5']),
    ('simulate', 'seed', ['-1', '0', '7', '9223372036854775808'])])
def test_command_and_function_take_the_same_numbers(parser, function, name, words):
    add_described(parser, function, {name: f'--{name}'})
    refused = []
    for word in words:
        with pytest.raises(DynidError) as caught:
            getattr(dyn, function)(**CALLS[function], **{name: float(word)})
        if name in str(caught.value):
            refused.append(word)
            with pytest.raises(ArgumentError, match=f'argument --{name}: {word} is not a'):
                parser.parse_args([f'--{name}={word}'])
        else:
            assert 'none' in str(caught.value)
            assert given(parser.parse_args([f'--{name}={word}'])) == {name: float(word)}
    assert 0 < len(refused) < len(words)


def test_choices_are_those_of_the_type(parser):
    add_described(parser, 'identify', {'method': '--method'})
    hint = get_type_hints(dyn.identify)['method']
    assert hint == Literal[tuple(parser._actions[-1].choices)]
    assert given(parser.parse_args([])) == {'method': 'differentiated'}


def test_what_nobody_gives_is_left_to_the_function(parser):
    add_described(parser, 'replay', {'memory': '--memory SECONDS', 'start': '--start'})
    assert given(parser.parse_args([])) == {}
    assert given(parser.parse_args(['--memory', '5'])) == {'memory': 5.0}


def test_a_meaning_names_options_instead_of_arguments(parser):
    add_described(parser, 'payload', {'link': '--link JOINT', 'flange': '--flange X Y Z R P Y'})
    told = ' '.join(parser.format_help().split())
    assert '--flange X Y Z R P Y placement x y z roll pitch yaw' in told
    assert 'the last joint (of --link)' in told
