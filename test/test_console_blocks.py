# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Commands in the ``console`` blocks of README and docs print what stands below them."""

from math import isclose
from pathlib import Path
import re
import shlex

import pytest

from dynid_ros.interface.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r'^```console\n(.*?)^```$', re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r'-?\d+(?:\.\d+)?')
PAGES = [path for path in (ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md')))
         if BLOCK.search(path.read_text())]


def differs(printed, expected):
    """Return the first line that differs by more than a tenth of its numbers; ``...`` fits any."""
    for line, wanted in zip(printed, expected, strict=False):
        if wanted.strip() == '...':
            return None
        pairs = zip(NUMBER.findall(line), NUMBER.findall(wanted), strict=False)
        words = [' '.join(NUMBER.sub('#', text).split()) for text in (line, wanted)]
        if words[0] != words[1] or not all(
                isclose(float(a), float(b), rel_tol=0.1, abs_tol=0.06) for a, b in pairs):
            return line, wanted
    return None if len(printed) == len(expected) else (printed, expected)


@pytest.mark.slow
@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page, tmp_path, monkeypatch, capsys):
    # Recordings of real arms are not part of the project; without them their blocks are not run.
    for path in (ROOT.parent / 'shared' / 'data').glob('*/*.db3'):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    for block in BLOCK.findall(page.read_text()):
        for part in re.split(r'^\$ ', block, flags=re.MULTILINE)[1:]:
            command, *expected = part.rstrip('\n').split('\n')
            words = shlex.split(command)
            missing = [word for word in words if word.endswith('.db3')
                       and not Path(word).exists()]
            if not missing:
                main(words[1:])
                printed = capsys.readouterr().out.rstrip('\n').split('\n')
                assert differs(printed, expected) is None, command


def test_a_difference_is_seen():
    assert differs(['good to 2.7 %'], ['good to 2.6 %']) is None
    assert differs(['good to 2.7 %'], ['good to 5.6 %']) is not None
    assert differs(['good to 2.7 %'], ['bad to 2.7 %']) is not None
    assert differs(['one', 'two'], ['one']) is not None
