"""
Compiled steps of the recursions over the links of an arm.

One code path for revolute and prismatic joints and any tree. Vectors are tuples of three floats
and rotations tuples of nine, row by row: the compiler keeps them in registers, where small arrays
would go through memory.
"""

from __future__ import annotations

import math

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

Vector = tuple[float, float, float]
Rotation = tuple[float, float, float, float, float, float, float, float, float]

INVERSE_PI = 1 / math.pi
#: 1.5 times 2 to the power of 52.
WHOLE = 6755399441055744.0
#: Pi in parts of 33 bits, so that their products with whole numbers are exact.
PI_PARTS = tuple(map(float.fromhex, (
    '0x1.921fb544p+1', '0x1.0b4611a6p-33', '0x1.3198a2e037073p-68')))
#: Factors of the series of sin r / r and of (1 - cos r) / r², signs apart, up to the power of 20.
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
def load(rows: Array, k: int, c: int) -> Vector:
    """Vector from row ``k`` of an array, from column ``c`` on."""
    return (rows[k, c], rows[k, c + 1], rows[k, c + 2])


@kernel
def joint_screw(sliding: bool, z: Vector) -> tuple[Vector, Vector]:
    """Angular and linear velocity that unit speed of a joint gives its own link."""
    zero = (0.0, 0.0, 0.0)
    if sliding:
        return zero, z
    return z, zero
