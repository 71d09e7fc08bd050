# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Live identification
===================

The node ``identifier`` updates the estimates with every sample while the arm moves. ``replay``
runs the same estimator over a recording and keeps the history.
"""

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn

arm = dyn.load_arm('panda')
recording = dyn.simulate(arm, seed=1)
replayed = dyn.replay(arm, recording)
print(replayed.model)

# %%
# Estimates begin at the prior, with wide bands, and converge to the truth, which is known here.
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters

history = replayed.history
truth = base_parameters(recording.arm).grouping @ nominal_parameters(recording.arm)
chosen = ('my2', 'mx4', 'Izz1', 'Fv1', 'Fc4', 'Izz7')
figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), layout='constrained', sharex=True)
for axis, name in zip(axes.flat, chosen, strict=True):
    k = history.names.index(name)
    value, half = history.theta[:, k], 1.96 * history.std[:, k]
    axis.fill_between(history.t, value - half, value + half, color='#0b76b8', alpha=0.25,
                      linewidth=0)
    axis.plot(history.t, value, color='#0b76b8')
    axis.axhline(truth[k], color='k', linestyle='--', linewidth=1)
    late = history.t > 3
    reach = np.max(np.abs(value[late] - truth[k]) + half[late])
    axis.set(title=f'{name}, {replayed.model.units[k]}', ylim=(truth[k] - reach, truth[k] + reach))
figure.supxlabel('time, s')

# %%
# All of them:
figure = replayed.plot()

# %%
# Sample by sample, as a program of your own would do it:
online = dyn.OnlineIdentifier(arm)
for k in range(0, len(recording.t), 50):
    part = slice(k, k + 50)
    online.push(recording.t[part], recording.q[part], recording.u[part])
print(online.result().validation.relative_error_percent)
