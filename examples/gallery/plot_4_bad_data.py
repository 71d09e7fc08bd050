# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
What bad data look like
=======================

Wrong data look alike: the error is large, and the error bars are wide. The verdict tries
explanations and names the one that makes the model good again. Here one fault at a time is put
into a good recording of a simulated UR10.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn

arm = dyn.load_arm('ur10')
good = dyn.simulate(arm, seed=1)


def with_effort(change):
    """Return the recording with other efforts."""
    effort = good.u.copy()
    change(effort)
    return replace(good, u=effort)


def flip(effort):
    """Count the effort of the elbow in the other direction."""
    effort[:, 2] *= -1


def exchange(effort):
    """Exchange two joints."""
    effort[:, [1, 2]] = effort[:, [2, 1]]


def double(effort):
    """Take another gain of the shoulder."""
    effort[:, 1] *= 2


zero = good.q.copy()
zero[:, 1] += 0.3
recordings = {
    'as it is': good,
    'sign of the elbow': with_effort(flip),
    'shoulder and elbow exchanged': with_effort(exchange),
    'gain of the shoulder': with_effort(double),
    'zero of the shoulder off by 17°': replace(good, q=zero),
}

# %%
# The first finding of each verdict, with its remedy:
models = {name: dyn.identify(arm, recording) for name, recording in recordings.items()}
for name, model in models.items():
    print(f'{name}: ' + (model.verdict.reasons or ['trustworthy'])[0], end='\n\n')

# %%
# The error of the plain fit, and the error once the fault that the verdict names is undone:
before = [model.validation.relative_error_percent for model in models.values()]
after = [next((finding.error_after_percent for finding in model.verdict.findings
               if finding.error_after_percent is not None), np.nan) for model in models.values()]
places = np.arange(len(models))
plt.figure(figsize=(7, 3))
plt.barh(places - 0.2, before, height=0.36, color='#d55e00', label='held out, as recorded')
plt.barh(places + 0.2, after, height=0.36, color='#0b76b8', label='with the named fault undone')
plt.yticks(places, models)
plt.gca().invert_yaxis()
plt.xlabel('torque error, %')
plt.legend()
plt.tight_layout()

# %%
# A sign error as torque over time: the model cannot follow the elbow, and its neighbours suffer.
figure = dyn.plot_torque(models['sign of the elbow'])

# %%
# Defects of the recording itself
# -------------------------------
# :func:`dynid_ros.check_recording` finds others before any fit: here stamps that repeat, and a
# joint without effort.
stamps = good.t.copy()
stamps[1000:1010] = stamps[1000]
effort = good.u.copy()
effort[:, 4] = 0.0
for defect in dyn.check_recording(replace(good, t=stamps, u=effort), arm):
    if defect.severity != 'info':
        print(f'{defect.severity}: {defect.message}')
