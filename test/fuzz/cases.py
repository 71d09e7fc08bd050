# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Cases: the files of a kind, one of them mutated, and the command that reads them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
import shutil
from types import SimpleNamespace

import corpus
from mutations import FLOATS, mutated_array, mutated_bytes, mutated_text, NUMBERS, TEXTS, utf8
import numpy as np

#: Makes the files of a case in the working directory, and returns the words of the command.
Case = Callable[[Random, Path], list[str]]
_WRENCH = ('--wrench', '0', '0', '1', '0', '0', '1')
#: One in so many cases runs a command that computes for long.
RARE = 8


def bag(rng: Random, good: Path) -> list[str]:
    """Bytes of a file of a bag, or of its messages."""
    kind = rng.choice(('mcap', 'db3'))
    if rng.randrange(2):
        stamps, rows = corpus.messages()
        every = slice(None, None, 4)
        stamps, rows = stamps[every], rows[every]
        for at in rng.sample(range(len(rows)), rng.choice((1, 1, 5))):
            rows[at] = mutated_bytes(rng, rows[at])
        corpus.write_bag(Path('bag'), stamps, rows, mcap=kind == 'mcap')
    else:
        shutil.copytree(good / kind, 'bag')
        file = rng.choice(sorted(Path('bag').iterdir()))
        change = mutated_bytes(rng, file.read_bytes()) if file.suffix != '.yaml' else utf8(
            mutated_text(rng, file.read_text()))
        file.write_bytes(change)
    return _reading(rng, 'bag', 'arm.yaml')


def table(rng: Random, good: Path) -> list[str]:
    """Make a table, its bytes or its values."""
    if rng.randrange(2):
        name = rng.choice(('log.csv', 'log.csv', 'printed.csv', 'log.mat'))
        data = (good / name).read_bytes()
        Path(name).write_bytes(
            utf8(mutated_text(rng, data.decode())) if name != 'log.mat' and rng.randrange(3)
            else mutated_bytes(rng, data))
        return _reading(rng, name, 'arm.yaml')
    if rng.randrange(3):
        arrays = {'t': corpus.T, 'q': corpus.Q, 'tau': corpus.TAU}
        for name in rng.sample(sorted(arrays), rng.choice((1, 1, 2))):
            arrays[name] = mutated_array(rng, arrays[name])
        if not rng.randrange(6):
            del arrays[rng.choice(sorted(arrays))]
        np.savez('log.npz', **arrays)
    else:
        Path('log.npz').write_bytes(mutated_bytes(rng, (good / 'log.npz').read_bytes()))
    return _reading(rng, 'log.npz', 'arm.yaml')


def arm_yaml(rng: Random, good: Path) -> list[str]:
    """Make an arm.yaml."""
    return _arm(rng, 'arm.yaml', (good / 'arm.yaml').read_text())


def urdf(rng: Random, good: Path) -> list[str]:
    """Make a URDF, alone, beside its arm.yaml or beside a result."""
    text = (good / 'arm.urdf').read_text()
    match rng.randrange(6):
        case 0:
            Path('arm.urdf').write_bytes(utf8(mutated_text(rng, text)))
            return ['init', 'arm.urdf', '-o', 'new']
        case 1:
            Path('arm.urdf').write_bytes(utf8(mutated_text(rng, text)))
            return ['export', str(good / 'result'), '--robot', 'arm.urdf', '-o', 'new.urdf']
        case 2:
            Path('arm.urdf').write_bytes(mutated_bytes(rng, utf8(text)))
            return _reading(rng, str(good / 'log.npz'), 'arm.urdf')
        case _:
            return _arm(rng, 'arm.urdf', text)


