# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Actions, as their services and topics on the wire."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from enum import Enum
from functools import partialmethod
import secrets
from typing import Any

from dynid_ros.ros.stand_in.dds import DurabilityPolicy, QoSProfile
from dynid_ros.ros.stand_in.messages import message_class
from dynid_ros.ros.stand_in.spin import Clock

#: Goals whose results can be asked for.
REMEMBERED = 10
_EXECUTING, _CANCELING = 2, 3
_SERVICES = {'SendGoal': 'send_goal', 'GetResult': 'get_result', 'CancelGoal': 'cancel_goal'}


class GoalResponse(Enum):
    """Answer of a server to a goal, or to a request to cancel."""

    REJECT = 1
    ACCEPT = 2


CancelResponse = GoalResponse


class GoalHandle:
    """A goal that a server has accepted."""

    def __init__(self, server: ActionServer, request: Any) -> None:
        self._server = server
        self.goal_id = request.goal_id
        self.request = request.goal
        self.status = _EXECUTING
        self.answer: Future[Any] = Future()

    def publish_feedback(self, feedback: Any) -> None:
        """Publish how it goes."""
        self._server.feedback.publish(
            self._server.feedback_kind(goal_id=self.goal_id, feedback=feedback))

    def execute(self) -> None:
        """Run the callback of the server."""
        result = self._server.run(self)
        self._server.publish_status()
        self.answer.set_result(
            self._server.kinds['GetResult'].Response(status=self.status, result=result))

    def _end(self, status: int) -> None:
        self.status = status

    succeed = partialmethod(_end, 4)
    canceled = partialmethod(_end, 5)
    abort = partialmethod(_end, 6)


class ActionServer:
    """Takes goals."""

    def __init__(
        self, node: Any, action_type: Any, action_name: str,
        execute_callback: Callable[[GoalHandle], Any], *,
        handle_accepted_callback: Callable[[GoalHandle], None] = GoalHandle.execute,
        goal_callback: Callable[[Any], GoalResponse] = lambda _: GoalResponse.ACCEPT,
        cancel_callback: Callable[[GoalHandle], CancelResponse],
    ) -> None:
        self.run = execute_callback
        self._accepted = handle_accepted_callback
        self._allow = goal_callback
        self._cancel = cancel_callback
        self._goals: dict[bytes, GoalHandle] = {}
        self._node = node
        self.kinds = _kinds(action_type)
        answers = {'SendGoal': self._on_goal, 'GetResult': self._on_result,
                   'CancelGoal': self._on_cancel}
        self._services = [
            node.create_service(self.kinds[kind], f'{action_name}/_action/{name}', answers[kind])
            for kind, name in _SERVICES.items()]
        self.feedback_kind = message_class(f'{action_type.TYPE}_FeedbackMessage')
        self.feedback = node.create_publisher(
            self.feedback_kind, f'{action_name}/_action/feedback', 10)
        self._status = node.create_publisher(
            message_class('action_msgs/msg/GoalStatusArray'), f'{action_name}/_action/status',
            QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))

    def publish_status(self) -> None:
        """Publish how all goals stand."""
        status = message_class('action_msgs/msg/GoalStatus')
        self._status.publish(message_class('action_msgs/msg/GoalStatusArray')(status_list=[
            status(goal_info=_info(goal.goal_id), status=goal.status)
            for goal in self._goals.values()]))

    def destroy(self) -> None:
        """Take no more goals."""
        for service in self._services:
            self._node.destroy_service(service)

    def _on_goal(self, request: Any, response: Any) -> Any:
        if self._allow(request.goal) is GoalResponse.REJECT:
            return response
        while len(self._goals) >= REMEMBERED:
            del self._goals[next(iter(self._goals))]
        goal = self._goals[request.goal_id.uuid.tobytes()] = GoalHandle(self, request)
        response.accepted, response.stamp = True, Clock().now().to_msg()
        self.publish_status()
        self._accepted(goal)
        return response

    def _on_result(self, request: Any, response: Any) -> Any:
        goal = self._goals.get(request.goal_id.uuid.tobytes())
        return goal.answer if goal else response

    def _on_cancel(self, request: Any, response: Any) -> Any:
        wanted = request.goal_info.goal_id.uuid.tobytes()
        for key, goal in self._goals.items():
            if (wanted in (key, bytes(16)) and goal.status == _EXECUTING
                    and self._cancel(goal) is CancelResponse.ACCEPT):
                goal.status = _CANCELING
                response.goals_canceling.append(_info(goal.goal_id))
        self.publish_status()
        return response


