# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Checklist for a real arm
========================

The order of work on a real arm, with a simulated one in its place: design, record, check,
identify, validate on another motion, export. Each step ends with a question; go on when the answer
is yes.
"""

import matplotlib.pyplot as plt
import numpy as np

import dynid_ros as dyn

arm = dyn.load_arm('ur10')

# %%
# 1. Is the motion within the limits, and does it excite enough?
# --------------------------------------------------------------
# A condition number below 100 is good. Put floor, walls and the tool into arm.yaml before.
design = dyn.design_excitation('ur10', periods=1, seconds=2.0, starts=1)
print(design)

# %%
# 2. Is the recording good?
# -------------------------
# On the robot, ``ros2 launch dynid_ros arm.launch.py`` runs and records the motion. A good
# recording has no defects.
recording = dyn.simulate(arm, design, seed=1)
for defect in dyn.check_recording(recording, arm):
    if defect.severity != 'info':
        print(defect.severity, defect.message)
figure = dyn.plot_recording(recording)

# %%
# 3. Does the effort hold gravity?
# --------------------------------
# Joints that carry weight must show an effort at rest. The simulated arm rests at both ends of the
# recording.
at_rest = np.abs(recording.u[:50].mean(axis=0))
plt.figure(figsize=(7, 2.4))
plt.bar(arm.joint_names, at_rest, color='#0b76b8')
plt.ylabel('mean effort at rest, Nm')
plt.xticks(rotation=20, ha='right', fontsize=8)
plt.tight_layout()

# %%
# 4. Is the model trustworthy?
# ----------------------------
# The second motion of the design is held out. Without one, the figure says that the motion
# repeats.
model = dyn.identify(arm, recording)
print(model)
for use in model.uses:
    print(f'{"good" if use.serves else "not shown to be good"} for {use.purpose}: {use.figure}')

# %%
# 5. Does it predict another motion, on another day?
# --------------------------------------------------
# Two random motions, joint by joint.
plt.figure(figsize=(7, 2.8))
for k, seed in enumerate((11, 12)):
    found = model.validate(dyn.simulate(arm, seed=seed))
    errors = [joint.relative_error_percent for joint in found.joints]
    plt.bar(np.arange(arm.n) + 0.4 * (k - 0.5), errors, width=0.36,
            label=f'{found.relative_error_percent:.1f} % in all')
plt.xticks(range(arm.n), arm.joint_names, rotation=20, ha='right', fontsize=8)
plt.ylabel('torque error, %')
plt.ylim(0, 1.5 * plt.ylim()[1])
plt.legend(title='motion', ncols=2)
plt.tight_layout()

# %%
# 6. Does the exported file predict as well?
# ------------------------------------------
# A URDF holds viscous and Coulomb friction alone and no rotor inertia; each sentence says what
# that costs.
for sentence in dyn.export(model, 'ur10_identified.urdf'):
    print(sentence)
