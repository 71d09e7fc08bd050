# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The rooms of the package: their size, and imports that go downwards only."""

import ast
from collections import defaultdict
from pathlib import Path
import re
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / 'benchmarks'


@pytest.fixture(scope='module')
def house():
    sys.path.insert(0, str(BENCHMARKS))
    import house

    yield house
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope='module')
def found(house):
    return house.survey()


def test_imports_go_downwards_only(found):
    assert not [f'{each.module}:{each.line} imports {each.target}' for each in found.upwards()]


def test_no_room_below_the_nodes_imports_ros():
    ros = re.compile(r'^\s*(?:from|import) (?:rclpy|\w+_msgs|std_srvs)\b', re.MULTILINE)
    importing = {path.relative_to(ROOT / 'dynid_ros').parts[0]
                 for path in (ROOT / 'dynid_ros').rglob('*.py') if ros.search(path.read_text())}
    assert importing == {'ros', 'interface'}


def test_every_room_stands_on_a_floor_and_has_3_to_14_files(found):
    assert found.unplaced() == []
    assert found.wrong_sizes() == {}


def test_the_picture_shows_every_room(house, found):
    drawn = (ROOT / 'docs' / 'figures' / 'house.svg').read_text()
    missing = [room for room in found.rooms
               if f'>{house.shown(room)}</text>' not in drawn]
    assert not missing, 'run: python benchmarks/house.py docs/figures/house.svg'


def test_an_import_upwards_is_named_wherever_it_stands(house, tmp_path):
    low, high = (tmp_path / 'small' / room for room in ('arm', 'interface/cli/common'))
    for room in (low, high):
        room.mkdir(parents=True)
        (room / 'b.py').touch()
    (low / 'a.py').write_text(
        'def late():\n    from small.interface.cli.common import b\n    return b\n')
    (high / 'a.py').write_text('import small.arm.a\n')
    [found] = house.survey(tmp_path / 'small').upwards()
    assert (found.module, found.line) == ('small/arm/a.py', 2)
    assert (found.source, found.target) == ('arm', 'interface/cli/common')


def test_a_constant_has_a_name_of_its_own():
    # Private names stay in their module, and each node declares its parameters as SETTINGS.
    values = defaultdict(set)
    for path in (ROOT / 'dynid_ros').rglob('*.py'):
        for node in ast.parse(path.read_text()).body:
            for name, value in constants_of(node):
                values[name].add(value)
    assert len(values) > 1000
    assert {name: own for name, own in values.items()
            if len(own) > 1 and name != 'SETTINGS' and not name.startswith('_')} == {}


def constants_of(node):
    """Yield the constants that a statement assigns, with their values as source."""
    targets = (node.targets if isinstance(node, ast.Assign) else
               [node.target] if isinstance(node, ast.AnnAssign) and node.value else [])
    for target in targets:
        several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        pairs = zip(target.elts, node.value.elts, strict=False) if several else [
            (target, node.value)]
        yield from ((each.id, ast.unparse(value)) for each, value in pairs
                    if isinstance(each, ast.Name) and each.id.isupper())
