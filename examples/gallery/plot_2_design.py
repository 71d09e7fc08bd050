"""
Design a motion and look at it
==============================

An exciting motion determines every parameter within the limits of the arm. The design takes some seconds and keeps limits of
position, velocity, acceleration and torque, and the clearance from the arm itself and its surroundings, at all times.
"""

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn

design = dyn.design_excitation('panda', seconds=5.0, starts=1)
print(design)

# %%
# Position, velocity, acceleration and torque of each joint, with the limits.
figure = dyn.plot_motion(design)

# %%
# The condition number says how evenly the motion determines the parameters. Random motions within the same limits
# of position, velocity and acceleration, which may collide, compare:
from dynid_ros.motion.excitation.random_motion import condition_number, random_motion

arm = dyn.load_arm('panda')
found = [condition_number(arm, random_motion(arm, seed, tries=1)) for seed in range(40)]
plt.figure(figsize=(7, 2.6))
plt.hist(np.clip(found, None, 500), bins=30, color='#8a949f', label='40 random motions')
plt.axvline(design.condition_number, color='#d55e00', label='designed')
plt.xlabel('condition number (500 and more in the last bar)')
plt.ylabel('motions')
plt.legend()
plt.tight_layout()

# %%
# Where the tool goes. ``dynid view panda excitation.yaml`` shows the arm itself, in 3D.
from dynid_ros.dynamics.kinematics.forward import forward

motion = design.pair or design.motion
t = np.arange(0.0, motion.duration, 0.02)
path = np.array([forward(arm, q).position for q in motion.evaluate(t)[0]])
axis = plt.figure(figsize=(5, 4.5)).add_subplot(projection='3d')
axis.plot(*path.T, linewidth=0.8, color='#0b76b8')
axis.set(xlabel='x, m', ylabel='y, m', zlabel='z, m', title='path of the tool')
axis.set_box_aspect((1, 1, 1))

# %%
# ``design.save('excitation.yaml')`` writes the file that ``dynid simulate``, ``dynid view`` and the node
# ``trajectory_publisher`` read.
design.save('excitation.yaml')