def result(rng: Random, good: Path) -> list[str]:
    """Make a result folder."""
    shutil.copytree(good / 'result', 'result')
    file = Path('result') / rng.choice(('result.yaml',) * 5 + ('prediction.npz',))
    file.write_bytes(utf8(mutated_text(rng, file.read_text())) if file.suffix == '.yaml'
                     else mutated_bytes(rng, file.read_bytes()))
    return rng.choice((
        ['validate', 'result', str(good / 'log.npz'), '--json'], ['report', 'result'],
        ['payload', str(good / 'loaded.npz'), '--model', 'result', '--json'],
        ['monitor', str(good / 'log.npz'), '--model', 'result', '--json'],
        ['replay', str(good / 'loaded.npz'), '--payload', 'result', '-o', 'out', '--json'],
        ['external-force', 'result', *_WRENCH, '--json'],
        ['design', str(good / 'arm.yaml'), '--given', 'result', '--time', '0.2', '--starts', '1',
         '--harmonics', '2', '-o', 'm.yaml'],
        *(['export', 'result', '--format', form, '-o', 'out'] for form in (
            'urdf', 'mjcf', 'yaml', 'python'))))


def motion(rng: Random, good: Path) -> list[str]:
    """Make an excitation.yaml."""
    Path('m.yaml').write_bytes(utf8(mutated_text(rng, (good / 'motion.yaml').read_text())))
    return rng.choice((
        ['simulate', str(good / 'arm.yaml'), 'm.yaml', '-o', 'out'],
        ['feedforward', 'm.yaml', '--model', str(good / 'result'), '-o', 'out.yaml']))


def trajectory(rng: Random, good: Path) -> list[str]:
    """Make the points of a trajectory."""
    Path('t.yaml').write_bytes(utf8(mutated_text(rng, (good / 'points.yaml').read_text())))
    return ['feedforward', 't.yaml', '--model', str(good / 'result'), '-o', 'out.yaml']


_OPTIONS = {
    'check': ('--topic', '--arm'), 'convert': ('--topic', '--arm', '-o'),
    'pose-error': ('--at', '--body', '--angle-std', '--length-std'),
    'external-force': ('--at', '--body', '--wrench'), 'export': ('--format', '--robot', '-o'),
    'design': ('--period', '--harmonics', '--periods', '--ramp', '--for', '--given', '--starts',
               '--seed', '--rate', '--criterion', '--time', '--load'),
    'identify': ('--friction', '--holdout', '--cutoff', '--method', '--validate', '--topic'),
    'gains': ('--loaded', '--mass', '--write', '--topic'),
    'replay': ('--memory', '--cutoff', '--delay', '--topic', '--payload'),
    'init': ('--joints', '--tip'), 'validate': ('--arm', '--topic', '--cutoff'),
    'simulate': ('--seed', '-o'), 'report': ('--x',),
    'payload': ('--model', '--flange', '--topic'),
    'feedforward': ('--model', '--rate'),
    'monitor': ('--model', '--alarms-per-hour', '--topic')}


def options(rng: Random, good: Path) -> list[str]:
    """Options and positions of a command that reads good files."""
    log, arm = str(good / 'log.npz'), str(good / 'arm.yaml')
    command = rng.choice(tuple(_OPTIONS))
    words = {
        'check': [log, '--arm', arm], 'convert': [log, '-o', 'out'],
        'pose-error': [arm], 'external-force': [arm, *_WRENCH],
        'export': [str(good / 'result'), '-o', 'out'],
        'design': [arm, '--time', '0.2', '--starts', '1', '--harmonics', '2', '-o', 'm.yaml',
                   '--export', 'm.csv'],
        'identify': [log, '--arm', arm, '--friction', 'viscous', '-o', 'out'],
        'gains': [log, '--arm', arm],
        'replay': [log, '--arm', arm, '-o', 'out'], 'init': [str(good / 'arm.urdf'), '-o', 'out'],
        'validate': [str(good / 'result'), log],
        'simulate': [arm, str(good / 'motion.yaml'), '-o', 'out'],
        'report': ['none'],
        'payload': [str(good / 'loaded.npz'), '--model', str(good / 'result')],
        'feedforward': [str(good / 'motion.yaml'), '--model', str(good / 'result'), '-o',
                        'out.yaml'],
        'monitor': [log, '--model', str(good / 'result'), '-o', 'out']}[command]
    for _ in range(rng.choice((1, 1, 2))):
        value = rng.choice((*NUMBERS, *TEXTS, 'viscous', 'joint_1', 'tool', '2', '0.5'))
        # Nothing is written outside of the folder of the case.
        value = value.replace('/', 'x').replace('..', 'x')
        if rng.randrange(8):
            words = [*words, rng.choice(_OPTIONS[command]), value]
        else:
            words[rng.randrange(len(words))] = value
    return [command, *words]


