# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Wrong zeros and lengths
=======================

A wrong joint zero or link length changes the torque of a motion. The parameters absorb a part of
the change, which is their bias; the rest stays as a residual. Here are both, for one degree or
one millimetre of each error that moves a link.
"""

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.kinematics.error_sources import error_sources, perturbed_arm
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.motion.excitation.random_motion import random_motion

arm = dyn.load_arm('ur10').rigid
q, qd, qdd = random_motion(arm, 0, harmonics=5).one_period(500)
inertial = arm.inertial.ravel()

# %%
# Each error by central differences: readings are off at the joints, all else in the geometry.
STEP = 1e-5
sources = dict.fromkeys(source for name in arm.joint_names
                        for source in error_sources(arm, name) if source.joint >= 0)


def torque(source, size):
    """Torque of the motion with one error of a size, by the limit of each drive."""
    reading = source.group == 'reading'
    moved = q + size * np.eye(arm.n)[source.joint] if reading else q
    other = arm if reading else perturbed_arm(arm, source, size)
    return (regressor(other, moved, qd, qdd) @ inertial / arm.limits.effort).ravel()


changes = {source: (torque(source, STEP) - torque(source, -STEP)) / (2 * STEP)
           for source in sources}

# %%
# What parameters can absorb is a combination of the columns of the regressor:
W = regressor(arm, q, qd, qdd)[:, :, base_parameters(arm).columns] / arm.limits.effort[:, None]
basis = np.linalg.qr(W.reshape(-1, W.shape[2]))[0]
whole = np.linalg.norm((regressor(arm, q, qd, qdd) @ inertial / arm.limits.effort).ravel())

figure, axis = plt.subplots(figsize=(8, 6), layout='constrained')
for row, (source, change) in enumerate(changes.items()):
    size = np.radians(1.0) if source.turning else 1e-3
    left = np.linalg.norm(change - basis @ (basis.T @ change))
    axis.barh(row, 100 * size * np.linalg.norm(change) / whole, color='#b7d3e6')
    axis.barh(row, 100 * size * left / whole, color='#0b76b8')
axis.set_yticks(range(len(changes)), [source.label(arm) for source in changes], fontsize=7)
axis.set_xlabel('change of the torque by 1 degree or 1 mm, %; dark: what no parameters absorb')
