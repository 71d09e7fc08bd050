"""Answers of services: those that this process gives, and those that it waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from dynid_ros.errors import DynidError


def offer(node: Node, name: str, action: Callable[[], str]) -> None:
    """
    Offer a service that does something.

    Parameters
    ----------
    node : Node
        Owner.
    name : str
        Of the service.
    action : callable
        Returns the message of the answer; a DynidError is that of a refusal.

    """
    def answer(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message, response.success = action(), True
        except DynidError as error:
            response.message = str(error)
        return response

    node.create_service(Trigger, name, answer)


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