def live(rng: Random, good: Path) -> list[str]:
    """Joint states as they come: times, names, arrays and values."""
    from dynid_ros.arm import load_arm
    from dynid_ros.errors import DynidError
    from dynid_ros.estimation.online.online_identifier import OnlineIdentifier

    try:
        # Needs ROS 2, or what stands in for it.
        from dynid_ros.ros.nodes.common.joint_state_reader import JointStateReader
    except (DynidError, ImportError) as error:
        return ['', str(error)]
    arm = load_arm(good / 'arm.yaml')
    received = count(step=10**7)
    reader = JointStateReader(arm, now=lambda: next(received))
    online = OnlineIdentifier(arm, 'live', cutoff_hz=8.0, delay=0.0)
    odd = rng.choice((0.0, 0.01, 0.2))
    for at, (t, q, tau) in enumerate(zip(corpus.T, corpus.Q, corpus.TAU, strict=True)):
        message = SimpleNamespace(
            header=SimpleNamespace(stamp=SimpleNamespace(sec=int(t), nanosec=round(t % 1 * 1e9))),
            name=list(corpus.NAMES), position=q.tolist(), velocity=[], effort=tau.tolist())
        if rng.random() < odd:
            _spoil(rng, message)
        reader.add(message)
        if not at % 40:
            online.push_ns(*reader.take())
    try:
        online.push_ns(*reader.take())
        online.estimate()
        if not rng.randrange(RARE):
            online.result()
    except DynidError as error:
        return ['', str(error)]
    return ['']


def _spoil(rng: Random, message: SimpleNamespace) -> None:
    stamp, joints = message.header.stamp, message.name
    match rng.randrange(6):
        case 0:
            stamp.sec = rng.choice((0, -2**31, 2**31 - 1, stamp.sec - 5, stamp.sec + 3600))
        case 1:
            stamp.nanosec = rng.choice((0, 2**32 - 1))
        case 2:
            joints[rng.randrange(2)] = rng.choice((*TEXTS, 'joint_1'))
        case 3:
            message.position[rng.randrange(2)] = rng.choice(FLOATS)
        case 4:
            message.effort[rng.randrange(2)] = rng.choice(FLOATS)
        case _:
            values = rng.choice((joints, message.position, message.effort))
            values[:] = rng.choice(([], values[:1], 3 * values))


def _arm(rng: Random, name: str, text: str) -> list[str]:
    Path(name).write_bytes(utf8(mutated_text(rng, text)))
    if not rng.randrange(RARE):
        return ['design', name, '-o', 'm.yaml', '--time', '0.2', '--starts', '1', '--harmonics',
                '2', '--json']
    np.savez('log.npz', t=corpus.T, q=corpus.Q, tau=corpus.TAU)
    return rng.choice((
        _reading(rng, 'log.npz', name), ['external-force', name, *_WRENCH, '--json'],
        ['pose-error', name, '--json']))


def _reading(rng: Random, recording: str, arm: str) -> list[str]:
    if arm == 'arm.yaml' and not Path(arm).exists():
        Path(arm).write_text(corpus.ARM)
    if rng.randrange(RARE):
        return ['check', recording, '--arm', arm, '--json']
    common = [recording, '--arm', arm, '-o', 'out', '--json']
    if rng.randrange(3):
        return ['identify', *common, '--friction', 'viscous']
    return ['replay', *common]


#: Kinds by turns; those that compute for long come once.
KINDS: tuple[Case, ...] = (
    arm_yaml, urdf, table, options, result, bag, arm_yaml, urdf, table, options, result, bag,
    arm_yaml, urdf, motion, trajectory, live)
