# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Parameters of the trajectory publisher, and the motion and the output that they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.node import Node

from dynid_ros.arm import load_arm
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.motion.execution.loop_stability import given_gains
from dynid_ros.motion.execution.motion_executor import MotionExecutor
from dynid_ros.motion.execution.motion_output import Output
from dynid_ros.motion.execution.start_checks import check_motion
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.feasibility.scene import build_scene, Scene
from dynid_ros.motion.trajectory.motion_file import read_motion
from dynid_ros.ros.nodes.common.lockstep import ControlTime
from dynid_ros.ros.nodes.common.runtime import ARM, Setting
from dynid_ros.ros.nodes.motion.effort_output import EffortOutput
from dynid_ros.ros.nodes.motion.trajectory_output import TrajectoryOutput

CONTROLLER = 'joint_trajectory_controller'
SETTINGS = (
    ARM,
    Setting('excitation', '', 'The excitation.yaml to run', example='excitation.yaml'),
    Setting('command', CONTROLLER,
            f'How the arm is moved. {CONTROLLER}: a FollowJointTrajectory goal; effort: PD '
            'control in this node, for simulations and arms without such a controller',
            choices=(CONTROLLER, 'effort')),
    Setting('controller', CONTROLLER,
            'Relative name of the joint_trajectory_controller'),
    Setting('effort_joints', [], "Joints in the order of effort_commands; the arm's if empty"),
    Setting('feedforward', 'gravity',
            'Feed-forward of effort commands: gravity; none, for arms whose driver compensates '
            'gravity; or model, all rigid-body torques of the nominal parameters',
            choices=('gravity', 'none', 'model')),
    Setting('stiffness', [],
            "Stiffness of effort commands in the order of the arm's joints, Nm/rad or N/m; "
            'proposed by the model if empty', numbers=True),
    Setting('damping', [], 'The same for the damping, Nm s/rad or N s/m', numbers=True),
    Setting('tracking_error', 0.1,
            'Tracking error at which the arm is stopped, rad or m', 1e-4, 10.0),
    Setting('state_timeout', 0.1,
            'Age of the last state at which the arm is stopped, s', 0.002, 1.0),
    Setting('start_speed', 0.2,
            'Share of the velocity and acceleration limits on the way to the start', 0.01, 1.0),
    Setting('dry_run', False, 'Publish the reference only, and command nothing'),
    Setting('listeners', [],
            'Nodes that must report on their topic ready before a motion starts; '
            'one that is lost stops it'),
    Setting('once', False,
            'Start as soon as states come, and end when the motion has ended'),
)


def load_motion(values: dict[str, Any]) -> tuple[ArmModel, Scene | None, MotionExecutor]:
    """
    Read arm and excitation, and check the complete motion.

    Raises
    ------
    DynidError
        One of them is missing or unusable, or the motion is not feasible.

    """
    arm, path = load_arm(values['arm']), Path(values['excitation'])
    excitation = read_motion(path, arm)
    scene = build_scene(arm, load_surroundings(values['arm'], arm))
    check_motion(arm, excitation.motion, scene)
    return arm, scene, MotionExecutor(
        excitation.motion, planning_limits(arm), values['start_speed'])


def make_output(
    node: Node, arm: ArmModel, values: dict[str, Any], failed: Callable[[str], None],
    time: ControlTime,
) -> Output:
    """
    Make the output that the parameters name.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        The arm.
    values : dict
        Of `SETTINGS`.
    failed : callable
        Takes the reason if a controller gave up the motion.
    time : ControlTime
        Time of the motion.

    Raises
    ------
    InputError
        A parameter of the output is wrong.

    """
    if values['command'] == CONTROLLER:
        return TrajectoryOutput(
            node, arm, values['controller'], failed, values['dry_run'], time)
    node.get_logger().warning(
        'torques are commanded by this node, which is not in real time: only for simulations '
        'and for arms that their driver keeps safe')
    stiffness, damping = values['stiffness'], values['damping']
    gains = given_gains(arm, stiffness, damping) if len(stiffness) or len(damping) else None
    return EffortOutput(
        node, arm, values['effort_joints'] or arm.joint_names, gains, values['feedforward'],
        values['dry_run'])
