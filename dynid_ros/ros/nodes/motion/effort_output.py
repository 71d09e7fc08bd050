# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Output of the trajectory publisher as torques."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.loop_stability import check_stable, proposed_gains
from dynid_ros.motion.execution.motion_output import TorqueOutput
from dynid_ros.motion.execution.tracking_control import Gains
from dynid_ros.utilities.arrays import Array

#: Ratio of two periods, as a logarithm, up to which stability is not checked again.
SAME_PERIOD = 0.2


class EffortOutput(TorqueOutput):
    """
    PD control with feed-forward in this process, on ``effort_commands``.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        The arm, with physical nominal inertial parameters.
    order : sequence of str
        Joints in the order of the commands.
    gains : Gains or None
        Of the PD control; proposed by the rate of the states if not given.
    ahead : str
        Feed-forward, as for `TorqueOutput`.
    silent : bool
        Whether nothing is commanded: a dry run.

    """

    def __init__(
        self, node: Node, arm: ArmModel, order: Sequence[str], gains: Gains | None, ahead: str,
        silent: bool,
    ) -> None:
        if sorted(order) != sorted(arm.joint_names):
            raise InputError(
                f'effort_joints must be the joints {", ".join(arm.joint_names)} in the order of '
                f'the controller, not {", ".join(order)}')
        super().__init__(arm, gains, ahead, self._publish)
        self._arm = arm
        self._checked = 0.0
        self._order = np.array([arm.joint_names.index(name) for name in order])
        self._silent = silent
        self._publisher = node.create_publisher(Float64MultiArray, 'effort_commands', 10)

    @property
    def missing(self) -> str:
        """Reason why nothing can be commanded now; empty for none."""
        if self._silent or self._publisher.get_subscription_count():
            return ''
        return f'nothing subscribes to {self._publisher.topic_name}'

    def prepare(self, period: float, _names: Sequence[str], /) -> None:
        """Propose gains for the first motion, and make sure that the loop is stable."""
        if self._checked and abs(np.log(period / self._checked)) < SAME_PERIOD:
            return
        # Do not change the gains of an arm that is held already.
        if self.gains is None:
            self.gains = proposed_gains(self._arm, period)
        check_stable(self._arm, self.gains, period)
        self._checked = period

    def _publish(self, tau: Array) -> None:
        if not self._silent:
            self.sent = tau[self._order].tolist()
            self._publisher.publish(Float64MultiArray(data=self.sent))
