# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid fleet`` on its local cluster: output, exit status, kills."""

from contextlib import redirect_stderr, redirect_stdout
import io
import json
import logging
import os
from pathlib import Path
import re
import signal
import socket
import subprocess
import sys
import time

from distributed import LocalCluster
from fleets import Bag, small_arm, with_payload
import psutil
import pytest
import yaml

from dynid_ros.applications.fleet.cluster import cluster, LOST_SCHEDULER
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.cli.main import main

pytestmark = pytest.mark.slow
BAGS = 24


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp('fleet')
    arm, path = small_arm(folder)
    for number in range(BAGS):
        Bag(number, own=0.02).write(
            arm, folder / 'bags' / f'arm{number % 3}' / f'{number:03d}.npz', number)
    return arm, path, folder / 'bags'


@pytest.fixture(scope='module')
def scheduler():
    """Address of a cluster, which takes longer to start than most fleets here to read."""
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as running:
        yield running.scheduler_address


def command(*arguments):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as error:
        status = main(['fleet', *map(str, arguments)])
    return status, out.getvalue(), error.getvalue()


def start(made, out):
    return subprocess.Popen(
        [sys.executable, '-m', 'dynid_ros.interface.cli.main', 'fleet', made[2], '--arm', made[1],
         '-o', out, '--by', '{arm}/*', '--json'], stdout=subprocess.PIPE, start_new_session=True)


def finished(out):
    return len(list((out / 'sidecars').glob('[!.]*.npz')))


def wait_for(out, count, process):
    while finished(out) < count and process.poll() is None:
        time.sleep(0.01)


