"""An arm in a 3D scene: its links, where they are and how they are coloured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.pages.view.link_visuals import LinkVisuals
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    import viser

Color = tuple[int, int, int]

#: Links, in turn, of which nothing states the colour; the base.
PLAIN: tuple[Color, Color] = ((196, 203, 211), (160, 170, 182))
BASE: Color = (112, 120, 130)
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
    name : str
        Name of that frame.
    opacity : float
        From 0 to 1.
    color : tuple of int, optional
        Of all links, instead of the colours that their surfaces state.
    visuals : LinkVisuals
        Surfaces of the links.

    """

    def __init__(
        self, scene: viser.SceneApi, arm: ArmModel, name: str = 'arm', opacity: float = 1.0,
        color: Color | None = None, *, visuals: LinkVisuals,
    ) -> None:
        self._arm = arm
        #: Name of the frame of the base, below which other things can be placed.
        self.base = f'/{node_name(name)}'
        scene.add_frame(self.base, show_axes=False, wxyz=quaternion(upright(arm)))
        self._frames = [
            scene.add_frame(f'{self.base}/{i}_{node_name(joint)}', show_axes=False)
            for i, joint in enumerate(arm.tree.link_names)]
        #: Surfaces of all links, to show or hide them.
        self.surfaces: tuple[viser.MeshHandle, ...] = tuple(
            scene.add_mesh_simple(
                f'{self.frame(each.joint)}/surface_{k}', each.vertices, each.faces,
                color=color or each.color or (BASE if each.joint < 0 else PLAIN[each.joint % 2]),
                opacity=None if opacity >= 1 else opacity,
                flat_shading=True, side='double', cast_shadow=False, receive_shadow=False)
            for k, each in enumerate(visuals.surfaces))
        self._joints = [each.joint for each in visuals.surfaces]
        self.place(np.zeros(arm.n))

    def frame(self, joint: int) -> str:
        """Name of the frame of the link that a joint moves, -1 for the base."""
        return self.base if joint < 0 else str(self._frames[joint].name)

    def place(self, q: Array) -> None:
        """Move all links to joint positions (n,), rad or m; keep a link that has no finite one."""
        poses = link_poses(self._arm, np.asarray(q, dtype=float)[None])[0]
        turns = quaternions(poses[:, :9].reshape(-1, 3, 3))
        for frame, turn, pose in zip(self._frames, turns, poses, strict=True):
            if np.isfinite(pose).all():
                frame.wxyz, frame.position = turn, pose[9:]

    def paint(self, values: Array) -> None:
        """Colour the link of each joint by values (n,) from 0 to 1; not a number leaves it."""
        leaders = [each.leader for each in self._arm.tree.followers]
        values = np.append(values, values[leaders])
        for joint, surface in zip(self._joints, self.surfaces, strict=True):
            if joint >= 0 and np.isfinite(values[joint]):
                surface.color = ramp_color(float(values[joint]))


def node_name(text: str) -> str:
    """Make a part of the name of a node in the scene, which others may not break out of."""
    return re.sub(r'\W', '_', text)[:60] or '_'


def ramp_color(value: float) -> Color:
    """Colour of a value from 0 to 1; those outside are cut."""
    red, green, blue = (int(np.interp(value, (0.0, 0.5, 1.0), part)) for part in RAMP.T)
    return red, green, blue


def upright(arm: ArmModel) -> Array:
    """Rotation (3, 3) of the base frame by which gravity points along -z; none without gravity."""
    length = float(np.linalg.norm(arm.gravity))
    if not length > 0:
        return np.eye(3)
    return turn_between(-arm.gravity / length, np.array([0.0, 0.0, 1.0]))


def turn_between(start: Array, end: Array) -> Array:
    """Rotation (3, 3) that turns one direction (3,) into another."""
    import pinocchio

    return np.array(pinocchio.Quaternion.FromTwoVectors(start, end).toRotationMatrix())


def quaternion(rotation: Array) -> Array:
    """Quaternion (4,), w first, of a rotation (3, 3)."""
    return np.asarray(quaternions(rotation[None])[0])


def quaternions(rotations: Array) -> Array:
    """Quaternions (N, 4), w first, of rotations (N, 3, 3)."""
    from viser.transforms import SO3

    return np.asarray(SO3.from_matrix(rotations).wxyz)
