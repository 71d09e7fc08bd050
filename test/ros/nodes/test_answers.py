# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The answer in a future, or a clause on why there is none."""

from concurrent.futures import Future

import pytest

from dynid_ros.ros.nodes.common.answers import answer_of


@pytest.mark.parametrize(('error', 'problem'), [
    (RuntimeError('the context is gone'), 'the context is gone'), (KeyError(), 'KeyError')])
def test_a_failure_is_a_clause(error, problem):
    future = Future()
    future.set_exception(error)
    assert answer_of(future) == (None, problem)


def test_an_answer_has_no_problem_and_none_is_a_cancelled_request():
    future, cancelled = Future(), Future()
    future.set_result('done')
    # As rclpy leaves a future that was cancelled.
    cancelled.set_result(None)
    assert answer_of(future) == ('done', '')
    assert answer_of(cancelled) == (None, 'the request was cancelled')