def test_kills_of_a_worker_and_of_the_command_lose_no_finished_sidecar(
        made, scheduler, tmp_path):
    first = start(made, tmp_path)
    wait_for(tmp_path, 5, first)
    workers = [each.pid for each in psutil.Process(first.pid).children(recursive=True)
               if 'spawn_main' in ' '.join(each.cmdline())]
    os.kill(workers[0], signal.SIGKILL)
    wait_for(tmp_path, 14, first)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    done = finished(tmp_path)
    status, out, _ = command(made[2], '--arm', made[1], '-o', tmp_path, '--by', '{arm}/*',
                             '--json', '--scheduler', scheduler)
    found = json.loads(out)
    assert status == 0
    assert found['read'] == BAGS - done
    assert found['bags'] == BAGS
    assert {name: arm['used'] for name, arm in found['arms'].items()} == dict.fromkeys(
        ('arm0', 'arm1', 'arm2'), BAGS // 3)
    # Other commands read the models.
    assert read_result(tmp_path / 'arms' / 'arm1').verdict.trustworthy
    assert read_result(tmp_path / 'all').fit.samples > 10 * BAGS


def test_a_changed_arm_is_named_on_the_page_and_in_the_exit_status(made, scheduler, tmp_path):
    arm, path, _ = made
    for number in range(24):
        change = with_payload(1.0) if number >= 12 else {}
        bag = Bag(number, own=0.02, standard=change)
        written = bag.write(arm, tmp_path / 'bags' / f'{number:03d}.npz', number)
        if number == 3:
            written.write_bytes(b'')
    status, out, error = command(tmp_path / 'bags', '--arm', path, '-o', tmp_path / 'out',
                                 '--scheduler', scheduler)
    assert (status, error) == (1, '')
    assert 'The load of elbow changes on 2023-11-26' in out
    assert '1 skipped' in out
    page = (tmp_path / 'out' / 'fleet.html').read_text()
    assert 'the load of elbow changes on 2023-11-26' in page
    assert '003.npz' in page
    assert page.count('<svg') > 1


def test_arms_are_told_apart_by_what_their_recorder_wrote(made, scheduler, tmp_path):
    arm, path, _ = made
    for number in range(12):
        folder = tmp_path / 'bags' / f'run{number}'
        Bag(number).write(arm, folder / 'bag.npz')
        (folder / 'recording.yaml').write_text(yaml.safe_dump({
            'started': '2026-01-01T10:00:00+00:00', 'serial': f'SN{number % 2}'}))
    _, out, _ = command(tmp_path / 'bags', '--arm', path, '-o', tmp_path / 'out', '--json',
                        '--scheduler', scheduler)
    assert set(json.loads(out)['arms']) == {'SN0', 'SN1'}


def test_nothing_is_announced_that_was_not_written(made, scheduler, tmp_path):
    arm, path, _ = made
    out = tmp_path / 'out'
    for seconds, count in ((12.0, 3), (1.0, 2)):
        for number in range(count):
            Bag(number, seconds=seconds).write(arm, tmp_path / 'bags' / f'{number}.npz')
        status, said, _ = command(
            tmp_path / 'bags', '--arm', path, '-o', out, '--scheduler', scheduler)
        wrote = next(line for line in said.splitlines() if line.startswith('Wrote '))
        assert all(Path(each).exists() for each in re.findall(r'/[^\s,]+(?=[,.\s])', wrote))
        assert status == 1


@pytest.mark.parametrize(('arguments', 'said'), [
    (['--by', 'arm/*'], '{arm}'), (['--by', 'no/{arm}/such'], 'no bag fits'),
    (['--scheduler', 'tcp://127.0.0.1:1'], 'no Dask scheduler answers')])
def test_wrong_use_is_one_line(made, scheduler, tmp_path, arguments, said):
    status, _, error = command(made[2] / 'arm0', '--arm', made[1], '-o', tmp_path, '--scheduler',
                               scheduler, *arguments)
    assert status == 2
    assert said in error
    assert error.count('\n') == 1


def test_bags_come_from_a_list_and_from_urls(made, scheduler, tmp_path):
    lines = [str(path) for path in sorted(Path(made[2] / 'arm0').iterdir())[:6]]
    lines += [path.as_uri() for path in sorted(Path(made[2] / 'arm1').iterdir())[:6]]
    (tmp_path / 'list').write_text('\n\n'.join(lines))
    _, out, _ = command(f'@{tmp_path / "list"}', '--arm', made[1], '-o', tmp_path / 'out',
                        '--json', '--scheduler', scheduler)
    found = json.loads(out)
    assert (found['bags'], found['skipped']) == (12, [])


def test_a_list_that_is_not_there_is_named(made, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(['fleet', '@nowhere.txt', '--arm', str(made[1]), '-o', str(tmp_path)])
    assert end.value.code == 2
    assert 'nowhere.txt' in capsys.readouterr().err


def test_workers_of_this_machine_log_nothing():
    with cluster(None) as spread:
        log = logging.getLogger('tornado.application')
        assert spread('asked', log.isEnabledFor, {0: (logging.CRITICAL,)}) == {0: False}


def part_of_a_cluster(part, *arguments):
    return subprocess.Popen(
        [sys.executable, '-m', f'distributed.cli.dask_{part}', *arguments, '--no-dashboard'],
        stderr=subprocess.DEVNULL)


def test_a_scheduler_that_is_killed_is_one_line_and_loses_no_sidecar(made, scheduler, tmp_path):
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = str(free.getsockname()[1])
    address, out = f'tcp://127.0.0.1:{port}', tmp_path / 'out'
    killed = part_of_a_cluster('scheduler', '--port', port)
    worker = part_of_a_cluster('worker', address, '--nthreads', '1', '--no-nanny',
                               '--local-directory', str(tmp_path))
    try:
        running = subprocess.Popen(
            [sys.executable, '-m', 'dynid_ros.interface.cli.main', 'fleet', str(made[2]), '--arm',
             str(made[1]), '-o', str(out), '--scheduler', address], stderr=subprocess.PIPE,
            text=True)
        while not finished(out) and running.poll() is None:
            time.sleep(0.01)
        killed.kill()
        _, told = running.communicate(timeout=300)
        assert (running.returncode, told) == (2, f'dynid fleet: {LOST_SCHEDULER}\n')
    finally:
        for each in (worker, killed):
            each.kill()
            each.wait()
    kept = finished(out)
    assert kept > 0
    _, printed, _ = command(
        made[2], '--arm', made[1], '-o', out, '--json', '--scheduler', scheduler)
    assert json.loads(printed)['read'] == BAGS - kept
