"""Large arrays behave as those of NumPy, in memory and in files, and take the memory they may."""

from pathlib import Path
import re
import resource

import numpy as np
import pytest

from dynid_ros import large_arrays
from dynid_ros.errors import InputError
from dynid_ros.large_arrays import GrowingArray, large_array, release_pages, stored


@pytest.fixture
def in_files(monkeypatch, tmp_path):
    """Let all arrays but the smallest ones lie in files."""
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr(large_arrays, 'BUDGET', 0)
    return tmp_path


def anonymous():
    """Memory of this process that is in no file, MB."""
    found = re.search(r'RssAnon:\s+(\d+)', Path('/proc/self/status').read_text())
    return int(found[1]) / 1024


def resident():
    return int(re.search(r'VmRSS:\s+(\d+)', Path('/proc/self/status').read_text())[1]) / 1024


@pytest.mark.parametrize('shape, dtype', [
    (0, float), ((3, 0), float), (10, bool), ((100_000, 7), float), (500_000, np.int64),
    ((4_300_000, 1), float)])
def test_an_array_in_a_file_holds_what_is_written(in_files, shape, dtype):
    array, twin = large_array(shape, dtype), np.empty(shape, dtype)
    assert (array.shape, array.dtype) == (twin.shape, twin.dtype)
    assert array.flags.c_contiguous and array.flags.writeable and array.flags.aligned
    values = np.arange(array.size).reshape(shape).astype(dtype)
    array[...] = values
    release_pages()
    np.testing.assert_array_equal(array, values)
    assert not list(in_files.iterdir())


@pytest.mark.usefixtures('in_files')
def test_arrays_that_share_a_file_do_not_share_numbers():
    arrays = [large_array(50_000 + k) for k in range(200)]
    for k, array in enumerate(arrays):
        array[:] = k
    release_pages()
    del arrays[::3]
    arrays += [large_array(70_000) for _ in range(50)]
    for array in arrays[-50:]:
        array[:] = -1
    found = [np.unique(array).tolist() for array in arrays]
    assert found == [[k] for k in range(200) if k % 3] + [[-1]] * 50


@pytest.mark.usefixtures('in_files')
def test_arrays_in_files_take_no_memory_once_they_are_released():
    before, before_anonymous = resident(), anonymous()
    array = large_array((500_000, 20))
    array[:] = 1.0
    assert anonymous() - before_anonymous < 20
    release_pages()
    assert resident() - before < 20
    assert array[::100_000].sum() == 100


def test_memory_is_used_again_when_an_array_is_gone(monkeypatch):
    monkeypatch.setattr(large_arrays, 'BUDGET', large_arrays.bytes_in_memory() + 10**6)
    first = large_array(100_000)
    second = large_array(100_000)
    assert first.base is None and second.base is not None
    del first
    assert large_array(100_000).base is None


@pytest.mark.parametrize('rows', [1, 1000, 100_000, 700_000])
@pytest.mark.parametrize('budget', [0, 2**30])
@pytest.mark.usefixtures('in_files')
def test_an_array_grows_to_the_join_of_its_parts(monkeypatch, rows, budget):
    monkeypatch.setattr(large_arrays, 'BUDGET', budget)
    whole = np.random.default_rng(0).normal(size=(rows, 3))
    growing = GrowingArray()
    for part in np.array_split(whole, 1 + rows // 30_000):
        growing.add(part)
    assert len(growing) == rows
    found = growing.take()
    found[0] += 1.0
    whole[0] += 1.0
    np.testing.assert_array_equal(found, whole)


@pytest.mark.usefixtures('in_files')
def test_stored_values_are_those_given():
    values = np.random.default_rng(0).normal(size=(500, 400))
    copy = stored(values)
    assert copy is not values
    np.testing.assert_array_equal(copy, values)


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
