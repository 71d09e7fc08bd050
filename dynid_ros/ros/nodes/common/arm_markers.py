# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Markers in the links of the robot's own description: centres of mass, and contacts."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from rclpy.node import Node
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.pages.viewer.scene.inertia_ellipsoids import ellipsoids
from dynid_ros.ros.nodes.common.qos import LATCHED

#: Diameter of a ball of 1 kg, and of the ball of a contact, m: the volume shows the mass.
BALL, CONTACT_DIAMETER_M = 0.06, 0.15
CONTACT_COLOUR = (0.84, 0.15, 0.16)
#: Longest description that is read: 20 MB of XML take a second.
LONGEST_DESCRIPTION = 20_000_000


class ArmMarkers:
    """
    Publish ``~/markers``, once ``robot_description`` gives the TF names of the links.

    Frames of links in URDF are those of this package: a joint and its child share one.

    Parameters
    ----------
    node : Node
        Owner.
    model : IdentifiedModel
        Its links have centres of mass.

    Attributes
    ----------
    frames : dict of str to str
        TF frames of links by the joints that move them; empty without a description.

    """

    def __init__(self, node: Node, model: IdentifiedModel) -> None:
        self._node, self._arm = node, model.arm
        try:
            self._links = ellipsoids(model)
        except InputError as error:
            node.get_logger().warning(f'no markers of centres of mass: {error}')
            self._links = ()
        self._touched: tuple[str, ...] = ()
        self.frames: dict[str, str] = {}
        self._publisher = node.create_publisher(MarkerArray, '~/markers', LATCHED)
        node.create_subscription(String, 'robot_description', self._hear, LATCHED)

    def touch(self, joints: Iterable[str]) -> None:
        """Mark the links of joints that feel a contact, and no others."""
        if self._touched != (touched := tuple(joints)):
            self._touched = touched
            self._publish()

    def _hear(self, message: String) -> None:
        try:
            if len(message.data) > LONGEST_DESCRIPTION:
                raise ValueError(f'it has {len(message.data)} characters')
            joints = ElementTree.fromstring(message.data).iter('joint')
        except (ElementTree.ParseError, ValueError) as error:
            self._node.get_logger().warning(f'robot_description cannot be read: {error}')
            return
        children = {each.get('name'): each.find('child') for each in joints}
        self.frames = {
            name: str(child.get('link')) for name in self._arm.tree.link_names
            if (child := children.get(name)) is not None}
        lacking = [name for name in self._arm.joint_names if name not in self.frames]
        if lacking:
            self._node.get_logger().warning(
                f'robot_description has no joint {", ".join(lacking)}: no markers there')
        self._publish()

    def _publish(self) -> None:
        markers = []
        for number, link in enumerate(self._links):
            frame = self.frames.get(link.joint)
            if frame is None:
                continue
            colour = tuple(part / 255 for part in link.color)
            markers += [
                _ball('centre of mass', number, frame, BALL * link.mass ** (1 / 3), colour,
                      link.center.tolist()),
                _ball('contact', number, frame, CONTACT_DIAMETER_M, CONTACT_COLOUR,
                      [0.0, 0.0, 0.0], link.joint in self._touched)]
        if markers:
            self._publisher.publish(MarkerArray(markers=markers))


def _ball(
    kind: str, number: int, frame: str, diameter: float, colour: tuple[float, ...],
    place: list[float], there: bool = True,
) -> Marker:
    """Make a ball that moves with the newest transform of a frame; or remove one."""
    marker = Marker(ns=kind, id=number, type=Marker.SPHERE, frame_locked=True,
                    action=Marker.ADD if there else Marker.DELETE)
    marker.header.frame_id = frame
    marker.pose.position.x, marker.pose.position.y, marker.pose.position.z = place
    marker.pose.orientation.w = 1.0
    marker.scale.x = marker.scale.y = marker.scale.z = diameter
    marker.color.r, marker.color.g, marker.color.b = colour
    marker.color.a = 0.7
    return marker
