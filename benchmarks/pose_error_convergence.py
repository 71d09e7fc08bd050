"""
Claim: first-order pose errors are wrong by the second order only.

Compares them with exact kinematics for random errors of all sources, scaled down step by step,
prints the order of what is left, and draws it.
"""

from pathlib import Path

from matplotlib.figure import Figure
import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.kinematics.error_sources import error_sources
from dynid_ros.dynamics.kinematics.pose_error import error_jacobian, exact_pose_error
from dynid_ros.dynamics.kinematics.pose_uncertainty import workspace_states

ARMS = ('hand_leg', 'panda', 'ur10')
SCALES = np.logspace(-1, -6, 21)
DRAWS = 50
PICTURE = Path(__file__).parents[1] / 'docs' / 'figures' / 'pose_error_convergence.svg'


def left(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Shift (m) by exact kinematics, and what first order leaves of it, by scale."""
    arm = load_arm(name)
    rng = np.random.default_rng(0)
    whole, rest = [], []
    for q in workspace_states(arm, DRAWS):
        errors = rng.normal(size=len(error_sources(arm)))
        jacobian = error_jacobian(arm, q)
        exact = exact_pose_error(arm, q, SCALES[:, None] * errors)
        first = SCALES[:, None] * (jacobian @ errors)
        whole.append(np.linalg.norm(exact[:, 3:], axis=1))
        rest.append(np.linalg.norm((exact - first)[:, 3:], axis=1))
    return np.median(whole, axis=0), np.median(rest, axis=0)


def main() -> None:
    figure = Figure(figsize=(6, 3.6), layout='constrained')
    axes = figure.add_subplot()
    for name, colour in zip(ARMS, ('#3d6b99', '#d1495b', '#5a9367'), strict=True):
        whole, rest = left(name)
        order = np.polyfit(np.log(SCALES[5:15]), np.log(rest[5:15]), 1)[0]
        print(f'{name:10} order {order:.3f}')
        axes.loglog(SCALES, whole, color=colour, linestyle=':')
        axes.loglog(SCALES, rest, color=colour, label=f'{name}, order {order:.2f}')
    axes.set_xlabel('standard deviation of every source, rad and m')
    axes.set_ylabel('shift of the tool, m')
    axes.grid(alpha=0.3)
    axes.legend(title='left by first order (dotted: whole shift)')
    figure.savefig(PICTURE, metadata={'Date': None})


if __name__ == '__main__':
    main()
