"""Boxes around the collision shapes of each link, within which its centre of mass lies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.feasibility.bounding_capsule import corners
from dynid_ros.feasibility.link_shapes import Body

Array = NDArray[np.float64]


def link_boxes(bodies: Sequence[Body], joints: int) -> Array:
    """
    Return the box along the axes of each joint's frame around the shapes of its link.

    Parameters
    ----------
    bodies : sequence of Body
        From `urdf_bodies`.
    joints : int
        n.

    Returns
    -------
    (n, 3, 2) ndarray
        x, y and z from and to, m; infinite for a link without a shape.

    """
    boxes = np.full((joints, 3, 2), (-np.inf, np.inf))
    for joint in range(joints):
        points = [np.array([body.placement.act(corner) for corner in corners(body.shape)])
                  for body in bodies if body.joint == joint]
        if points:
            every = np.concatenate(points)
            boxes[joint] = np.column_stack([every.min(axis=0), every.max(axis=0)])
    return boxes
