# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Design a motion and look at it
==============================

An exciting motion determines every parameter within the limits of the arm. The design takes some
seconds and keeps limits of position, velocity, acceleration and torque, and the clearance from the
arm itself and its surroundings, at all times.
"""

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn

design = dyn.design_excitation('panda', seconds=2.0, starts=1)
print(design)

# %%
# Position, velocity, acceleration and torque of each joint, with the limits.
figure = dyn.plot_motion(design)

# %%
# The condition number says how evenly the motion determines the parameters. More harmonics in the
# same time give more shapes to choose from, and a higher frequency; here for the shipped table-top
# arm, without repetitions.
harmonics = (2, 3, 5, 8)
found = [dyn.design_excitation('two_axis', harmonics=count, periods=1, starts=1, seconds=1.0)
         for count in harmonics]
plt.figure(figsize=(7, 2.6))
places = np.arange(len(harmonics))
plt.bar(places, [each.condition_number for each in found],
        width=0.5, color='#0b76b8')
plt.xticks(places, harmonics)
plt.xlabel('harmonics in 10 s')
plt.ylabel('condition number')
plt.tight_layout()

# %%
# Where the tool goes. ``dynid view panda excitation.yaml`` shows the arm itself, in 3D.
from dynid_ros.dynamics.kinematics.forward import forward_kinematics

arm = dyn.load_arm('panda')
motion = design.pair or design.motion
t = np.arange(0.0, motion.duration, 0.02)
path = forward_kinematics(arm, motion.evaluate(t)[0]).translation
axis = plt.figure(figsize=(5, 4.5)).add_subplot(projection='3d')
axis.plot(*path.T, linewidth=0.8, color='#0b76b8')
axis.set(xlabel='x, m', ylabel='y, m', zlabel='z, m', title='path of the tool')
axis.set_box_aspect((1, 1, 1))

# %%
# ``design.save('excitation.yaml')`` writes the file that ``dynid simulate``, ``dynid view`` and
# the node ``trajectory_publisher`` read.
design.save('excitation.yaml')