class ClientGoalHandle:
    """A goal that was sent."""

    def __init__(self, client: ActionClient, goal_id: Any, accepted: bool) -> None:
        self._client = client
        self._goal_id = goal_id
        self.accepted = accepted

    def get_result_async(self) -> Future[Any]:
        """Ask for status and result, when it has ended."""
        future = self._client.ask('GetResult', goal_id=self._goal_id)
        future.add_done_callback(lambda _: self._client.forget(self._goal_id))
        return future

    def cancel_goal_async(self) -> Future[Any]:
        """Ask to give it up."""
        return self._client.ask('CancelGoal', goal_info=_info(self._goal_id))


class ActionClient:
    """Sends goals."""

    def __init__(self, node: Any, action_type: Any, action_name: str) -> None:
        self._node = node
        self._kinds = _kinds(action_type)
        self._listening: dict[bytes, Callable[[Any], None]] = {}
        self._feedback = node.create_subscription(
            message_class(f'{action_type.TYPE}_FeedbackMessage'),
            f'{action_name}/_action/feedback', self._hear, 10)
        self._clients = {
            kind: node.create_client(self._kinds[kind], f'{action_name}/_action/{name}')
            for kind, name in _SERVICES.items()}

    def destroy(self) -> None:
        """Send no more goals."""
        for client in self._clients.values():
            self._node.destroy_client(client)
        self._node.destroy_subscription(self._feedback)

    def server_is_ready(self) -> bool:
        """Whether somebody takes goals."""
        return all(client.service_is_ready() for client in self._clients.values())

    def send_goal_async(
        self, goal: Any, feedback_callback: Callable[[Any], None] | None = None,
    ) -> Future[Any]:
        """Send a goal; the future has its handle, and the callback gets messages of feedback."""
        sent: Future[Any] = Future()
        uuid = list(secrets.token_bytes(16))
        if feedback_callback is not None:
            self._listening[bytes(uuid)] = feedback_callback
        goal_id = message_class('unique_identifier_msgs/msg/UUID')(uuid=uuid)

        def answered(answer: Future[Any]) -> None:
            if not answer.result().accepted:
                self.forget(goal_id)
            sent.set_result(ClientGoalHandle(self, goal_id, answer.result().accepted))

        self.ask('SendGoal', goal_id=goal_id, goal=goal).add_done_callback(answered)
        return sent

    def forget(self, goal_id: Any) -> None:
        """Hear no more of a goal."""
        self._listening.pop(bytes(goal_id.uuid), None)

    def _hear(self, message: Any) -> None:
        listener = self._listening.get(bytes(message.goal_id.uuid))
        if listener is not None:
            listener(message)

    def ask(self, kind: str, **fields: Any) -> Future[Any]:
        """Call one of the services."""
        future: Future[Any] = self._clients[kind].call_async(self._kinds[kind].Request(**fields))
        return future


def _kinds(action_type: Any) -> dict[str, Any]:
    kinds = {kind: f'{action_type.TYPE}_{kind}' for kind in _SERVICES}
    kinds['CancelGoal'] = 'action_msgs/srv/CancelGoal'
    return {kind: message_class(name) for kind, name in kinds.items()}


def _info(goal_id: Any) -> Any:
    return message_class('action_msgs/msg/GoalInfo')(goal_id=goal_id, stamp=Clock().now().to_msg())
