# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Size of each room, as a table, and which imports which, as the picture in CONTRIBUTING.

    python benchmarks/house.py [docs/figures/house.svg]

Lines of code are neither blank, comment, docstring nor import. Imports are read from the source,
those inside functions and for type hints included. Exits with 1 and names every import that goes
upwards.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
import sys

SOURCE = Path(__file__).resolve().parents[1] / 'dynid_ros'
#: The module beside the wings: errors.
GROUND = 'ground'
#: Wings from the ground up; in one wing, a room may import those on its left.
FLOORS = (
    (GROUND, 'utilities'),
    ('arm/description', 'arm'),
    ('dynamics', 'dynamics/kinematics'),
    ('data/clocks', 'data/recordings', 'data/signals', 'data/streaming', 'data/tables',
     'data/files'),
    ('estimation/blocks', 'estimation/estimate', 'estimation/model', 'estimation/band',
     'estimation/diagnosis', 'estimation/suspects', 'estimation/calibration',
     'estimation/verdict', 'estimation/identification', 'estimation/online',
     'estimation/result_files'),
    ('motion/trajectory', 'motion/feasibility', 'motion/excitation', 'motion/execution'),
    ('simulation',),
    ('applications/payload', 'applications/sensor', 'applications/contact',
     'applications/export', 'applications/rollout', 'applications/fleet'),
    ('pages/report', 'pages/viewer/sources', 'pages/viewer/scene', 'pages/viewer'),
    ('ros/stand_in', 'ros/nodes/common', 'ros/nodes/motion', 'ros/nodes/recording',
     'ros/nodes/simulated', 'ros/nodes'),
    ('interface/demo', 'interface/answers', 'interface/cli/common', 'interface/python',
     'interface/cli'),
)
#: Files of a room, without its __init__.py.
FEWEST, MOST = 3, 14
#: The room with a file for each command, however many there are.
COMMANDS = 'interface/cli'
#: Files below so many lines are counted.
SHORT = (60, 100)


@dataclass
class Room:
    """What one room holds."""

    lines: dict[str, int] = field(default_factory=dict)
    code: int = 0
    classes: int = 0
    data_classes: int = 0
    constants: int = 0


@dataclass(frozen=True)
class Import:
    """One module that imports something of another room."""

    module: str
    line: int
    source: str
    target: str


@dataclass(frozen=True)
class House:
    """All rooms and the imports between them."""

    rooms: dict[str, Room]
    imports: tuple[Import, ...]

    @property
    def edges(self) -> set[tuple[str, str]]:
        """Pairs of rooms of which the first imports the second."""
        return {(each.source, each.target) for each in self.imports}

    def upwards(self) -> list[Import]:
        """Return the imports of rooms that are not below, or that stand on no floor."""
        order = [room for floor in FLOORS for room in floor]
        return [each for each in self.imports
                if not {each.source, each.target} <= set(order)
                or order.index(each.target) >= order.index(each.source)]

    def unplaced(self) -> list[str]:
        """Return rooms that stand on no floor, and rooms of a floor that are not there."""
        return sorted(set(self.rooms) ^ {room for floor in FLOORS for room in floor})

    def wrong_sizes(self) -> dict[str, int]:
        """Return the rooms with too few or too many files, and how many they have."""
        return {name: len(room.lines) for name, room in self.rooms.items()
                if name not in (GROUND, COMMANDS) and not FEWEST <= len(room.lines) <= MOST}


def survey(source: Path = SOURCE) -> House:
    """
    Read a package.

    Parameters
    ----------
    source : Path
        Folder of the package.

    Returns
    -------
    House
        Its rooms, and the imports between different ones.

    """
    rooms: dict[str, Room] = defaultdict(Room)
    imports = []
    # The public face offers what lies in the rooms, and belongs to none.
    for path in sorted(set(source.rglob('*.py')) - {source / '__init__.py'}):
        name = _room(source, path.parent)
        text = path.read_text(encoding='utf-8')
        tree = ast.parse(text)
        if path.name != '__init__.py':
            room = rooms[name]
            room.lines[path.name] = len(text.splitlines())
            room.code += lines_of_code(text, tree)
            room.classes += sum(isinstance(node, ast.ClassDef) for node in ast.walk(tree))
            room.data_classes += sum(map(_is_data_class, ast.walk(tree)))
            room.constants += sum(map(_constants, tree.body))
        module = path.relative_to(source.parent).as_posix()
        imports += [
            Import(module, line, name, target)
            for line, target in _imported_rooms(source, tree) if target != name]
    return House(dict(rooms), tuple(imports))


def _room(source: Path, folder: Path) -> str:
    return folder.relative_to(source).as_posix().replace('.', GROUND)


def lines_of_code(text: str, tree: ast.Module) -> int:
    """Count lines that are neither blank, comment, docstring nor import."""
    other: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            other.update(range(node.lineno, (node.end_lineno or 0) + 1))
        elif (isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
              and ast.get_docstring(node, clean=False) is not None):
            other.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return sum(bool(line.strip()) and not line.strip().startswith('#') and number not in other
               for number, line in enumerate(text.splitlines(), 1))


def _constants(node: ast.stmt) -> int:
    targets = node.targets if isinstance(node, ast.Assign) else [
        node.target] if isinstance(node, ast.AnnAssign) else []
    return sum(isinstance(each, ast.Name) and each.id.isupper()
               for target in targets for each in ast.walk(target))


def _is_data_class(node: ast.AST) -> bool:
    if not isinstance(node, ast.ClassDef):
        return False
    decorators = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    names = [ast.unparse(x) for x in (*decorators, *node.bases)]
    return not {'dataclass', 'NamedTuple'}.isdisjoint(names)


