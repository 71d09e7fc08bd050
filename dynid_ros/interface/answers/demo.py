# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answer of the demonstration: the live result, the one from the bag, and the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.answers.answer import Answer


def demo_answer(found: dict[str, Any], arm: str, folder: Path, seconds: float) -> Answer:
    """Compare both results, and name the next steps; status 1 if one is not trustworthy."""
    trusted, own_arm = found['online']['trustworthy'], Path(arm).exists()
    own = arm if own_arm else 'my_arm'
    online, batch = (headline(read_result(folder / name)) for name in ('online', 'result'))
    return Answer(
        {**found, 'seconds': seconds, 'folder': folder}, batch,
        int(not (trusted and found['batch']['trustworthy'])), _table(found), notes=[
            *([] if trusted else [
                'While it moved, not trustworthy: ' + online.partition(': ')[2]]),
            f'The two sets of parameters differ by {found["apart_percent"]:.2f} %.',
            f'The demonstration took {seconds:.0f} s; open '
            f'{folder / "result" / "report.html"} in a browser.'],
        then=[
            'Next, with your own robot:',
            *([] if own_arm else [
                '  dynid init my_robot.urdf -o my_arm      # lists what only you know']),
            f'  dynid design {own} -o excitation.yaml  # a motion within all limits',
            f'  dynid identify recording/ --arm {own} -o result'])


def _table(found: dict[str, Any]) -> list[list[str]]:
    rows = [
        ('torque error on samples not yet used', 'torque_error_percent', '.2f', ' %'),
        ('condition number', 'condition_number', '.0f', ''),
        (f'error of {found["parameters"]} base parameters', 'off_percent', '.2f', ' %'),
        ('the same in standard deviations, rms', 'off_in_std', '.2f', '')]
    return [['', 'while it moved', 'from the bag'], *(
        [title, *(format(found[each][name], form) + unit for each in ('online', 'batch'))]
        for title, name, form, unit in rows)]
