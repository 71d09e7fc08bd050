# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Findings of a live verdict wait for a verdict on more data."""

from dataclasses import replace

import pytest
from results import identification

from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.estimation.verdict.confirmation import Confirmation

FAULT = Finding('gravity_removed', 'the effort seems to hold no gravity torque', 'look')
EXCITATION = Finding('excitation', 'too little excitation', 'move more')
MODEL = identification()


def after(seconds, *findings):
    return replace(MODEL, seconds=seconds, verdict=replace(MODEL.verdict, findings=findings))


@pytest.mark.parametrize(('first', 'then', 'found'), [
    (0.0, 0.5, ()),
    (1.9, 2.4, ()),
    (1.9, 2.9, (FAULT,)),
    (3600.0, 3604.0, ()),
    (3600.0, 3606.0, (FAULT,)),
])
def test_a_fault_counts_once_more_data_has_it_too(first, then, found):
    judged = Confirmation()
    assert judged.confirmed(after(first, FAULT)).verdict.findings == ()
    assert judged.waiting.verdict.findings == (FAULT,)
    assert judged.confirmed(after(then, FAULT)).verdict.findings == found
    assert (judged.waiting is None) == bool(found)


def test_a_fault_that_goes_starts_anew():
    judged = Confirmation()
    judged.confirmed(after(2.0, FAULT))
    assert judged.confirmed(after(4.0)).verdict.findings == ()
    assert judged.confirmed(after(8.0, FAULT)).verdict.findings == ()
    assert judged.confirmed(after(13.0, FAULT)).verdict.findings == (FAULT,)


def test_too_little_excitation_so_far_waits_for_nothing():
    assert Confirmation().confirmed(after(1.0, EXCITATION)).verdict.findings == (EXCITATION,)
