# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Surfaces of shapes as triangles, few enough for a browser."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array

Faces = NDArray[np.int64]

#: Triangles above which a mesh is coarsened, so that a computer without a graphics card draws the
#: arm, and an exported page grows by 1 MB only.
MOST_FACES = 5000
#: Cells along the longest side of a coarsened mesh, initially and at least.
CELLS, FEWEST_CELLS = 128, 20
#: Sides of a round shape.
ROUND = 24


def surface_of(shape: Any, placement: Any) -> tuple[Array, Faces]:
    """
    Return the corners (V, 3), m, and triangles (F, 3) of a shape of coal at a place.

    A mesh of more than `MOST_FACES` triangles is coarsened.
    """
    corners, faces = _own_surface(shape)
    return corners @ placement.rotation.T + placement.translation, faces


def _own_surface(shape: Any) -> tuple[Array, Faces]:
    """Return the same in the frame of the shape."""
    import coal
    from trimesh import convex, creation

    from dynid_ros.motion.feasibility.bounding_capsule import corners

    if hasattr(shape, 'tri_indices'):
        return _coarse(np.array(shape.vertices()).reshape(-1, 3), np.array(
            [[t[0], t[1], t[2]] for t in map(shape.tri_indices, range(shape.num_tris))],
            dtype=np.int64).reshape(-1, 3))
    if isinstance(shape, coal.Cylinder):
        points = creation.cylinder(
            radius=shape.radius, height=2 * shape.halfLength, sections=ROUND).vertices
    elif isinstance(shape, (coal.Sphere, coal.Capsule)):
        ball = creation.icosphere(subdivisions=3, radius=shape.radius).vertices
        end = np.array([0.0, 0.0, getattr(shape, 'halfLength', 0.0)])
        points = np.concatenate([ball - end, ball + end])
    else:
        points = corners(shape)
    mesh = convex.convex_hull(points)
    return np.array(mesh.vertices), np.array(mesh.faces)


def _coarse(corners: Array, faces: Faces) -> tuple[Array, Faces]:
    """Merge the corners in each cell of a grid, made coarser until few triangles are left."""
    from trimesh import Trimesh

    side = float(np.ptp(corners, axis=0).max()) or 1.0
    # Merge equal corners: STL files repeat each one for each triangle.
    mesh, cells = Trimesh(corners, faces), CELLS
    while len(mesh.faces) > MOST_FACES and cells >= FEWEST_CELLS:
        mesh = Trimesh(np.round(corners / side * cells) * side / cells, faces)
        mesh.update_faces(mesh.unique_faces() & mesh.nondegenerate_faces())
        cells = cells * 4 // 5
    return np.array(mesh.vertices), np.array(mesh.faces)
