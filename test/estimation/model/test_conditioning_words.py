# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What was done about delay, cut-off and clocks is told in a sentence each."""

from dataclasses import replace
import json

import pytest
from results import CLOCKS, identification, LADDER

from dynid_ros.data.files.plain_values import json_text
from dynid_ros.estimation.model.verdict_words import notes
from dynid_ros.interface.answers.model import result_answer, result_details


def changed(**treatment):
    plain = identification(defects=())
    return replace(plain, treatment=replace(plain.treatment, **treatment))


@pytest.mark.parametrize(('signal', 'delay', 'note'), [
    ('effort', 0.0304, 'The effort is 30 ms late; dynid removed the delay.'),
    ('current', 0.0042, 'The current is 4.2 ms late; dynid removed the delay.')])
def test_a_removed_delay_is_a_note(signal, delay, note):
    model = changed(delay=delay)
    model = replace(model, arm=replace(model.arm, drive=replace(model.arm.drive, signal=signal)))
    assert note in notes(model)
    assert f'- {note}' in result_answer(model).text()


def test_no_delay_and_one_that_the_arm_states_are_no_note():
    model = changed(delay=0.03)
    stated = replace(model, arm=replace(model.arm, conditioning=replace(
        model.arm.conditioning, delay=0.03)))
    for each in (stated, changed(delay=0.0)):
        assert not any('late' in note for note in notes(each))


def test_details_list_the_errors_by_cut_off():
    assert ('Error below 2 Hz by cut-off: 5.3 % at 2 Hz, 5.5 % at 3 Hz (chosen), 12 % at 5 Hz.'
            in list(result_details(changed(ladder=LADDER))))
    assert not any('by cut-off' in line for line in result_details(changed(ladder=LADDER[:1])))


def test_details_tell_the_clock_of_each_recording():
    model = replace(identification(sources=('logs/walk.db3', 'logs/kept.csv')), clocks=CLOCKS)
    assert [line for line in result_details(model) if 'stamps' in line] == [
        'The samples of walk.db3 are the newest state of a source of 246 Hz: the stamps are 0 to '
        '4.1 ms late, and the samples have the times of that source instead.',
        'The stamps of run.csv scatter by 2.1 ms (standard deviation) around even ones of '
        '100 Hz, which the samples have instead.',
        'The samples of kept.csv have the stamps that were recorded.']


def test_scripts_get_clocks_without_times_and_the_compared_cut_offs():
    model = replace(changed(ladder=LADDER), clocks=CLOCKS)
    facts = json.loads(json_text(result_answer(model).facts))
    assert facts['clocks'][0] == {'source': 'logs/walk.db3', 'kind': 'newest', 'rate_hz': 246.0,
                                  'jitter': 1.2e-3, 'step': 0.005}
    assert facts['conditioning']['ladder'][2] == {'cutoff_hz': 5.0, 'error_percent': 12.4}
