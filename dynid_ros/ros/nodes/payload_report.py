# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Reports of the identifier on the load that an arm carries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import InertiaStamped
from rclpy.node import Node

from dynid_ros.applications.export.payload_messages import payload_as_dict
from dynid_ros.applications.payload.body import INERTIA_FIELDS
from dynid_ros.applications.payload.estimate import Payload
from dynid_ros.applications.payload.live_payload import LivePayload
from dynid_ros.data.files.plain_values import json_text
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.errors import RecordingError
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.lockstep import time_message
from dynid_ros.ros.nodes.common.qos import LATCHED
from dynid_ros.utilities.atomic_write import write_whole

#: Written by ~/save.
PAYLOAD_JSON = 'payload.json'


class PayloadReport:
    """
    Publish a load.

    Parameters
    ----------
    node : Node
        Owner.
    session : LivePayload
        The session.
    frame : str
        Name of the tool frame.

    """

    def __init__(self, node: Node, session: LivePayload, frame: str) -> None:
        self._node, self._session, self._frame = node, session, frame
        self._found: Payload | None = None
        self._payload = node.create_publisher(InertiaStamped, '~/payload', 10)
        self._estimates = node.create_publisher(DynamicJointState, '~/estimates', LATCHED)

    def look(self, now: int) -> None:
        """Do nothing: there are no findings beside the stream."""

    def publish(self, now: int) -> None:
        """Publish the current load; ~/payload only while it is certain."""
        self._found = found = self._session.load()
        if found is None:
            return
        body = found.body
        self._estimates.publish(say.parameter_numbers(
            now, tuple(INERTIA_FIELDS), body.fields, body.fields_std, body.from_data))
        if found.ready or (found.trustworthy and not found.present):
            self._payload.publish(self._message(now, found))

    def health(self) -> list[DiagnosticStatus]:
        """Return the status of the verdict."""
        return [say.load_status(self._node, self._session.arm, self._found)]

    def reset(self) -> None:
        """Forget the load."""
        self._found = None

    def stop(self) -> None:
        """Do nothing: no thread runs beside the stream."""

    def save(self, folder: Path, defects: Sequence[Defect]) -> str:
        """Write the load, and return it in a few words."""
        found, samples = self._session.load(), self._session.samples
        if found is None:
            raise RecordingError(
                f'{samples} samples leave the mass of the load open; move the arm for some '
                'seconds first')
        write_whole(folder / PAYLOAD_JSON, json_text({
            **payload_as_dict(found), 'samples': samples,
            'defects': [dict(vars(defect)) for defect in defects]}).encode())
        verdict = 'trustworthy' if found.trustworthy else 'not trustworthy'
        return f'{samples} samples, {verdict}, in {folder}'

    def _message(self, now: int, found: Payload) -> InertiaStamped:
        """Mass, centre, and inertia about the centre; all zero without a load."""
        message = InertiaStamped()
        message.header.stamp = time_message(now)
        message.header.frame_id = self._frame
        inertia = message.inertia
        values = found.body.fields.tolist() if found.present else [0.0] * len(INERTIA_FIELDS)
        inertia.m, inertia.com.x, inertia.com.y, inertia.com.z = values[:4]
        inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy, inertia.iyz, inertia.izz = values[4:]
        return message
