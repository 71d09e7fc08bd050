# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answers of services and actions that this process gives or waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from std_srvs.srv import Trigger

from dynid_ros.errors import DynidError

#: Final states of goals, of action_msgs/msg/GoalStatus.
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


class Goals:
    """
    An action server that executes goals when they end.

    Coroutines that wait for it would keep rclpy's executor busy.

    Parameters
    ----------
    node : Node
        Owner.
    kind : type
        The action.
    name : str
        Of the action.
    accept, cancel : callable
        Take the handle of a goal that starts, and of one that its sender cancels.
    check : callable, optional
        Takes a goal, and raises DynidError to reject it.

    """

    def __init__(
        self, node: Node, kind: Any, name: str, accept: Callable[[Any], None],
        cancel: Callable[[Any], None], check: Callable[[Any], object] = bool,
    ) -> None:
        self._ends: dict[bytes, tuple[int, Any]] = {}

        def asked(goal: Any) -> GoalResponse:
            try:
                check(goal)
            except DynidError as error:
                node.get_logger().warning(f'rejected: {error}')
                return GoalResponse.REJECT
            return GoalResponse.ACCEPT

        def given_up(handle: Any) -> CancelResponse:
            cancel(handle)
            return CancelResponse.ACCEPT

        ActionServer(node, kind, name, self._execute, handle_accepted_callback=accept,
                     goal_callback=asked, cancel_callback=given_up)

    @property
    def idle(self) -> bool:
        """Whether every goal that has ended is executed."""
        return not self._ends

    def end(self, handle: Any, status: int, result: Any) -> None:
        """End a goal with its final state and its result."""
        self._ends[bytes(handle.goal_id.uuid)] = status, result
        handle.execute()

    def _execute(self, handle: Any) -> Any:
        status, result = self._ends.pop(bytes(handle.goal_id.uuid))
        {SUCCEEDED: handle.succeed, CANCELED: handle.canceled, ABORTED: handle.abort}[status]()
        return result


def offer(node: Node, name: str, action: Callable[[], str]) -> None:
    """
    Offer a service that runs an action.

    Parameters
    ----------
    node : Node
        Owner.
    name : str
        Of the service.
    action : callable
        Returns the message of the answer; a DynidError refuses the request.

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
    Return the answer of a completed future.

    An exception in a callback would end the node, and leave the arm without control.

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
    # The middleware may raise anything when a server or the context ends.
    except Exception as error:
        return None, f'{error}' or type(error).__name__
    # rclpy has no result for a cancelled future.
    return answer, '' if answer is not None else 'the request was cancelled'
