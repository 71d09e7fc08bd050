# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rotation matrices and rotation vectors, by SciPy."""

from __future__ import annotations

import numpy as np

from dynid_ros.utilities.arrays import Array


def turned(vectors: Array) -> Array:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3), rad."""
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_rotvec(vectors.reshape(-1, 3)).as_matrix()
    return np.asarray(flat.reshape(*vectors.shape, 3))


def rotation_vectors(rotations: Array) -> Array:
    """Rotation vectors (..., 3), rad, of rotation matrices (..., 3, 3)."""
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_rotvec()
    return np.asarray(flat.reshape(rotations.shape[:-1]))
