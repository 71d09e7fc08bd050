# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A simulated force-torque sensor at the wrist, as a recording and as a bag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from synthetic_recordings import coloured, Waves

from dynid_ros.arm import load_arm
from dynid_ros.arm.bodies import find_body
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.data.files.wrench_reader import WrenchRecording
from dynid_ros.dynamics.kinematics.body_regressor import body_motion, body_regressor

RATE = 125.0
CENTER, INERTIA = np.array([0.02, -0.03, 0.07]), np.diag([0.004, 0.006, 0.003])
BIAS = np.array([0.3, -0.2, 0.1, 4.0, -3.0, 6.0])
DRIFT = np.array([0.01, 0.0, -0.02, 0.1, -0.2, 0.1])
NOISE = np.repeat([0.01, 0.1], 3)


@dataclass(frozen=True)
class Sensed:
    """A recording, and the truth: the load, and the rotation of the sensor."""

    recording: WrenchRecording
    load: np.ndarray
    rotation: np.ndarray


def rotation_about(axis, degrees):
    """Rotate about an axis, by the exponential of SciPy."""
    from scipy.spatial.transform import Rotation

    axis = np.asarray(axis, dtype=float)
    return Rotation.from_rotvec(np.radians(degrees) * axis / np.linalg.norm(axis)).as_matrix()


def sensed(
    arm: ArmModel | None = None, *, seed: int = 1, mass: float = 1.5, degrees: float = 5.0,
    seconds: float = 30.0, turning: float = 1.0, sign: float = -1.0, push: float = 0.0,
    drift: float = 1.0,
) -> Sensed:
    """
    Move a sensor along waves.

    `turning` scales the motion, `push` is a force along x in the last tenth, N, and `sign` is
    negative where the sensor feels the load.
    """
    arm = load_arm('ur10') if arm is None else arm
    t = np.arange(round(seconds * RATE)) / RATE
    waves = Waves.random(arm, seed)
    q, qd, qdd = waves.at(t)
    q, qd, qdd = waves.centre + turning * (q - waves.centre), turning * qd, turning * qdd
    joint, place = find_body(arm, 'tool')
    load = inertial_from_com(mass, CENTER, mass * INERTIA)
    rotation = rotation_about([1, -2, 2], degrees)
    wrench = np.einsum('ij,kjp,p->ki', np.kron(np.eye(2), sign * rotation.T),
                       body_regressor(body_motion(arm, joint, place, q, qd, qdd)), load)
    wrench += BIAS + drift * np.linspace(-1, 1, len(t))[:, None] * DRIFT
    rng = np.random.default_rng([seed, 4])
    wrench += coloured(rng, len(t), NOISE, 0.6)
    wrench[9 * len(t) // 10:, 3] += push
    q = q + 1e-5 * rng.normal(size=q.shape)
    log = WrenchRecording(t, q, wrench, 'ft_frame', 'simulated', '/wrench')
    return Sensed(log, load, rotation)


def write_bag(path: Path, arm: ArmModel, found: WrenchRecording, frames=('ft_frame',)) -> None:
    """Write joint states and wrenches, each on stamps of its own, by rosbags alone."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import get_typestore, Stores

    store = get_typestore(Stores.ROS2_JAZZY)
    kinds = store.types
    header, time = kinds['std_msgs/msg/Header'], kinds['builtin_interfaces/msg/Time']
    vector, wrench = kinds['geometry_msgs/msg/Vector3'], kinds['geometry_msgs/msg/Wrench']
    names = ('sensor_msgs/msg/JointState', 'geometry_msgs/msg/WrenchStamped')

    def stamped(ns, frame=''):
        return header(time(int(ns // 10**9), int(ns % 10**9)), frame)

    messages = []
    for t, q in zip(found.t, found.q, strict=True):
        ns = round(1e9 * (t + 1.0))
        messages.append((ns, 0, kinds[names[0]](
            stamped(ns), list(arm.joint_names), q, np.zeros(0), np.zeros(0))))
    # Half a sample later, where the wrench is the mean of both neighbours.
    between = (found.wrench[1:] + found.wrench[:-1]) / 2
    for k, values in enumerate(between):
        ns = round(1e9 * (found.t[k] + 0.5 / RATE + 1.0))
        messages.append((ns, 1, kinds[names[1]](
            stamped(ns, frames[k % len(frames)]),
            wrench(vector(*values[3:]), vector(*values[:3])))))
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = [writer.add_connection(topic, name, typestore=store)
                  for topic, name in zip(('/joint_states', '/ft/wrench'), names, strict=True)]
        for ns, topic, message in sorted(messages, key=lambda each: each[:2]):
            writer.write(topics[topic], ns, store.serialize_cdr(message, names[topic]))