def _imported_rooms(source: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # What is imported may be a module itself.
            modules = [f'{node.module}.{alias.name}' for alias in node.names]
        else:
            continue
        for module in modules:
            package, *parts = module.split('.')
            if package == source.name:
                yield node.lineno, _room(source, _folder(source, parts))


def _folder(source: Path, parts: list[str]) -> Path:
    """Innermost folder of a dotted name."""
    folder = source
    for part in parts:
        if not (folder / part).is_dir():
            break
        folder = folder / part
    return folder


def reduced(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the edges that do not follow from others: the transitive reduction."""
    below = defaultdict(set)
    for upper, lower in edges:
        below[upper].add(lower)

    def reach(room: str, seen: set[str]) -> set[str]:
        for lower in below[room] - seen:
            seen.add(lower)
            reach(lower, seen)
        return seen

    return {(upper, lower) for upper, lower in edges
            if not any(lower in reach(between, set()) for between in below[upper] - {lower})}


#: Size of the picture, px, with the margin for the names of the wings.
WIDTH, MARGIN, STEP, BOX = 1300, 110, 84, 34


def draw(house: House) -> str:
    """Draw the rooms on their floors, with the imports that do not follow from others."""
    places = {}
    for height, floor in enumerate(reversed(FLOORS)):
        for number, room in enumerate(floor):
            x = MARGIN + (WIDTH - MARGIN) * (number + 1) / (len(floor) + 1)
            places[room] = (x, 40 + STEP * height)
    wrong = {(each.source, each.target) for each in house.upwards()}
    edges = [pair for pair in sorted(reduced(house.edges) | wrong)
             if set(pair) <= set(places)]
    lines = [_edge(places[upper], places[lower], (upper, lower) in wrong)
             for upper, lower in edges]
    boxes = [_box(room, place) for room, place in places.items() if room in house.rooms]
    bottom = 40 + STEP * (len(FLOORS) - 1) + 40
    floors = [
        f'<text x="12" y="{44 + STEP * height}" class="floor">{floor[-1].split("/")[0]}</text>'
        for height, floor in enumerate(reversed(FLOORS))]
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="14" text-anchor="middle">',
        '<style>.floor { fill: #999; font-size: 12px; text-anchor: start; }'
        ' path { fill: none; stroke: #8aa3b8; } path.up { stroke: #c0392b; stroke-width: 3; }'
        '</style>',
        f'<rect width="{WIDTH}" height="{bottom}" fill="#fff"/>',
        *floors, *lines, *boxes, '</svg>', ''])


def shown(room: str) -> str:
    """Name a room without its wing, which the picture states once."""
    return room.partition('/')[2] or room


def _box(room: str, place: tuple[float, float]) -> str:
    (x, y), name = place, shown(room)
    width = 22 + 8.2 * len(name)
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - BOX / 2:.1f}" width="{width:.1f}" '
        f'height="{BOX}" rx="6" fill="#eef3f7" stroke="#4a6a85"/>'
        f'<text x="{x:.1f}" y="{y + 5:.1f}">{name}</text>')


def _edge(upper: tuple[float, float], lower: tuple[float, float], wrong: bool) -> str:
    (x1, y1), (x2, y2) = upper, lower
    kind = ' class="up"' if wrong else ''
    if y1 == y2:
        # On one floor: an arc below the boxes.
        y = y1 + BOX / 2
        return f'<path{kind} d="M{x1:.1f} {y:.1f} C{x1:.1f} {y + 26:.1f} {x2:.1f} {y + 26:.1f} ' \
               f'{x2:.1f} {y:.1f}"/>'
    y1, y2 = y1 + BOX / 2, y2 - BOX / 2
    bend = 0.4 * (y2 - y1)
    return f'<path{kind} d="M{x1:.1f} {y1:.1f} C{x1:.1f} {y1 + bend:.1f} {x2:.1f} ' \
           f'{y2 - bend:.1f} {x2:.1f} {y2:.1f}"/>'


def main(arguments: list[str]) -> int:
    """Print the table, draw the picture, and name what goes upwards."""
    house = survey()
    print('| floor | room | files | lines | code | classes | data classes | constants |')
    print('|---|---|---|---|---|---|---|---|')
    for height, floor in enumerate(FLOORS):
        for name in floor:
            room = house.rooms.get(name, Room())
            print(f'| {height} | {name} | {len(room.lines)} | {sum(room.lines.values())} '
                  f'| {room.code} | {room.classes} | {room.data_classes} | {room.constants} |')
    every = [lines for room in house.rooms.values() for lines in room.lines.values()]
    shares = ', '.join(f'{sum(n < most for n in every)} below {most} lines' for most in SHORT)
    code, classes, data_classes, constants = (
        sum(getattr(room, what) for room in house.rooms.values())
        for what in ('code', 'classes', 'data_classes', 'constants'))
    print(f'\n{len(every)} files in {len(house.rooms) - 1} rooms ({shares}); {code} lines of '
          f'code, {classes} classes, of which {data_classes} of data, {constants} constants')
    for path in map(Path, arguments):
        path.write_text(draw(house), encoding='utf-8')
        print(f'wrote {path}')
    for name in house.unplaced():
        print(f'{name} stands on no floor, or is not there', file=sys.stderr)
    for name, count in house.wrong_sizes().items():
        print(f'{name} has {count} files, not {FEWEST} to {MOST}', file=sys.stderr)
    for each in house.upwards():
        print(f'{each.module}:{each.line}: {each.source} imports {each.target}, which is not '
              'below it', file=sys.stderr)
    return 1 if house.upwards() or house.unplaced() or house.wrong_sizes() else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
