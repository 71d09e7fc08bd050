# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A small fixed sample of the fuzzer, and the fuzzer itself where a command fails."""

from multiprocessing.connection import wait
from pathlib import Path

from fuzz import fuzz, make_corpus, report, Worker
from outcomes import BROKEN, FAULT, HANG, Outcome, run_case
import pytest

SEED, SAMPLE = 1, 32


@pytest.fixture(scope='module')
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp('fuzz') / 'good'
    make_corpus(folder)
    return folder


@pytest.fixture(scope='module')
def ended(good, tmp_path_factory):
    return fuzz(SEED, SAMPLE, 1, good, tmp_path_factory.mktemp('sample'))


@pytest.mark.slow
def test_a_sample_of_mutated_inputs_ends_as_users_may_rely_on(ended, capsys):
    assert sorted(each.case for each in ended) == list(range(SAMPLE))
    assert report(ended) == 0, capsys.readouterr().out
    # The sample is no use if all of it is refused, or none.
    assert {'status 0', 'status 2'} <= {each.end for each in ended}


@pytest.mark.slow
def test_a_case_depends_on_its_numbers_alone(good, tmp_path):
    place = Path.cwd()
    first, again = (run_case(SEED, 0, good, tmp_path / 'case') for _ in range(2))
    assert first == again
    assert first != run_case(SEED + 1, 0, good, tmp_path / 'case')
    assert not (tmp_path / 'case').exists() and Path.cwd() == place


@pytest.mark.slow
def test_a_case_that_takes_too_much_of_the_processor_is_a_hang(good, ended, tmp_path):
    # A fit takes far more than a tick of the clock that counts processor time.
    fit = next(each.case for each in ended
               if "['identify'" in each.words and each.end in ('status 0', 'status 1'))
    worker, again = Worker(SEED, [0, fit], good, tmp_path, longest=1e-3), []
    while len(again) < 2:
        wait([worker.read], timeout=1.0)
        again += worker.results()
    # The first case of a worker may take longer.
    assert again[0].end == next(each.end for each in ended if each.case == 0)
    assert (again[1].end, 'processor time' in again[1].detail) == (HANG, True)


def test_failures_are_counted(capsys):
    assert report([Outcome(0, 'status 0'), Outcome(1, 'status 2')]) == 0
    for end in (FAULT, HANG, BROKEN):
        assert report([Outcome(0, 'status 0'), Outcome(1, end, 'why')]) == 1
        assert end in capsys.readouterr().out
