# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What follows --ros-args, against rcl where there is one."""

import json
import math
from pathlib import Path

import pytest
from ros_shell import ros_python

from dynid_ros.errors import InputError
from dynid_ros.ros.stand_in.arguments import parse

FILES = {
    'nodes.yaml': """
        /**: {ros__parameters: {a: 1, b: {c: 2.5, d: {e: x}}}}
        /ns/talker: {ros__parameters: {a: 2}}
        talker: {ros__parameters: {r: 1}}
    """,
    'nested.yaml': """
        /ns:
          talker: {ros__parameters: {n: 1}}
          other: {ros__parameters: {n: 2}}
    """,
    'patterns.yaml': """
        /*: {ros__parameters: {s: 1}}
        /*/talker: {ros__parameters: {t: 1}}
        /**/talker: {ros__parameters: {u: 1}}
        /ns/*: {ros__parameters: {v: 1}}
        /ns/**: {ros__parameters: {w: 1}}
    """,
    'all_last.yaml': """
        talker: {ros__parameters: {a: 5}}
        /**: {ros__parameters: {a: 6}}
    """,
    'numbers.yaml': """
        /**:
          ros__parameters: {a: 1e6, b: -1.5e-3, c: .nan, d: -.inf, e: 1, f: '1', g: [a, b],
                            h: 5., i: .5, j: true, k: 1.2.3, l: inf}
    """,
}
TOPICS = ('chatter', '~/own', '/abs', 'other')
#: Words, and what a node named talker gets: its full name, its topics, its parameters.
CASES = [
    ('', '/talker', ['/chatter', '/talker/own', '/abs', '/other'], {}),
    ('-p rate:=500.0 -p rate:=250.0', '/talker', None, {'rate': 250.0}),
    ('-p a:=1e6 -p b:=on -p c:=-2 -p d:=a.b -p e:=/a/b', '/talker', None,
     {'a': 1e6, 'b': True, 'c': -2, 'd': 'a.b', 'e': '/a/b'}),
    ("-p a:='5' -p b:=[left,right] -p c.d:=1.0", '/talker', None,
     {'a': '5', 'b': ['left', 'right'], 'c.d': 1.0}),
    ('--param a:=1', '/talker', None, {'a': 1}),
    ('-p talker:a:=1 -p fox:b:=2', '/talker', None, {'a': 1}),
    ('-r __node:=fox -p fox:a:=1 -p talker:a:=2', '/fox', None, {'a': 1}),
    ('-r __ns:=/a/b', '/a/b/talker',
     ['/a/b/chatter', '/a/b/talker/own', '/abs', '/a/b/other'], {}),
    ('-r __node:=fox --remap __ns:=/a', '/a/fox', ['/a/chatter', '/a/fox/own', '/abs', '/a/other'],
     {}),
    ('-r chatter:=b -r ~/own:=z -r /abs:=rel -r /other:=~/x', '/talker',
     ['/b', '/z', '/rel', '/talker/x'], {}),
    ('-r chatter:=first -r chatter:=second', '/talker',
     ['/first', '/talker/own', '/abs', '/other'], {}),
    ('-r __ns:=/a -r /chatter:=b -r /a/other:=/c', '/a/talker',
     ['/a/chatter', '/a/talker/own', '/abs', '/c'], {}),
    ('-r talker:chatter:=x -r fox:other:=y', '/talker',
     ['/x', '/talker/own', '/abs', '/other'], {}),
    ('-r talker:__node:=fox -r talker:chatter:=x -r fox:other:=y', '/fox',
     ['/chatter', '/fox/own', '/abs', '/y'], {}),
    ('--params-file nodes.yaml', '/talker', None, {'a': 1, 'b.c': 2.5, 'b.d.e': 'x', 'r': 1}),
    ('--params-file nodes.yaml -r __ns:=/ns', '/ns/talker', None,
     {'a': 2, 'b.c': 2.5, 'b.d.e': 'x'}),
    ('--params-file nodes.yaml -r __node:=fox', '/fox', None,
     {'a': 1, 'b.c': 2.5, 'b.d.e': 'x'}),
    ('--params-file nested.yaml -r __ns:=/ns', '/ns/talker', None, {'n': 1}),
    ('--params-file nested.yaml', '/talker', None, {}),
    ('--params-file patterns.yaml', '/talker', None, {'s': 1, 'u': 1}),
    ('--params-file patterns.yaml -r __ns:=/ns', '/ns/talker', None,
     {'t': 1, 'u': 1, 'v': 1, 'w': 1}),
    ('--params-file patterns.yaml -r __ns:=/ns/deep', '/ns/deep/talker', None,
     {'u': 1, 'w': 1}),
    ('--params-file all_last.yaml', '/talker', None, {'a': 6}),
    ('--params-file all_last.yaml -p a:=7', '/talker', None, {'a': 7}),
    # What is said of a pattern for the first time gives it its place.
    ('-p a:=7 --params-file all_last.yaml', '/talker', None, {'a': 5}),
    ('--params-file numbers.yaml', '/talker', None,
     {'a': 1e6, 'b': -0.0015, 'c': math.nan, 'd': -math.inf, 'e': 1, 'f': '1', 'g': ['a', 'b'],
      'h': 5.0, 'i': 0.5, 'j': True, 'k': '1.2.3', 'l': math.inf}),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def got(words):
    """Find what a node named talker gets, as `plain_node` tells it."""
    arguments = parse(['--ros-args', *words.split()])
    name = arguments.remap('__node', 'talker') or 'talker'
    namespace = arguments.remap('__ns', name) or '/'
    full = f'{namespace.rstrip("/")}/{name}'
    topics = [arguments.resolve(topic, namespace, name) for topic in TOPICS]
    return full, topics, arguments.overrides(full)


@pytest.mark.usefixtures('folder')
@pytest.mark.parametrize(('words', 'full', 'topics', 'values'), CASES,
                         ids=[case[0] or 'nothing' for case in CASES])
def test_node_gets_the_names_and_parameters_that_are_given(words, full, topics, values):
    own_full, own_topics, own_values = got(words)
    assert own_full == full
    assert topics in (None, own_topics)
    assert repr(own_values) == repr(values)


def test_rcl_reads_the_same(folder):
    plain = Path(__file__).with_name('plain_node.py')
    told = ros_python(str(plain), json.dumps([TOPICS, [case[0] for case in CASES]]), cwd=folder)
    for (words, *_), line in zip(CASES, told.splitlines(), strict=True):
        full, topics, values = json.loads(line)
        own_full, own_topics, own_values = got(words)
        assert (own_full, own_topics) == (full, topics), words
        assert {name: repr(value) for name, value in own_values.items()} == values, words


def test_words_before_ros_args_and_after_two_dashes_are_left_alone():
    arguments = parse(['-p', 'a', '--strange', '--ros-args', '-p', 'b:=1', '--', '-r', 'wrong'])
    assert arguments.overrides('/talker') == {'b': 1}
    assert arguments.remaps == []


@pytest.mark.parametrize(('words', 'said'), [
    (['-p', 'rate'], "-p wants name:=value, not 'rate'"),
    (['-p'], "-p wants name:=value, not ''"),
    (['-p', ':=5'], "-p wants name:=value, not ':=5'"),
    (['-r', 'chatter=b'], "-r wants name:=value, not 'chatter=b'"),
    (['-p', 'a:=[1, 2'], "-p a: '[1, 2' is not a YAML value"),
    (['-r', '__nothing:=x'], '-r __nothing is not supported without ROS 2'),
    (['--log-level', 'warn'], '--log-level after --ros-args is not supported without ROS 2'),
    (['--enclave', '/x'], '--enclave after --ros-args is not supported without ROS 2'),
    (['--params-file', 'absent.yaml'], 'cannot read the parameter file absent.yaml'),
    (['--params-file'], 'cannot read the parameter file'),
    (['--params-file', 'broken.yaml'], 'cannot read the parameter file broken.yaml'),
    (['--params-file', 'list.yaml'], 'list.yaml: the file must hold names and values'),
    (['--params-file', 'flat.yaml'], 'flat.yaml: /talker/a must hold names and values'),
    (['--params-file', 'bare.yaml'],
     'bare.yaml: /talker/ros__parameters must hold names and values'),
    (['--params-file', 'bytes.yaml'], 'cannot read the parameter file bytes.yaml'),
])
def test_what_cannot_be_understood_is_named(tmp_path, monkeypatch, words, said):
    for name, content in (('broken.yaml', b'{a'), ('list.yaml', b'[1, 2]'),
                          ('flat.yaml', b'talker: {a: 1}'), ('bytes.yaml', b'\xff\xfe\x00\xd8'),
                          ('bare.yaml', b'talker: {ros__parameters: 5}')):
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        parse(['--ros-args', *words])
    assert said in str(refused.value)


@pytest.mark.parametrize('name', ['a b', '', '/', 'a//b', '1a', 'a/', '~x y', 'a\nb', 'ä'])
def test_names_that_none_may_have_are_refused(name):
    with pytest.raises(ValueError, match='is not a valid name of a topic or service'):
        parse([]).resolve(name, '/', 'talker')
