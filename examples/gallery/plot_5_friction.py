# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Friction curves
===============

Friction of a real joint is no straight line over the speed. ``identify`` fits a curve for each
joint, as strong as it predicts samples that were not fitted. Here the truth is known: joints with
Stribeck friction, which falls before it rises.
"""

from dataclasses import replace

import matplotlib.pyplot as plt

import dynid_ros as dyn

arm = dyn.load_arm('ur10')
limits = arm.limits.effort
friction = {'viscous': 0.05 * limits, 'coulomb': 0.03 * limits, 'stribeck': 0.04 * limits}
arm = replace(arm, friction=tuple(friction), friction_nominal=friction)
recording = dyn.simulate(arm, seed=1)

# %%
# All terms at once, the default, against viscous and Coulomb friction alone:
curved = dyn.identify(arm, recording)
plain = dyn.identify(arm, recording, friction='viscous,coulomb')
for name, model in (('chosen', curved), ('viscous and Coulomb', plain)):
    print(f'{name}: {model.validation.relative_error_percent:.2f} % held-out torque error')

# %%
# Both beside the truth:
from dynid_ros.arm.friction import TERMS
from dynid_ros.estimation.model.friction_curve import friction_curves

figure, axes = plt.subplots(2, 3, figsize=(9, 5), layout='constrained')
for j, (axis, chosen, line) in enumerate(zip(
        axes.flat, friction_curves(curved), friction_curves(plain), strict=True)):
    v = chosen.speed
    true = sum(friction[name][j] * TERMS[name].value(v[:, None], None, arm.friction_shape)[:, 0]
               for name in friction)
    axis.fill_between(v, chosen.torque - 1.96 * chosen.std, chosen.torque + 1.96 * chosen.std,
                      color='#0b76b8', alpha=0.25, linewidth=0)
    axis.plot(v, chosen.torque, color='#0b76b8', label='chosen, 95 % band')
    axis.plot(line.speed, line.torque, color='#8a949f', label='viscous and Coulomb')
    axis.plot(v, true, 'k--', linewidth=1, label='truth')
    axis.set_title(arm.joint_names[j], fontsize=9)
    axis.set_xscale('log')
    axis.set_xlim(3e-3, v[-1])
axes[0, 0].legend(fontsize=7)
figure.supxlabel('speed, rad/s')
figure.supylabel('friction, Nm')
