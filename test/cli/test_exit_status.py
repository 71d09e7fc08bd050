"""Ends that are neither a result nor the user's mistake."""

import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time
import weakref

import pytest

from dynid_ros.cli import check
from dynid_ros.cli.main import main

EXCERPT = Path(__file__).resolve().parents[1] / 'data/panda/excerpt.npz'
CHECK = ['check', str(EXCERPT), '--arm', 'panda']


def dynid(*words, **streams):
    return subprocess.run([sys.executable, '-m', 'dynid_ros.cli.main', *words], text=True,
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


@pytest.mark.slow
@pytest.mark.skipif(not Path('/dev/full').exists(), reason='there is no /dev/full')
def test_a_full_disk_under_the_output_is_one_line():
    with Path('/dev/full').open('w') as full:
        ended = dynid(*CHECK, '--json', stdout=full)
    assert (ended.returncode, ended.stderr) == (2, 'dynid check: no space left on device\n')


@pytest.mark.slow
def test_a_closed_output_is_no_fault():
    ended = dynid(*CHECK, preexec_fn=lambda: os.close(1))
    assert (ended.returncode, ended.stderr) == (0, '')


@pytest.mark.slow
def test_a_terminal_of_ascii_gets_all_but_its_characters():
    environment = {**os.environ, 'PYTHONIOENCODING': 'ascii'}
    ended = dynid('external-force', 'two_axis', '--wrench', '0', '0', '0', '0', '1', '0',
                  env=environment, stdout=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, '')
    assert 'acceleration in rad/s? (m/s?)' in ended.stdout


@pytest.mark.slow
def test_an_interrupt_while_the_command_starts_is_one_line(tmp_path):
    """Interrupts as soon as the first module of the package was imported."""
    # In processor time, so that it comes at the same place on a busy machine.
    code = ('import signal, sys\n'
            'from dynid_ros.cli.main import main\n'
            # A shell lets what it runs in the background ignore it.
            'signal.signal(signal.SIGINT, signal.default_int_handler)\n'
            'signal.signal(signal.SIGVTALRM, lambda *_: signal.raise_signal(signal.SIGINT))\n'
            # Extension modules that clear an error while they are imported lose one of some
            # 300 interrupts: a user presses again.
            'signal.setitimer(signal.ITIMER_VIRTUAL, float(sys.stdin.read()), 0.5)\n'
            f'sys.exit(main(["design", "ur10", "-o", {str(tmp_path / "m.yaml")!r}]))')
    for delay in (0.01, 0.05, 0.2):
        ended = subprocess.run([sys.executable, '-c', code], input=str(delay), text=True,
                               capture_output=True, timeout=300, check=False)
        assert (ended.returncode, ended.stderr) == (130, 'dynid design: interrupted\n'), delay
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('delay', [0.0, 1e-3])
def test_an_interrupt_that_a_callback_swallows_comes_again(delay, monkeypatch, capsys):
    class Lock:
        pass

    def imports(_):
        lock = Lock()
        # As the callback of the lock of an import.
        watched = weakref.ref(lock, lambda _: signal.raise_signal(signal.SIGINT))
        del lock
        end = time.monotonic() + 60.0
        while time.monotonic() < end:
            time.sleep(0.01)
        return watched

    monkeypatch.setattr(check, 'run', imports)
    # Without a delay, some come while the last one is still being answered.
    monkeypatch.setattr(sys.modules[main.__module__], 'AGAIN', delay)
    before, shown = signal.signal(signal.SIGINT, signal.default_int_handler), sys.unraisablehook
    try:
        for _ in range(20):
            assert main(CHECK) == 130
            assert capsys.readouterr().err == 'dynid check: interrupted\n'
            assert sys.unraisablehook is shown
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_a_library_turns_into_an_error_is_an_interrupt(monkeypatch, capsys):
    def imports(_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            # As PyErr_Print() in import_array() of NumPy's C interface.
            sys.excepthook(KeyboardInterrupt, error, error.__traceback__)
            raise ImportError('importing the C-extensions failed') from error

    monkeypatch.setattr(check, 'run', imports)
    before, shown = signal.signal(signal.SIGINT, signal.default_int_handler), sys.excepthook
    try:
        assert main(CHECK) == 130
        assert capsys.readouterr().err == 'dynid check: interrupted\n'
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert sys.excepthook is shown
    finally:
        signal.signal(signal.SIGINT, before)
