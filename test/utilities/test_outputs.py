# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Outputs that stand in the way are replaced if dynid wrote them, and refused else."""

import pytest

from dynid_ros.errors import ResultError
from dynid_ros.utilities.atomic_write import check_output

OWN = '# written by dynid_ros\n'


def test_own_file_may_be_replaced_and_no_other(tmp_path):
    path = tmp_path / 'a.yaml'
    check_output(path)
    path.write_text(OWN)
    check_output(path)
    path.write_text('mine')
    with pytest.raises(ResultError, match=r'a\.yaml exists already'):
        check_output(path)
    assert path.read_text() == 'mine'


def test_report_of_an_earlier_version_belongs_to_the_result_beside_it(tmp_path):
    result, report = tmp_path / 'result.yaml', tmp_path / 'report.html'
    report.write_text('<html>without a mark</html>')
    with pytest.raises(ResultError, match=r'report\.html exists already'):
        check_output(result, report)
    result.write_text(OWN)
    check_output(result, report)


def test_folder_with_a_foreign_file_is_kept(tmp_path):
    folder = tmp_path / 'bag'
    folder.mkdir()
    (folder / 'recording.yaml').write_text(OWN)
    check_output(folder, holding=('recording.yaml',))
    (folder / 'notes.txt').write_text('mine')
    with pytest.raises(ResultError, match='bag exists already'):
        check_output(folder, holding=('recording.yaml',))
