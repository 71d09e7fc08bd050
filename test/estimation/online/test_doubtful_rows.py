# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What a collision leaves in the rows beside it is not fitted."""

import numpy as np

from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.online.doubtful_rows import DoubtfulRows

REACH = 2


def fed(wild, doubtful, portions):
    """Take rows of one joint in portions; return the numbers of those that are fitted."""
    rows, left = DoubtfulRows(1, 1), []
    rows.reach = REACH
    for part in np.split(np.arange(len(wild)), portions):
        block = RowBlock(0, part * 1.0, *np.zeros((2, len(part), 1)), part[:, None, None] * 1.0,
                         part[:, None] * 1.0, np.ones((len(part), 1), dtype=bool))
        saved = rows.state()
        rows = DoubtfulRows(1, 1)
        rows.restore(saved)
        left.append(rows.take(block, wild[part, None], doubtful[part, None]))
    left.append(rows.flush())
    for W, tau, good in left:
        np.testing.assert_array_equal(W[:, :, 0], tau)
        assert len(good) == len(tau)
    assert not len(rows.rows) and not len(rows.wild)
    return [int(t) for _, tau, good in left for t in tau[good]]


def test_doubtful_rows_within_the_reach_of_an_outlier_are_left_out_in_any_portions():
    wild, doubtful = np.zeros((2, 30), dtype=bool)
    wild[[10, 11, 20]] = True
    doubtful[[0, 7, 8, 9, 12, 13, 14, 19, 22, 23, 29]] = True
    expected = [k for k in range(30) if k not in {8, 9, 10, 11, 12, 13, 19, 20, 22}]
    for portions in ([], [1, 2, 9, 10, 11, 12], list(range(1, 30)), [8, 9, 21]):
        assert fed(wild, doubtful, portions) == expected
