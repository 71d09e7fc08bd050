"""Large arrays behave as those of NumPy, in memory and in files, and take the memory they may."""

from pathlib import Path
import re
import resource

import numpy as np
import pytest

from dynid_ros.errors import InputError
from dynid_ros.utilities import memmap as large_arrays
from dynid_ros.utilities.memmap import GrowingArray, large_array


@pytest.fixture
def in_files(monkeypatch, tmp_path):
    """Let all arrays but the smallest ones lie in files."""
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr(large_arrays, 'LARGE', 1)
    return tmp_path


def anonymous():
    """Memory of this process that is in no file, MB."""
    found = re.search(r'RssAnon:\s+(\d+)', Path('/proc/self/status').read_text())
    return int(found[1]) / 1024


@pytest.mark.parametrize('shape, dtype', [
    (10, bool), ((100_000, 7), float), (500_000, np.int64),
    ((4_300_000, 1), float)])
def test_an_array_in_a_file_holds_what_is_written(in_files, shape, dtype):
    array, twin = large_array(shape, dtype), np.empty(shape, dtype)
    assert (array.shape, array.dtype) == (twin.shape, twin.dtype)
    assert array.flags.c_contiguous and array.flags.writeable and array.flags.aligned
    values = np.arange(array.size).reshape(shape).astype(dtype)
    array[...] = values
    np.testing.assert_array_equal(array, values)
    assert not list(in_files.iterdir())


@pytest.mark.usefixtures('in_files')
def test_a_large_array_takes_no_memory_that_the_system_cannot_drop():
    before = anonymous()
    array = large_array((500_000, 20))
    array[:] = 1.0
    assert anonymous() - before < 20
    assert array[::100_000].sum() == 100


@pytest.mark.parametrize('rows', [1, 1000, 100_000, 700_000])
@pytest.mark.parametrize('budget', [1, 2**30])
@pytest.mark.usefixtures('in_files')
def test_an_array_grows_to_the_join_of_its_parts(monkeypatch, rows, budget):
    monkeypatch.setattr(large_arrays, 'LARGE', budget)
    whole = np.random.default_rng(0).normal(size=(rows, 3))
    growing = GrowingArray()
    for part in np.array_split(whole, 1 + rows // 30_000):
        growing.add(part)
    assert len(growing) == rows
    found = growing.take()
    found[0] += 1.0
    whole[0] += 1.0
    np.testing.assert_array_equal(found, whole)


def test_a_full_disk_is_one_error_that_names_the_folder(in_files):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, hard))
    try:
        with pytest.raises(InputError, match=rf'{in_files} has no room .*80 MB more.*TMPDIR'):
            large_array(10 * 2**20)
        growing = GrowingArray()
        with pytest.raises(InputError, match=rf'{in_files} has no room .*TMPDIR'):
            growing.add(np.zeros(4 * 2**20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_missing_folder_is_one_error_that_names_it(in_files, monkeypatch):
    monkeypatch.setenv('TMPDIR', str(in_files / 'missing'))
    with pytest.raises(InputError, match='missing has no room'):
        large_array(10 * 2**20)
