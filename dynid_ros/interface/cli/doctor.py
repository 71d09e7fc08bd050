# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Show which parts of dynid work here, and which feature each missing part would add.

Look for Python packages, ROS 2, DDS, write access and threads. Its output is the first thing to
add to a bug report. Status 1 if something is missing that every command needs.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
import os
from pathlib import Path
import re
import sys

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.utilities.text import several

EVERY_COMMAND = 'every command'
#: Packages: name of the import, name on PyPI, and what they give.
PACKAGES = (
    *((name, name, EVERY_COMMAND) for name in ('numpy', 'numba', 'scipy', 'jinja2', 'tqdm')),
    ('pinocchio', 'pin', EVERY_COMMAND), ('yaml', 'pyyaml', EVERY_COMMAND),
    ('matplotlib', 'matplotlib', 'pictures of motions, contacts and estimates'),
    ('mujoco', 'mujoco', 'dynid simulate and demo'),
    ('rosbags', 'rosbags', 'bags without ROS 2'),
    ('mcap', 'mcap', 'MCAP bags without ROS 2'),
    ('viser', 'viser', 'dynid view and watch'),
    ('pyarrow', 'pyarrow', 'data sets of LeRobot'),
    ('distributed', 'dask[distributed]', 'dynid fleet'),
    ('fsspec', 'fsspec', 'fleets of bags behind URLs'),
    ('threadpoolctl', 'threadpoolctl', 'one thread in your own Python'),
    ('xacro', 'xacro', 'descriptions in xacro'),
    ('argcomplete', 'argcomplete', 'completion of commands by the shell'))
#: Packages that the nodes import and that only an installation of ROS 2 has. Not each one has all.
ROS_PACKAGES = (
    'builtin_interfaces', 'control_msgs', 'diagnostic_msgs', 'geometry_msgs', 'rcl_interfaces',
    'rosbag2_py', 'rosgraph_msgs', 'sensor_msgs', 'std_msgs', 'std_srvs', 'trajectory_msgs',
    'visualization_msgs')


@dataclass(frozen=True)
class Part:
    """One part: its name, whether it is there, what was found, and what it gives."""

    name: str
    there: bool
    found: str
    gives: str = ''
    needed: bool = False


def add_arguments(_: ArgumentParser) -> None:
    """Declare no arguments."""


def run(_: Namespace) -> Answer:
    """Look which parts are installed; status 1 if a needed part is missing."""
    import platform

    from dynid_ros import __version__

    python = f'Python {platform.python_version()}'
    parts = [Part('Python', True, f'{platform.python_version()}, {sys.executable}'),
             *(_package(*each) for each in PACKAGES), *_ros(), *_machine()]
    lacking = [part.name for part in parts if part.needed and not part.there]
    return Answer(
        {'version': __version__, 'platform': platform.platform(), 'ready': not lacking,
         'parts': parts},
        f'Not ready: {several(lacking)} must be there, and new enough, for every command.'
        if lacking else
        f'Ready: dynid {__version__}, {python}, {platform.system()} {platform.machine()}.',
        int(bool(lacking)), [['part', 'found', ''], *(
            [part.name, part.found, '' if part.there else f'would give {part.gives}']
            for part in parts)])


def _package(module: str, package: str, gives: str) -> Part:
    from importlib.metadata import PackageNotFoundError, version

    name, there = package.partition('[')[0], find_spec(module) is not None
    found = f"missing: pip install '{package}'"
    if there:
        try:
            found, oldest = version(name), _oldest().get(name, '')
        except PackageNotFoundError:
            found, oldest = 'of another installer', ''
        if oldest and _release(found) < _release(oldest):
            there, found = False, (
                f"{found} is older than {oldest}: pip install '{name}>={oldest}'")
    return Part(module, there, found, gives, gives == EVERY_COMMAND)


def _oldest() -> dict[str, str]:
    """Return the least versions by the names on PyPI, as setup.py states them."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        stated = requires('dynid_ros') or []
    except PackageNotFoundError:
        return {}
    found = (re.match(r'([\w-]+)>=([\d.]+)$', each) for each in stated)
    return {each[1]: each[2] for each in found if each}


def _release(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r'\d+', version)[:3]))


def _ros() -> Iterator[Part]:
    """Look for ROS 2 or its stand-in, and send a message from one process to another."""
    from dynid_ros.ros.stand_in import step_in

    spec, installed = find_spec('rclpy'), sorted(Path('/opt/ros').glob('*/setup.bash'))
    found = (f'{os.environ.get("ROS_DISTRO", "of unknown name")} in {spec.origin}' if spec else
             f'not sourced: . {installed[-1]}' if installed else 'not installed')
    yield Part('ROS 2', spec is not None, found, 'nodes in a colcon workspace, rosbag2_py, launch')
    if spec is not None:
        lacking = [name for name in ROS_PACKAGES if find_spec(name) is None]
        yield Part(
            'ROS 2 packages', not lacking, f'{several(lacking)} missing: '
            'rosdep install --from-paths src -i' if lacking else 'all that the nodes import',
            'nodes')
    stand_in = _package('cyclonedds', 'cyclonedds', 'nodes without ROS 2, dynid demo')
    if spec is None:
        yield replace(
            stand_in, name='its stand-in', found=f'Cyclone DDS {stand_in.found}')
    if spec is not None or stand_in.there:
        # Where there is no ROS 2, its stand-in has to step in before anything imports rclpy.
        step_in()
        from dynid_ros.ros.nodes.common.dds_trial import message_time, TRIAL_SECONDS

        took = message_time()
        domain = os.environ.get('ROS_DOMAIN_ID', '0')
        yield Part('DDS', took is not None, f'nothing heard within {TRIAL_SECONDS:g} s'
                   if took is None else f'a message came after {took:.1f} s, domain {domain}',
                   'nodes that hear each other; look at firewall, multicast and ROS_DOMAIN_ID')


def _machine() -> Iterator[Part]:
    """Look at processors and threads, and where dynid writes."""
    import tempfile

    import dynid_ros

    usable = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()
    yield Part('threads', True, f'{usable} of {os.cpu_count()} processors, '
               f'{os.environ.get("OMP_NUM_THREADS", "all")} for linear algebra')
    cache = os.environ.get('NUMBA_CACHE_DIR') or Path(dynid_ros.__file__).parent
    for name, folder, gives in (
            ('current folder', Path.cwd(), 'results in it'),
            ('temporary folder', tempfile.gettempdir(), 'locks and fault reports'),
            ('kernel cache', cache,
             'compiled kernels of the next start; set NUMBA_CACHE_DIR')):
        there = os.access(folder, os.W_OK | os.X_OK)
        yield Part(name, there, f'{folder} {"can" if there else "cannot"} be written', gives)
