# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Fixtures shared by all tests, and what happens where a package is missing."""

from collections.abc import Iterator
from functools import cache
import gc
from importlib.util import find_spec
import os
from pathlib import Path
import re
from typing import Any

from hypothesis import settings
from left_behind import watch
import pytest

import dynid_ros.utilities.threads  # noqa: F401 (before anything imports NumPy)

#: Packages that only PyPI has, which a machine with ROS 2 may lack, and one that only ROS 2 has.
OPTIONAL = ('distributed', 'fsspec', 'launch_testing', 'mcap', 'mujoco', 'pandas', 'psutil',
            'pyarrow', 'rosbags', 'threadpoolctl', 'trimesh', 'viser')
MISSING = {name for name in OPTIONAL if find_spec(name) is None}
if not any(find_spec(name) for name in ('rclpy', 'cyclonedds')):
    MISSING |= {'cyclonedds', 'rclpy'}
#: Folders whose tests run nodes.
NODES = ('interface/demo', 'ros/motion', 'ros/nodes', 'ros/stand_in', 'launch')
#: The longest files: one that begins last would be waited for.
LONGEST = ('test_site.py', 'test_linters.py', 'estimation/suspects/test_planted_faults.py',
           'interface/demo/test_demo.py', 'ros/motion/test_lockstep.py',
           'ros/motion/test_lost_listeners.py', 'estimation/suspects/test_table.py',
           'interface/python/test_public_face.py', 'applications/fleet/test_command.py',
           'estimation/suspects/test_gravity.py', 'applications/export/test_pinocchio_program.py',
           'applications/payload/test_payload.py', 'interface/python/test_notebook.py',
           'simulation/test_record.py')
#: What needs rclpy, or cyclonedds to stand in for it.
ROS = re.compile(r'^(?:from|import) (rclpy|\w+_msgs|std_srvs|dynid_ros\.(ros|interface\.demo))\b',
                 re.MULTILINE)


def _imported(path: Path) -> set[str]:
    """Return the packages that a test file imports at once, itself or through its neighbours."""
    text = path.read_text()
    names = set(re.findall(r'^(?:from|import) (\w+)', text, re.MULTILINE))
    names |= {'rclpy'} if ROS.search(text) else set()
    for name in tuple(names):
        neighbour = path.with_name(f'{name}.py')
        if neighbour.exists():
            names |= _imported(neighbour)
    return names


def compile_once() -> None:
    """Compile the kernels before there are workers, each of which would compile all of them."""
    if MISSING & {'mujoco', 'rclpy'}:
        return
    from dynid_ros.arm import load_arm
    from dynid_ros.ros.nodes.warm_up import compile_kernels

    compile_kernels(load_arm('two_axis'), print)


FOLDER = Path(__file__).resolve().parent
LEFT_OUT = {
    path for path in FOLDER.rglob('test_*.py')
    if MISSING and _imported(path) & MISSING}
collect_ignore = [str(path) for path in LEFT_OUT]


def pytest_configure(config: pytest.Config) -> None:
    """Let nothing that this run starts outlive it, and draw the same examples where CI is set."""
    watch()
    if getattr(config.option, 'numprocesses', None):
        compile_once()
    else:
        # Of the thousands of modules that are collected next, none is garbage.
        gc.disable()
    # Recent versions of Hypothesis do so by themselves; that of Ubuntu 24.04 does not.
    # An example takes as long as the machine lets it.
    settings.register_profile(
        'same_examples', derandomize=bool(os.environ.get('CI')), deadline=None)
    settings.load_profile('same_examples')


class NothingCollected(pytest.Item):
    """A test that fails and names the files from which no test was collected."""

    def runtest(self) -> None:
        """Fail."""
        pytest.fail(f'no test was collected from {self.name}; a file that skips at import, or a '
                    'plugin, ends the collection', pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Order the files, and fail a complete run in which a file of tests is missing."""
    paths = dict.fromkeys(item.path for item in items)
    with_nodes = {path for path in paths if _folder(path) in NODES}
    for item in items:
        if item.path in with_nodes:
            item.add_marker('nodes')
    places = _places(list(paths))
    items.sort(key=lambda item: places[item.path])
    config = session.config
    if (config.args_source is not config.ArgsSource.TESTPATHS
            or any(config.getoption(name, None) for name in ('lf', 'ignore', 'ignore_glob'))):
        return
    files = set(FOLDER.rglob('test_*.py')) - LEFT_OUT - {path.resolve() for path in paths}
    if files:
        names = ', '.join(sorted(path.relative_to(FOLDER).as_posix() for path in files))
        items.insert(0, NothingCollected.from_parent(session, name=names))


def pytest_collection_finish() -> None:
    """Search for cycles less often, and not in modules: it takes a twentieth of the time."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


def _places(paths: list[Path]) -> dict[Path, float]:
    """
    Return the place of each test file in the order of a run.

    The longest come first. Nodes mostly wait, so their files are spread evenly among the others,
    and both processors are busy all the time.
    """
    places = {FOLDER / name: k - float(len(LONGEST)) for k, name in enumerate(LONGEST)}
    rest = [path for path in paths if path not in places]
    for nodes in (True, False):
        kind = [path for path in rest if (_folder(path) in NODES) == nodes]
        places |= {path: (k + 0.5) / len(kind) for k, path in enumerate(kind)}
    return places


@cache
def _folder(path: Path) -> str:
    """Return the folder of a test file below test/."""
    return path.resolve().relative_to(FOLDER).parent.as_posix()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was left out."""
    if MISSING:
        files = ', '.join(sorted(path.name for path in LEFT_OUT)) or 'no file'
        terminalreporter.write_line(
            f'not installed: {", ".join(sorted(MISSING))}; left out: {files}')


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Skip where a fixture needs a package that is missing."""
    yield from _skip_what_lacks_a_package()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip where a test needs a package that is missing."""
    yield from _skip_what_lacks_a_package()


def _skip_what_lacks_a_package() -> Iterator[None]:
    outcome = yield
    error = outcome.excinfo and (outcome.excinfo[1].__cause__ or outcome.excinfo[1])
    if isinstance(error, ModuleNotFoundError) and error.name in MISSING:
        outcome.force_exception(pytest.skip.Exception(f'{error.name} is not installed'))


@pytest.fixture(scope='session')
def shared_data() -> Path:
    """Folder with recordings of real arms, which are not part of the project."""
    folder = Path(__file__).resolve().parents[2] / 'shared' / 'data'
    if not folder.is_dir():
        pytest.skip('recordings of real arms (../shared/data) are not on this machine')
    return folder


@pytest.fixture(scope='module')
def figures_alone() -> Iterator[None]:
    """Judge results by their figures alone, for files that ask for nothing else."""
    from estimates import without_suspects

    with without_suspects():
        yield
