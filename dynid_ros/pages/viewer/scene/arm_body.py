# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An arm in a 3D scene: its links, their poses and colours."""

from __future__ import annotations

from collections.abc import Sequence
import re
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.pages.viewer.scene.link_visuals import Visual
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    import viser

Color = tuple[int, int, int]

UP = np.array([0.0, 0.0, 1.0])
#: Links without a stated colour, in turn; the base.
LINK_COLOURS: tuple[Color, Color] = ((196, 203, 211), (160, 170, 182))
BASE_COLOUR: Color = (112, 120, 130)
#: Colours of the values 0, 1/2 and 1 of a joint: distinct for the colour-blind, too.
RAMP = np.array([(218, 222, 228), (245, 170, 60), (178, 24, 43)], dtype=float)


class ArmBody:
    """
    The links of an arm in a scene.

    All stand below one frame, the base frame of the arm, turned so that gravity points down.

    Parameters
    ----------
    scene : viser.SceneApi
        The scene.
    arm : ArmModel
        The arm.
    visuals : sequence of Visual
        Surfaces of its links.
    name : str
        Name of that frame, a part of the names of all others.
    opacity : float, optional
        From 0 to 1; opaque by default.
    color : tuple of int, optional
        Of all links, instead of the colours that their surfaces state.

    Attributes
    ----------
    base : FrameHandle
        The frame of the base, below which other things can be placed.
    surfaces : list of MeshHandle
        Of all links, to show or hide them.
    upright : (3, 3) ndarray
        Rotation of the base frame by which gravity points down.

    """

    def __init__(
        self, scene: viser.SceneApi, arm: ArmModel, visuals: Sequence[Visual], name: str = 'arm',
        opacity: float | None = None, color: Color | None = None,
    ) -> None:
        self._arm, self.upright = arm, upright(arm)
        self.base = scene.add_frame(
            f'/{name}', show_axes=False, wxyz=quaternions(self.upright))
        self._frames = [
            scene.add_frame(f'/{name}/{i}_{node_name(joint)}', show_axes=False)
            for i, joint in enumerate(arm.tree.link_names)]
        self._joints = [each.joint for each in visuals]
        self.surfaces = [
            scene.add_mesh_simple(
                f'{self.frame(each.joint)}/surface_{k}', each.vertices, each.faces,
                color=color or each.color or (
                    BASE_COLOUR if each.joint < 0 else LINK_COLOURS[each.joint % 2]),
                opacity=opacity, flat_shading=True, side='double', cast_shadow=False,
                receive_shadow=False)
            for k, each in enumerate(visuals)]
        self.place(np.zeros(arm.n))

    def frame(self, joint: int) -> str:
        """Name of the frame of the link that a joint moves, -1 for the base."""
        return str((self.base if joint < 0 else self._frames[joint]).name)

    def place(self, q: Array) -> None:
        """Move all links to joint positions (n,), rad or m; keep a link that has no finite one."""
        turns, origins = (each[0] for each in link_frames(self._arm, q[None]))
        for frame, turn, origin in zip(self._frames, quaternions(turns), origins, strict=True):
            if np.isfinite([*turn, *origin]).all():
                frame.wxyz, frame.position = turn, origin

    def paint(self, values: Array) -> None:
        """Colour the link of each joint by values (n,) from 0 to 1; not a number leaves it."""
        leaders = [each.leader for each in self._arm.tree.followers]
        values = np.append(values, values[leaders])
        for joint, surface in zip(self._joints, self.surfaces, strict=True):
            if joint >= 0 and np.isfinite(values[joint]):
                surface.color = ramp_color(float(values[joint]))


def node_name(text: str) -> str:
    """Make a safe part of the name of a node in the scene."""
    return re.sub(r'\W', '_', text)[:60] or '_'


def ramp_color(value: float) -> Color:
    """Colour of a value, clipped to 0 to 1."""
    red, green, blue = (int(np.interp(value, (0.0, 0.5, 1.0), part)) for part in RAMP.T)
    return red, green, blue


def link_frames(arm: ArmModel, q: Array) -> tuple[Array, Array]:
    """Rotations (N, n, 3, 3) and origins (N, n, 3) of all links at positions (N, n)."""
    poses = link_poses(arm, q)
    return poses[..., :9].reshape(*poses.shape[:2], 3, 3), poses[..., 9:]


def upright(arm: ArmModel) -> Array:
    """Rotation (3, 3) of the base frame by which gravity points along -z; none without gravity."""
    return turn_between(-arm.gravity, UP) if arm.gravity.any() else np.eye(3)


def turn_between(start: Array, end: Array) -> Array:
    """Rotation (3, 3) that turns one direction (3,) into another."""
    import pinocchio

    return np.array(pinocchio.Quaternion.FromTwoVectors(start, end).toRotationMatrix())


def quaternions(rotations: Array) -> Array:
    """Quaternions (..., 4), w first, of rotations (..., 3, 3)."""
    from viser.transforms import SO3

    return np.asarray(SO3.from_matrix(rotations).wxyz)
