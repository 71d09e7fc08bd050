# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Ends that are neither a result nor the user's mistake."""

import os
from pathlib import Path
import re
import signal
import subprocess
import sys

import pytest

from dynid_ros.interface.cli import check
from dynid_ros.interface.cli.main import main

EXCERPT = Path(__file__).resolve().parents[2] / 'excerpts/panda/excerpt.npz'
CHECK = ['check', str(EXCERPT), '--arm', 'panda']
#: A command that takes little time.
FORCE = ['external-force', 'two_axis', '--wrench', '0', '0', '0', '0', '1', '0']


def dynid(*words, **streams):
    return subprocess.run(
        [sys.executable, '-m', 'dynid_ros.interface.cli.main', *words], text=True,
        stderr=subprocess.PIPE, timeout=300, check=False, **streams)


def test_a_fault_is_no_result_and_its_traceback_is_written_down(monkeypatch, capsys, tmp_path):
    def fails(_):
        # Stands for an error that nobody has thought of.
        raise ZeroDivisionError('of 1\nby 0')

    monkeypatch.setattr(check, 'run', fails)
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr('tempfile.tempdir', None)
    assert main(CHECK) == 70
    told = capsys.readouterr().err
    assert told.startswith('dynid check: a fault of dynid: ZeroDivisionError: of 1 by 0; ')
    assert told.count('\n') == 1
    written = Path(re.search(r'with (\S+)\n', told)[1])
    assert written.parent == tmp_path
    text = written.read_text()
    assert 'in fails' in text and str(EXCERPT) in text


def test_an_import_that_fails_in_this_package_is_a_fault_of_its_own(
        monkeypatch, capsys, tmp_path):
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr('tempfile.tempdir', None)

    def fails(_):
        from dynid_ros.errors import no_such_name  # noqa: F401

    monkeypatch.setattr(check, 'run', fails)
    assert main(CHECK) == 70
    assert 'a fault of dynid: ImportError' in capsys.readouterr().err


@pytest.mark.parametrize(('package', 'words'), [
    ('mujoco', ('simulate', 'two_axis')), ('rosbags', ('check', 'bag', '--arm', 'panda'))])
def test_a_package_that_is_missing_is_named_with_its_remedy(
        monkeypatch, capsys, tmp_path, package, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'bag').mkdir()
    (tmp_path / 'bag/metadata.yaml').write_text('rosbag2_bagfile_information: {}')
    for name in (package, 'rosbag2_py', *sys.modules):
        if name.split('.')[0] in (package, 'rosbag2_py'):
            monkeypatch.setitem(sys.modules, name, None)
    output = ('-o', 'out') if words[0] == 'simulate' else ()
    assert main([*words, *output]) == 2
    told = capsys.readouterr().err
    assert told.splitlines()[-1] == (
        f'dynid {words[0]}: needs the Python package {package}, which is not installed; install '
        f'it (pip install {package})')


@pytest.mark.slow
@pytest.mark.skipif(not Path('/dev/full').exists(), reason='there is no /dev/full')
def test_a_full_disk_under_the_output_is_one_line():
    with Path('/dev/full').open('w') as full:
        ended = dynid(*FORCE, '--json', stdout=full)
    assert (ended.returncode, ended.stderr) == (
        2, 'dynid external-force: no space left on device\n')


@pytest.mark.slow
def test_a_closed_output_is_no_fault():
    ended = dynid(*FORCE, preexec_fn=lambda: os.close(1))
    assert (ended.returncode, ended.stderr) == (0, '')


@pytest.mark.slow
def test_a_terminal_of_ascii_gets_all_but_its_characters():
    environment = {**os.environ, 'PYTHONIOENCODING': 'ascii'}
    ended = dynid(*FORCE, env=environment, stdout=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, '')
    assert ' rad/s?' in ended.stdout


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(check, 'run', lambda _: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(CHECK) == 130
        assert capsys.readouterr().err == 'dynid check: interrupted\n'
    finally:
        signal.signal(signal.SIGINT, before)
