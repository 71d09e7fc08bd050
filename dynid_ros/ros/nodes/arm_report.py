# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Reports of the identifier on the parameters of an arm, their verdict and its links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from rclpy.node import Node
from std_msgs.msg import String

from dynid_ros.applications.export.urdf import robot_description
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.online.live_verdict import Judge, LiveVerdict
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.result_files.result_file import write_result
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.qos import LATCHED


class ArmReport:
    """
    Publish estimates and links, and judge the session.

    Parameters
    ----------
    node : Node
        Owner.
    session : OnlineIdentifier
        The session.
    description : str
        Parameter ``arm``, the source of robot descriptions.

    """

    def __init__(self, node: Node, session: OnlineIdentifier, description: str) -> None:
        self._node, self._session = node, session
        self._judge = Judge(session, robot_description(description))
        self._description, self._fault = '', ''
        self._judged = LiveVerdict()
        self._estimates = node.create_publisher(DynamicJointState, '~/estimates', LATCHED)
        self._standard = node.create_publisher(
            DynamicJointState, '~/standard_parameters', LATCHED)
        self._robot = node.create_publisher(String, '~/robot_description', LATCHED)

    def look(self, now: int) -> None:
        """Publish new findings of the judge."""
        found = self._judge.update()
        if found is None:
            return
        logger = self._node.get_logger()
        if found.fault:
            self._fault = f'a fault of dynid: {found.fault}'
            logger.error(f'{self._fault}; the estimates go on, without a verdict and links')
        if found.verdict is not None:
            self._judged = replace(found, uses=found.uses or self._judged.uses)
        links = found.parameters
        if links is not None:
            self._standard.publish(say.numbers(now, links.names, {
                'value': links.values, 'std': links.std, 'data_share': links.data_share,
                'impossible': np.isin(links.names, links.impossible)}))
        if found.description not in (None, self._description):
            if not self._description:
                logger.info('trustworthy now; ~/robot_description has the links')
            self._description = found.description
            self._robot.publish(String(data=found.description))

    def publish(self, now: int) -> None:
        """Publish the current estimates."""
        arm, estimate = self._session.arm, self._session.estimate()
        self._estimates.publish(say.parameter_numbers(
            now, base_parameters(arm).names, estimate.theta, estimate.std, estimate.from_data))

    def health(self) -> list[DiagnosticStatus]:
        """Return the status of the verdict, if there is one."""
        node, arm = self._node, self._session.arm
        if self._fault:
            return [say.status(node, arm, 'verdict', say.ERROR, self._fault)]
        return [] if self._judged.verdict is None else [
            say.verdict_status(node, arm, self._judged)]

    def reset(self) -> None:
        """Forget all findings."""
        self._judged, self._fault = LiveVerdict(), ''

    def stop(self) -> None:
        """Wait for the judge."""
        self._judge.stop()

    def save(self, folder: Path, defects: Sequence[Defect]) -> str:
        """Write the result, and return it in a few words."""
        result = self._session.result(defects)
        figures = [each.relative_error_percent for each in (result.fit, result.validation) if each]
        if not np.isfinite(figures).any():
            # A result of an arm at rest must not replace one of a motion.
            raise RecordingError('the arm has not moved; move it for some seconds first')
        write_result(result, folder)
        # Remove the page of an earlier result, which users would take for that of this one.
        (folder / 'report.html').unlink(missing_ok=True)
        verdict = 'trustworthy' if result.verdict.trustworthy else 'not trustworthy'
        return f'{result.samples} samples, {verdict}, in {folder}'
