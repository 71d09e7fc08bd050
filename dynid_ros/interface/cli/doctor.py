"""
See which parts of dynid work here, and what the missing ones would give.

Look for Python packages, ROS 2, DDS, write access and threads. Its output is the first thing to
add to a bug report. Status 1 if something is missing that every command needs.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
import os
from pathlib import Path
import sys
import time

from dynid_ros import __version__
from dynid_ros.interface.cli.common.output import add_answer, answer
from dynid_ros.utilities.text import several

#: Packages that every command needs: name of the import, and on PyPI.
NEEDED = {'numpy': 'numpy', 'numba': 'numba', 'scipy': 'scipy', 'pinocchio': 'pin',
          'yaml': 'pyyaml', 'jinja2': 'jinja2', 'tqdm': 'tqdm'}
#: Other packages: name on PyPI, and what they give.
OPTIONAL = {
    'matplotlib': ('matplotlib', 'pictures of motions, contacts and estimates'),
    'mujoco': ('mujoco', 'dynid simulate and demo'),
    'rosbags': ('rosbags', 'bags without ROS 2'),
    'mcap': ('mcap', 'MCAP bags without ROS 2'),
    'viser': ('viser', 'dynid view and watch'),
    'distributed': ('dask[distributed]', 'dynid fleet'),
    'fsspec': ('fsspec', 'fleets of bags behind URLs'),
    'threadpoolctl': ('threadpoolctl', 'one thread in your own Python'),
    'xacro': ('xacro', 'a second reader of xacro files'),
    'argcomplete': ('argcomplete', 'completion of commands by the shell')}
#: Topic of a trial of DDS, its message, and the longest wait for it, s.
TOPIC, WORD, PATIENCE = 'dynid_doctor', 'well', 10.0


@dataclass(frozen=True)
class Part:
    """One part: its name, whether it is there, what was found, and what it gives."""

    name: str
    there: bool
    found: str
    gives: str
    needed: bool = False


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_answer(parser)


def run(args: Namespace) -> int:
    """Examine, and print what is there; status 1 if something needed is missing."""
    import platform

    parts = [Part('Python', True, f'{platform.python_version()}, {sys.executable}', ''),
             *_packages(), *_ros(), *_machine()]
    lacking = [part.name for part in parts if part.needed and not part.there]
    line = (f'Not ready: {several(lacking)} must be there for every command.' if lacking else
            f'Ready: dynid {__version__}, Python {platform.python_version()}, '
            f'{platform.system()} {platform.machine()}.')
    answer(args, {
        'version': __version__, 'platform': platform.platform(), 'ready': not lacking,
        'parts': [asdict(part) for part in parts],
    }, line, table=[['part', 'found', ''], *(
        [part.name, part.found, '' if part.there else f'would give {part.gives}']
        for part in parts)])
    return int(bool(lacking))


def _packages() -> Iterator[Part]:
    for module, package in NEEDED.items():
        yield _package(module, package, 'every command', True)
    for module, (package, gives) in OPTIONAL.items():
        yield _package(module, package, gives, False)


def _package(module: str, package: str, gives: str, needed: bool) -> Part:
    from importlib.metadata import PackageNotFoundError, version

    there = find_spec(module) is not None
    try:
        found = (version(package.partition('[')[0]) if there else
                 f"missing: pip install '{package}'")
    except PackageNotFoundError:
        found = 'of another installer'
    return Part(module, there, found, gives, needed)


def _ros() -> Iterator[Part]:
    """Look for ROS 2 or its stand-in, and send a message from one process to another."""
    from importlib.metadata import version

    spec, installed = find_spec('rclpy'), sorted(Path('/opt/ros').glob('*/setup.bash'))
    if spec is not None:
        found = f'{os.environ.get("ROS_DISTRO", "of unknown name")} in {spec.origin}'
    elif installed:
        found = f'not sourced: . {installed[-1]}'
    else:
        found = 'not installed'
    yield Part('ROS 2', spec is not None, found, 'nodes in a colcon workspace, rosbag2_py, launch')
    stand_in = find_spec('cyclonedds') is not None
    if spec is None:
        yield Part('its stand-in', stand_in, f'Cyclone DDS {version("cyclonedds")}' if stand_in
                   else 'missing: pip install cyclonedds', 'nodes without ROS 2, dynid demo')
    if spec is not None or stand_in:
        took = _message_time()
        domain = os.environ.get('ROS_DOMAIN_ID', '0')
        yield Part('DDS', took is not None, f'nothing heard within {PATIENCE:g} s'
                   if took is None else f'a message came after {took:.1f} s, domain {domain}',
                   'nodes that hear each other; look at firewall, multicast and ROS_DOMAIN_ID')


def _message_time() -> float | None:
    """Wait for a message of another process, s; None where none comes."""
    import subprocess

    from dynid_ros.ros.stand_in import step_in

    step_in()
    import rclpy
    from rclpy.node import Node
    from rclpy.signals import SignalHandlerOptions
    from std_msgs.msg import String

    heard, began = list[str](), time.monotonic()
    code = f'from {__name__} import talk; talk()'
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Node('dynid_doctor')
        node.create_subscription(String, TOPIC, lambda message: heard.append(message.data), 1)
        with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as other:
            while WORD not in heard and time.monotonic() < began + PATIENCE:
                rclpy.spin_once(node, timeout_sec=0.1)
            other.terminate()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
    return time.monotonic() - began if WORD in heard else None


def talk() -> None:
    """Send the word until this process is ended, as the other one of the trial."""
    from dynid_ros.ros.stand_in import step_in

    step_in()
    import rclpy
    from rclpy.node import Node
    from std_msgs.msg import String

    rclpy.init(args=[])
    publisher = Node('dynid_doctor_talker').create_publisher(String, TOPIC, 1)
    for _ in range(int(10 * PATIENCE)):
        publisher.publish(String(data=WORD))
        time.sleep(0.1)


def _machine() -> Iterator[Part]:
    """Look at processors and threads, and try to write where dynid does."""
    import tempfile

    import dynid_ros

    usable = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()
    yield Part('threads', True, f'{usable} of {os.cpu_count()} processors, '
               f'{os.environ.get("OMP_NUM_THREADS", "all")} for linear algebra', '')
    cache = os.environ.get('NUMBA_CACHE_DIR')
    for name, folder, gives in (
            ('current folder', Path.cwd(), 'results in it'),
            ('temporary folder', Path(tempfile.gettempdir()), 'locks and fault reports'),
            ('kernel cache', Path(cache or Path(dynid_ros.__file__).parent),
             'compiled kernels of the next start; set NUMBA_CACHE_DIR')):
        there = _writable(folder)
        yield Part(name, there, f'{folder} {"can" if there else "cannot"} be written', gives)


def _writable(folder: Path) -> bool:
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
