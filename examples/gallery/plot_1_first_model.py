# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
First model
===========

From a recording of joint positions and torque to the dynamic parameters of the arm. Half a minute
of a simulated Panda stands in for the recording; :func:`dynid_ros.read_recording` reads one of
your own.
"""

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn

recording = dyn.simulate('panda', seed=1)
recording

# %%
# One call fits the model and validates it on the last third of the motion, which the fit has not
# seen.
model = dyn.identify('panda', recording)
print(model)

# %%
# The figure to look at first: measured torque, predicted torque and their difference on the
# held-out part, and the friction of each joint over its speed.
figure = model.plot()

# %%
# Motion determines combinations of parameters. Each has a standard deviation and says whether the
# data or the prior determined it; ``model.to_dataframe()`` is the same as a table of pandas.
for k in range(8):
    source = 'data' if model.from_data[k] else 'prior'
    print(f'{model.names[k]:6s} {model.theta[k]:8.4f} ± {1.96 * model.std[k]:.4f} '
          f'{model.units[k]:12s} {source}')

# %%
# Here the truth is known: the simulated arm states it. The errors, in standard deviations, are
# those of a normal distribution.
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters

arm = recording.arm
truth = base_parameters(arm).grouping @ nominal_parameters(arm)
z = (model.theta - truth) / model.std
within = np.mean(np.abs(z) < 1.96)
plt.figure(figsize=(7, 2.6))
plt.axhspan(-1.96, 1.96, color='#0b76b8', alpha=0.15, label='95 % interval')
plt.plot(z, 'o', color='#0b76b8', markersize=4)
plt.xlabel('base parameter')
plt.ylabel('error / std')
plt.title(f'{100 * within:.0f} % of the intervals hold the true value')
plt.legend(loc='lower right')
plt.tight_layout()

# %%
# The model predicts torque for any state, with a band, and gives what a controller needs.
q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
print('gravity torque, Nm:   ', model.gravity(q).round(2))
print('its 95 % band, Nm:   ±', (1.96 * model.torque_std(q)).round(2))
print('mass matrix, diagonal:', np.diag(model.mass_matrix(q)).round(3))
