"""The answer in a future of a service or an action, or why there is none."""

from __future__ import annotations

from typing import Any


def answer_of(future: Any) -> tuple[Any, str]:
    """
    Take the answer out of a future that is done.

    A callback that raises would end the node, and leave the arm to itself.

    Parameters
    ----------
    future : Future
        Of a call, a goal, a result or a request to cancel.

    Returns
    -------
    answer : Any
        None if there is none.
    problem : str
        Why there is none, in a clause; empty if there is one.

    """
    try:
        answer = future.result()
    # Whatever the middleware raises where a server goes, or the context ends.
    except Exception as error:
        return None, f'{error}' or type(error).__name__
    # rclpy has no result of a future that was cancelled.
    return answer, '' if answer is not None else 'the request was cancelled'
