# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
What the arm carries
====================

A model of the free arm and a short motion with the load give mass, centre of mass and inertia of
the load, with intervals.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn
from dynid_ros.applications.payload.body import INERTIA_FIELDS
from dynid_ros.applications.payload.design import with_load
from dynid_ros.arm.parameters import inertial_from_com

arm = dyn.load_arm('panda')
model = dyn.identify(arm, dyn.simulate(arm, seed=1))
mass, center = 1.5, np.array([0.02, -0.03, 0.08])
inertia = np.diag([0.006, 0.005, 0.004])
load = inertial_from_com(mass, center, inertia)
loaded = replace(dyn.simulate(with_load(arm, load), seed=2), source='with a load')

# %%
# One call; ``dynid payload BAG --model DIR`` prints the same, ready to send to UR and Franka
# controllers.
found = dyn.payload(model, loaded)
print(f'mass {found.body.mass:.3f} ± {1.96 * found.body.mass_std:.3f} kg, truth {mass} kg')

# %%
# All ten values, in units of their intervals around the truth:
truth = np.array([mass, *center, *inertia[np.triu_indices(3)]])
half = 1.96 * found.body.fields_std
error = (found.body.fields - truth) / half
plt.figure(figsize=(7, 2.8))
plt.axhspan(-1, 1, color='#0b76b8', alpha=0.15, label='95 % interval')
colours = ['#0b76b8' if from_data else '#8a949f' for from_data in found.body.from_data]
plt.bar(range(10), error, color=colours, width=0.5)
plt.xticks(range(10), [f'{name}\n±{each:.1g}\n{unit}' for (name, unit), each in zip(
    INERTIA_FIELDS.items(), half, strict=True)], fontsize=7)
plt.ylabel('error / half interval')
plt.legend(loc='upper right')
plt.tight_layout()

# %%
# Torque residual of each joint by the model of the free arm, and with the load: one body explains
# the difference.
places = np.arange(arm.n)
plt.figure(figsize=(7, 2.6))
plt.bar(places - 0.2, found.evidence.before, width=0.36, color='#d55e00', label='without the load')
plt.bar(places + 0.2, found.evidence.after, width=0.36, color='#0b76b8', label='with the load')
plt.xticks(places, arm.joint_names, fontsize=7)
plt.yscale('log')
plt.ylabel('residual, Nm (RMS)')
plt.legend()
plt.tight_layout()
for remark in found.remarks:
    print(remark)
