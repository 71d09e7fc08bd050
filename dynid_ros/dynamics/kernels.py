"""
Compiled steps of the recursions over the links of an arm.

One code path for revolute and prismatic joints and any tree. Vectors are tuples of three floats
and rotations tuples of nine, row by row: the compiler keeps them in registers, where small arrays
would go through memory.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

Vector = tuple[float, float, float]
Rotation = tuple[float, float, float, float, float, float, float, float, float]

INVERSE_PI = 1 / math.pi
#: 1.5 times 2 to the power of 52.
WHOLE = 6755399441055744.0
#: Pi in parts of 33 bits, so that their products with integers are exact.
PI_PARTS = tuple(map(float.fromhex, (
    '0x1.921fb544p+1', '0x1.0b4611a6p-33', '0x1.3198a2e037073p-68')))
#: Factors of the series of sin r / r and of (1 - cos r) / r², without signs, up to power 20.
SERIES = tuple((1 / math.factorial(2 * k + 1), 1 / math.factorial(2 * k + 2)) for k in range(11))


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """Cross product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def plus(a: Vector, b: Vector) -> Vector:
    """Sum."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def scaled(factor: float, a: Vector) -> Vector:
    """Multiple."""
    return (factor * a[0], factor * a[1], factor * a[2])


@kernel
def turn(r: Rotation, a: Vector) -> Vector:
    """Express a vector of the parent's frame in the link's frame, which is ``rᵀ a``."""
    return (
        r[0] * a[0] + r[3] * a[1] + r[6] * a[2],
        r[1] * a[0] + r[4] * a[1] + r[7] * a[2],
        r[2] * a[0] + r[5] * a[1] + r[8] * a[2],
    )


@kernel
def sine_and_rise(x: float) -> tuple[float, float]:
    """
    Sine, and one minus the cosine, of an angle, without branches: loops of it are vectorised.

    Both by their series about the nearest multiple of pi, which is taken off in three parts (Cody
    and Waite 1980). Within two roundings of one for angles up to a million rad.
    """
    # Adding a large number leaves no digits behind the point.
    turns = (x * INVERSE_PI + WHOLE) - WHOLE
    odd = turns - 2.0 * ((0.5 * turns + WHOLE) - WHOLE)
    sign = 1.0 - 2.0 * odd * odd
    r = ((x - turns * PI_PARTS[0]) - turns * PI_PARTS[1]) - turns * PI_PARTS[2]
    y = r * r
    sine, rise = SERIES[-1]
    for c in range(len(SERIES) - 2, -1, -1):
        sine = SERIES[c][0] - y * sine
        rise = SERIES[c][1] - y * rise
    return sign * r * sine, (1.0 - sign) + sign * y * rise


@kernel
def entry(turns: Array, j: int, e: int, s: float, v: float) -> float:
    """Entry ``e`` of the orientation of a link in its parent."""
    return float(turns[j, e] + s * turns[j, 9 + e] + v * turns[j, 18 + e])


@kernel
def orientation(turns: Array, j: int, q: float) -> Rotation:
    """
    Orientation of a link in its parent.

    Rodrigues' formula, expanded once for each joint: row ``j`` of ``turns`` (n, 27) holds the
    placement, then the factors of sin q and of 1 - cos q.
    """
    s = np.sin(q)
    v = 1.0 - np.cos(q)
    return (
        entry(turns, j, 0, s, v), entry(turns, j, 1, s, v), entry(turns, j, 2, s, v),
        entry(turns, j, 3, s, v), entry(turns, j, 4, s, v), entry(turns, j, 5, s, v),
        entry(turns, j, 6, s, v), entry(turns, j, 7, s, v), entry(turns, j, 8, s, v),
    )


@kernel
def load(rows: Array, k: int, c: int) -> Vector:
    """Vector from row ``k`` of an array, from column ``c`` on."""
    return (rows[k, c], rows[k, c + 1], rows[k, c + 2])


@kernel
def store(rows: Array, k: int, c: int, a: Vector) -> None:
    """Write a vector into row ``k`` of an array, from column ``c`` on."""
    rows[k, c] = a[0]
    rows[k, c + 1] = a[1]
    rows[k, c + 2] = a[2]


@kernel
def pose_in_parent(
    prismatic: NDArray[np.bool_], turns: Array, translation: Array, slide: Array, j: int, q: float,
) -> tuple[Rotation, Vector]:
    """Rotation and translation of a link in its parent, the step of every outward recursion."""
    shift = plus(load(translation, j, 0), scaled(q, load(slide, j, 0)))
    return orientation(turns, j, 0.0 if prismatic[j] else q), shift


@kernel
def joint_screw(sliding: bool, z: Vector) -> tuple[Vector, Vector]:
    """Angular and linear velocity that unit speed of a joint gives its own link."""
    zero = (0.0, 0.0, 0.0)
    if sliding:
        return zero, z
    return z, zero


@kernel
def carry_screw(
    screw: Array, source: int, row: int, c: int, r: Rotation, shift: Vector,
) -> tuple[Vector, Vector]:
    """
    Transform a screw from the frame of a link to the frame of a link that it carries.

    Parameters
    ----------
    screw : (n², m) ndarray
        Screws by pair of joints.
    source, row, c : int
        Row of the screw in the inner link, row for the result, and the first column in both.
    r, shift : tuple
        Rotation and translation of the outer link, from `pose_in_parent`.

    """
    o = load(screw, source, c)
    v = turn(r, plus(load(screw, source, c + 3), cross(o, shift)))
    o = turn(r, o)
    store(screw, row, c, o)
    store(screw, row, c + 3, v)
    return o, v
