# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""One case: made, run in this process, and judged by what users may rely on."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
import io
import json
import os
from pathlib import Path
from random import Random
import re
import shutil
import tempfile
import traceback

FAULT, HANG, MEMORY, LOST, BROKEN = (
    'fault of dynid', 'hang', 'memory', 'process lost', 'broken promise')
FAILURES = (FAULT, HANG, MEMORY, LOST, BROKEN)
#: Characters of a line on stderr.
LONGEST_LINE = 1300


@dataclass(frozen=True)
class Outcome:
    """How a case ended: with a status, or in a failure."""

    case: int
    end: str
    detail: str = ''
    words: str = ''
    output: str = ''


def run_case(seed: int, case: int, good: Path, folder: Path, *, keep: bool = False) -> Outcome:
    """
    Run a case in a folder of its own.

    Parameters
    ----------
    seed, case : int
        All that the case depends on.
    good : Path
        Folder of the good inputs.
    folder : Path
        Made, and removed unless it is kept.
    keep : bool
        Whether its files stay.

    """
    from cases import KINDS

    rng = Random(f'{seed} {case}')
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    place, temporary = Path.cwd(), tempfile.tempdir
    os.chdir(folder)
    # Faults are written down there.
    tempfile.tempdir = str(folder)
    printed, told = io.StringIO(), io.StringIO()
    words: list[str] = []
    kind = KINDS[case % len(KINDS)]
    try:
        with redirect_stdout(printed), redirect_stderr(told):
            words = kind(rng, good)
            status = _status(words)
        end, detail = _judged(status, words, printed.getvalue(), told.getvalue(), folder)
    except Exception as error:
        end = MEMORY if isinstance(error, MemoryError) else FAULT
        detail = f'{kind.__name__}: {type(error).__name__}: {error}'[:300]
        told.write(traceback.format_exc())
    output = told.getvalue() + ''.join(p.read_text() for p in folder.glob('dynid-*.txt'))
    os.chdir(place)
    tempfile.tempdir = temporary
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(case, end, detail, f'{kind.__name__}: {words}'[:600], output if keep else '')


def _status(words: list[str]) -> int:
    # Live messages come without a command, and end with an error at most.
    if words[:1] == ['']:
        return 2 if words[1:] else 0
    from dynid_ros.interface.cli.main import main

    try:
        return main(words)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 70


def _judged(
    status: int, words: list[str], printed: str, told: str, folder: Path,
) -> tuple[str, str]:
    last = told.splitlines()[-1][:300] if told else ''
    if status == 70:
        return (MEMORY if 'MemoryError' in last else FAULT), last
    if status not in (0, 1, 2):
        return FAULT, f'status {status}'
    promises = {
        'a traceback': 'Traceback' in told,
        f'a line of more than {LONGEST_LINE} characters': any(
            len(line) > LONGEST_LINE for line in told.splitlines()),
        'status 2 without a line of its own':
            status == 2 and words[0] != '' and not re.match(r'dynid( \S+)?: .', last),
        'a number that JSON does not have':
            '--json' in words and status < 2 and _not_json(printed),
        'half a file': any(re.fullmatch(r'\.\w{8}', path.name) for path in folder.rglob('.*')),
    }
    broken = [promise for promise, is_broken in promises.items() if is_broken]
    if broken:
        return BROKEN, f'{broken[0]}: {last}'
    return f'status {status}', ''


def _not_json(text: str) -> bool:
    found: list[str] = []
    try:
        json.loads(text, parse_constant=found.append)
    except ValueError:
        return True
    return bool(found)
