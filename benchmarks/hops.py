# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Count what a reader meets on the way of a command from its arguments to its output.

    python benchmarks/hops.py identify RECORDING --arm panda
    python benchmarks/hops.py replay RECORDING --arm panda
    python benchmarks/hops.py design panda

Any command with ``--output`` and its arguments can be given; the output goes to a temporary
folder. The command runs in this process, so that every call of the package is seen; another
process runs it before, so that kernels are compiled. To count another version of the package, put
its folder first in PYTHONPATH.

A module counts if a function of it is entered; a function counts once, however often it is called,
and no comprehension, lambda or template does; a data class or named tuple counts if an object of
it is made. Calls during an import, such as those that make constants, do not count. The nesting
counts calls of the package, not of other libraries. The table by room shows where
versions do different work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass, field, is_dataclass
from importlib import import_module
import io
from pathlib import Path
import subprocess
import sys
import tempfile
import threading
from types import CodeType, FrameType
from typing import Any

from shared.tables import heading, row

PACKAGE = 'dynid_ros'
RUN = f'import sys; from {PACKAGE}.interface.cli.main import main; main(sys.argv[1:])'


@dataclass
class Way:
    """
    Calls of one package, as a profiler sees them.

    Attributes
    ----------
    root : str
        Folder of the package.
    functions : set of code
        Those entered.
    made : set of str
        Data classes of which an object was made.
    deepest : list of str
        Functions of the deepest nesting, from the outermost on.

    """

    root: str
    functions: set[CodeType] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    deepest: list[str] = field(default_factory=list)

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """Take in an event of `sys.setprofile`."""
        if event != 'call':
            return
        code = frame.f_code
        if code.co_filename.startswith('<string') and code.co_name in ('__init__', '__new__'):
            # Of a data class or of a named tuple: both are generated.
            first = frame.f_locals.get(code.co_varnames[0])
            if not self._in_import(frame):
                self._make(first if isinstance(first, type) else type(first))
        elif (self._is_ours(code) and code not in self.functions
              and not self._in_import(frame)):
            self.functions.add(code)
            self._measure(frame)

    def _make(self, kind: type) -> None:
        named = issubclass(kind, tuple) and hasattr(kind, '_fields')
        if kind.__module__.startswith(f'{PACKAGE}.') and (named or is_dataclass(kind)):
            self.made.add(f'{kind.__module__}.{kind.__qualname__}')

    def _in_import(self, frame: FrameType | None) -> bool:
        while frame is not None:
            code = frame.f_code
            if code.co_name == '<module>' and code.co_filename.startswith(self.root):
                return True
            frame = frame.f_back
        return False

    def _measure(self, frame: FrameType | None) -> None:
        """Keep the nesting of a call, if none was deeper."""
        nested: list[str] = []
        while frame is not None:
            code = frame.f_code
            if self._is_ours(code):
                nested.append(f'{self.module(code)}.{code.co_name}')
            frame = frame.f_back
        if len(nested) > len(self.deepest):
            self.deepest = nested[::-1]

    def _is_ours(self, code: CodeType) -> bool:
        return (code.co_filename.startswith(self.root) and code.co_filename.endswith('.py')
                and not code.co_name.startswith('<'))

    def module(self, code: CodeType) -> str:
        """Return the dotted name of the module of a function."""
        path = Path(code.co_filename).relative_to(Path(self.root).parent)
        return '.'.join(path.with_suffix('').parts)

    @property
    def modules(self) -> set[str]:
        """Return the modules whose functions were entered."""
        return {self.module(code) for code in self.functions}


def walk(run: Callable[[], int], root: str) -> tuple[int, Way]:
    """Run a function, and return its result and the way that it took."""
    way = Way(root)
    threading.setprofile(way.watch)
    sys.setprofile(way.watch)
    try:
        status = run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return status, way


def rooms(modules: Iterable[str]) -> Counter[str]:
    """Count modules by the folder that they lie in."""
    return Counter('/'.join(module.split('.')[1:-1]) or 'ground' for module in modules)


def main(arguments: list[str]) -> int:
    """Print the table of one command."""
    package = import_module(PACKAGE)
    command = import_module(f'{PACKAGE}.interface.cli.main').main
    assert package.__file__ is not None
    root = str(Path(package.__file__).parent) + '/'
    with tempfile.TemporaryDirectory() as folder:
        words = [*arguments, '--output', str(Path(folder, 'output.yaml'))]
        subprocess.run(
            [sys.executable, '-c', RUN, *words], stdout=subprocess.DEVNULL, check=False)
        with redirect_stdout(io.StringIO()):
            status, way = walk(lambda: command(words), root)
    version = getattr(package, '__version__', '')
    print(f'{PACKAGE} {version}: dynid {" ".join(words[:-2])} ended with {status}\n')
    heading('on the way', 'count')
    for name, count in (
            ('modules entered', len(way.modules)), ('functions entered', len(way.functions)),
            ('data classes made', len(way.made)), ('deepest nesting', len(way.deepest))):
        row(name, count)
    modules = rooms(way.modules)
    functions, classes = rooms(map(way.module, way.functions)), rooms(
        name.rpartition('.')[0] for name in way.made)
    print()
    heading('room', 'modules', 'functions', 'data classes')
    for room in sorted(modules | classes):
        row(room, modules[room], functions[room], classes[room])
    print('\ndeepest:\n  ' + '\n  '.join(way.deepest))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
