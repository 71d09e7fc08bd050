# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Errors name the files that they are about, once."""

import pytest

from dynid_ros.errors import about, InputError, RecordingError


@pytest.mark.parametrize(('sources', 'text', 'told'), [
    (['a.csv'], 'no row is left', 'a.csv: no row is left'),
    (['a.csv', 'b.csv'], 'no row is left', 'a.csv, b.csv: no row is left'),
    (['a.csv', 'b.csv'], 'b.csv: too short', 'b.csv: too short'),
    ([f'{k}.csv' for k in range(7)], 'no row',
     '0.csv, 1.csv, 2.csv, 3.csv, 4.csv and 2 more: no row'),
])
def test_the_files_of_a_recording_error_are_named_once(sources, text, told):
    with pytest.raises(RecordingError) as caught, about(*sources):
        raise RecordingError(text)
    assert str(caught.value) == told


def test_other_errors_pass():
    with pytest.raises(InputError, match='method must be'), about('a.csv'):
        raise InputError('method must be power')
