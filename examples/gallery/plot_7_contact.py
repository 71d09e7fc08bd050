# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Contact
=======

The model predicts the torque of an arm that touches nothing; the monitor tells contact from noise
by thresholds that follow from a rate of false alarms. Three pushes at the tool of a simulated
Panda are added to a recording.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn
from dynid_ros.dynamics.external_force import external_force
from dynid_ros.dynamics.rigid_body import gravity_torque, inverse_dynamics

arm = dyn.load_arm('panda')
model = dyn.identify(arm, dyn.simulate(arm, seed=1))
free = dyn.simulate(arm, seed=2)

# %%
# A force at the tool shows in all joints at once, as ``-J(q)ᵀ F``.
effort = free.u.copy()
pushes = {12.0: (0, 0, -8), 17.0: (15, 0, 0), 23.0: (0, 30, 0)}
for begin, force in pushes.items():
    for k in np.flatnonzero((free.t >= begin) & (free.t < begin + 0.5)):
        q = free.q[k]
        fext = external_force(arm, 'tool', [0, 0, 0, *force], q)
        effort[k] += inverse_dynamics(arm, q, fext=fext) - gravity_torque(arm, q)
touched = replace(free, u=effort, source='three pushes')

# %%
# Each contact has the joint that felt it most clearly, and the force if it was at the tool:
found = dyn.monitor(model, touched)
for contact in found.contacts:
    print(f'{contact.start:.2f} to {contact.stop:.2f} s, {contact.joints[0]} first')
figure = dyn.plot_contacts(model, found)

# %%
# The clearest joint, by its threshold. Below the line no contact is reported; one false alarm an
# hour is accepted.
ratio = np.max(np.abs(found.torque) / found.threshold, axis=1)
plt.figure(figsize=(7, 2.6))
plt.plot(found.t, ratio, color='#0b76b8', linewidth=0.8)
plt.axhline(1.0, color='#d55e00', linewidth=1)
for begin, force in pushes.items():
    plt.axvspan(begin, begin + 0.5, color='#d55e00', alpha=0.2, linewidth=0)
    plt.text(begin + 0.6, 4.0, f'{np.linalg.norm(force):.0f} N', fontsize=8)
plt.yscale('log')
plt.xlabel('time, s')
plt.ylabel('external torque / threshold')
plt.tight_layout()
