# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
A fleet
=======

Many recordings of some arms: a model of each arm, friction that drifts, loads that change, and
recordings that do not belong. Here two table-top arms record a short motion every second day for
eight weeks; the friction of one of them grows.
"""

from datetime import date, timedelta
from pathlib import Path
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn
from dynid_ros.applications.fleet.run import run_fleet

arm = dyn.load_arm('two_axis')
long = dyn.simulate(arm, seed=1)
rng = np.random.default_rng(0)
# Volts by Nm of Coulomb friction, joint by joint.
volts = arm.friction_nominal['coulomb'] * np.sign(long.truth.qd) / arm.drive.gain

folder = Path(tempfile.mkdtemp())
days = [date(2026, 1, 5) + timedelta(days=2 * k) for k in range(28)]
for name, growth in (('left', 0.0), ('right', 0.8)):
    (folder / name).mkdir()
    for k, day in enumerate(days):
        begin = rng.uniform(1.0, long.t[-1] - 9.0)
        part = (long.t > begin) & (long.t < begin + 8.0)
        u = long.u + growth * k / len(days) * volts + rng.normal(0, 0.02, long.u.shape)
        np.savez(folder / name / f'{day}.npz', t=long.t[part], q=long.q[part], u=u[part])

# %%
# ``dynid fleet FOLDER --arm two_axis -o out`` does the same on all processors, and writes a page.
found = run_fleet(arm, [str(folder)], folder / 'out', by='{arm}/*')
for name, report in found.arms.items():
    print(f'{name}: {report.used} recordings, '
          f'{report.model.fit.relative_error_percent:.2f} % torque error')
for sentence in found.findings:
    print(sentence)

# %%
# Coulomb friction over the date; lines are drawn where the drift counts.
figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout='constrained', sharey=True)
for series in found.series:
    if series.name.startswith('Fc'):
        axis = axes[int(series.name[2:]) - 1]
        weeks = (series.date - min(series.date)) / (7 * 86400)
        dots = axis.plot(weeks, series.values, 'o', markersize=3, label=series.arm)
        if series.drifts:
            axis.plot(weeks[[0, -1]], series.line, color=dots[0].get_color())
        axis.set(title=f'{series.name}, {arm.joint_names[int(series.name[2:]) - 1]}',
                 xlabel='weeks')
axes[0].set_ylabel('Coulomb friction, Nm')
axes[0].legend()
