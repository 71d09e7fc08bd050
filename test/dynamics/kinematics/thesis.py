# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Programs of the thesis' appendix for its leg 2, with every slip of theirs kept.

Names: c1, s23 and so on are cosines and sines of joints and their sums; R is a row of the
orientation of the body and dR its error; brackets stand where the printed programs close them.
"""

import numpy as np


def frame(rotation, translation):
    """Return a homogeneous transform."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, translation
    return pose


def hand_pose(theta, lengths, wrist, body_turn, p_body, hip, hip_entry='sin'):
    """
    Return the pose of appendix 1, ``O_T_AI``.

    `wrist` is what stands as the last length (l3 in the program), `hip_entry` what stands where
    the transform of the hip needs minus cos.
    """
    (c1, c2, c3, c4), (s1, s2, s3, s4) = np.cos(theta), np.sin(theta)
    l1, l2 = lengths
    entry = {'sin': -s1, 'cos': -c1}[hip_entry]
    T1 = np.array([[c1, 0, s1, l1 * c1], [s1, 0, entry, l1 * s1], [0, 1, 0, 0], [0, 0, 0, 1]])
    T2 = np.array([[c2, -s2, 0, l2 * c2], [s2, c2, 0, l2 * s2], [0, 0, 1, 0], [0, 0, 0, 1]])
    T3 = np.array([[c3, 0, s3, 0], [s3, 0, -c3, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    T4 = np.array([[c4, -s4, 0, 0], [s4, c4, 0, 0], [0, 0, 1, wrist], [0, 0, 0, 1]])
    return frame(body_turn, p_body) @ frame(np.eye(3), hip) @ T1 @ T2 @ T3 @ T4


def forward_errors(
    theta, d_theta, l1, l2, d4, d_l2, body_turn, d_body_turn, p_body, d_body, hip, d_hip,
):
    """Return ``d_F`` of appendix 1, (3, 4); errors of l1 and d4 are zero in the example."""
    c1, c2, _, c4 = np.cos(theta)
    s1, s2, _, s4 = np.sin(theta)
    t1, d1, d2, d3, d_4 = theta[0], *d_theta
    c23, s23, d23 = np.cos(theta[1] + theta[2]), np.sin(theta[1] + theta[2]), d2 + d3
    result = np.zeros((3, 4))
    for r in range(3):
        (R1, R2, R3), (e1, e2, e3) = body_turn[r], d_body_turn[r]
        inner = np.sin(t1 * d1 * c23 * c4 + c1 * s23 * d23 * c4 + c1 * c23 * s4 * d_4
                       - c1 * d1 * s4 - s1 * c4 * d_4)
        result[r, 0] = e1 * (c1 * c23 * c4 + s1 * s4) - R1 * (
            inner + e2 * (s1 * c23 * c4 - c1 * s4)
            + R2 * (c1 * d1 * c23 * c4 - s1 * s23 * d23 * c4 - s1 * c23 * s4 * d_4
                    + s1 * d1 * s4 - c1 * c4 * d_4)
            + e3 * s23 * c4 + R3 * c23 * d23 * c4 + R3 * s23 * s4 * d_4)
        result[r, 1] = e1 * (
            -np.cos(t1 * c23 * s4 + s1 * c4)
            + R1 * (s1 * d1 * c23 * s4 + c1 * s23 * d23 * s4 - c1 * c23 * c4 * d_4
                    + c1 * d1 * c4 - s1 * s4 * d_4)
            - e2 * s1 * c23 * s4 + c1 * c4
        ) - R2 * (c1 * d1 * c23 * s4 - s1 * s23 * d23 * s4 + s1 * c23 * c4 * d_4
                  - s1 * d1 * c4 - c1 * s4 * d_4
                  ) - e3 * s23 * s4 + R3 * c23 * d23 * s4 - R3 * s23 * c4 * d_4
        result[r, 2] = (
            e1 * c1 * s23 - R1 * s1 * d1 * s23 + R1 * c1 * c23 * d23 + e2 * s1 * s23
            + R2 * c1 * d1 * s23 + R2 * s1 * c23 * d23 - e3 * c23 + R3 * s23 * d23)
        reach = d4 * c1 * s23 + l2 * c1 * c2 + l1 * c1 + hip[0] + p_body[0]
        first = R1 * (
            -d4 * s1 * d1 * s23 + d4 * c1 * c23 * d23 + d_l2 * c1 * c2 - l2 * s1 * d1 * c2
            - l2 * c1 * s2 * d2 - l1 * s1 * d1 + d_hip[0] + d_body[0])
        other = (
            e2 * (s1 * s23 * d4 + s1 * l2 * c2 + l1 * s1)
            + R2 * (c1 * d1 * s23 * d4 + s1 * c23 * d23 * d4 + c1 * d1 * l2 * c2
                    - s1 * l2 * s2 * d2 + l1 * c1 * d1)
            + e3 * (-c23 * d4 + l2 * s2)
            + R3 * (s23 * d23 * d4 + d_l2 * s2 + l2 * c2 * d2)
            + e1 * hip[0] + R1 * d_hip[0] + e2 * hip[1] + R2 * d_hip[1] + e3 * hip[2]
            + R3 * d_hip[2] + d_body[0])
        # In row 2 the bracket of the first product closes at the very end.
        result[r, 3] = e1 * (reach + first + other) if r == 1 else e1 * reach + first + other
    result[1, 3] = result[1, 2]
    return result


def inverse_angles(target, point, lengths, d4, p_body, hip):
    """
    Return the four joint angles of appendix 2, rad; the body is not turned.

    `target` is the wanted pose, of which only the orientation is used; `point` the place.
    """
    x, y, z = point - p_body - hip
    approach = target[2, 2]
    t1 = np.arctan(y / x)
    t2 = np.arcsin((z - d4 * approach) / lengths[1])
    t23 = np.arccos(-approach)
    f13n, f13o = (np.sin(t1) * target[0, k] - np.cos(t1) * target[1, k] for k in range(2))
    return np.array([t1, t2, t23 - t2, np.arctan(f13n / f13o)])


def inverse_errors(theta, lengths, d4, p_body, hip, d_target, d_body, d_l2, d_d4):
    """Return ``d_Theta1`` to ``d_Theta4`` of appendix 2; the body is not turned."""
    (c1, c2, _, c4), (s1, s2, _, s4) = np.cos(theta), np.sin(theta)
    c23, s23 = np.cos(theta[1] + theta[2]), np.sin(theta[1] + theta[2])
    l1, l2 = lengths
    f11 = c1 * c23 * c4 + s1 * s4
    f21 = s1 * c23 * c4 + c1 * s4
    f13, f23, f33 = c1 * s23, s1 * s23, -c23
    # Brackets again: parts of the place are added to every coordinate.
    along = s1 * l2 * c2 + l1 * s1
    f14 = d4 * c1 * s23 + l2 * c1 * c2 + l1 * c1 + hip[0] + p_body[0] + along + hip[0] + p_body[0]
    f24 = s1 * s23 * d4 + along + hip[1] + p_body[0]
    f34 = along + (-c23 * d4 + l2 * s2) + hip[2] + p_body[0]
    x, y = f14 - p_body[0] - hip[0], f24 - p_body[1] - hip[1]
    dx, dy = d_target[0, 3] - d_body[0], d_target[1, 3] - d_body[1]
    radius = np.hypot(x, y)
    d1 = ((2 * x * dx + 2 * y * dy) / 2 * radius * c1 - dx) / (radius * s1)
    root = np.emath.sqrt(1 - (f13 * 0 + f23 * 0 + f33**2) + f33 / 2)
    d23 = d_target[2, 2] * root * d_target[2, 2] * (1 - (f33**2) ** 0.5)
    height = f34 - p_body[2] - hip[2]
    d2 = ((d_target[2, 3] - d_body[2]) * l2 - d_d4 * f33 * l2 - d4 * d_target[2, 2] * l2
          - height * d_l2 + d4 * f33 * d_l2) / l2**2 * c2
    d4_angle = (c1 * d1 * f11 + s1 * d_target[0, 0] + s1 * d1 * f21 - c1 * d_target[1, 0]) / c4
    return np.array([d1, d2, np.real(d23) - d2, d4_angle])
