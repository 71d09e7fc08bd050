"""Parameters of the trajectory publisher."""

from __future__ import annotations

from dynid_ros.nodes.runtime import Setting

SETTINGS = (
    Setting('arm', '', 'A shipped arm, or the path of an arm.yaml'),
    Setting('excitation', '', 'The excitation.yaml to run'),
    Setting('output', 'joint_trajectory_controller',
            'joint_trajectory_controller: a FollowJointTrajectory goal; effort: PD control in '
            'this node, for simulations and arms without such a controller'),
    Setting('controller', 'joint_trajectory_controller',
            'Relative name of the joint_trajectory_controller'),
    Setting('effort_joints', [], "Joints in the order of effort_commands; the arm's if empty"),
    Setting('feedforward', 'gravity',
            'Of effort commands: gravity; none, for arms whose driver compensates gravity; or '
            'model, all rigid-body torques of the nominal parameters'),
    Setting('tracking_error', 0.1,
            'Distance from where the arm should be at which it is stopped, rad or m', 1e-4, 10.0),
    Setting('state_timeout', 0.1, 'Age of the last state at which it is stopped, s', 0.002, 1.0),
    Setting('start_speed', 0.2,
            'Share of the velocity and acceleration limits on the way to the start', 0.01, 1.0),
    Setting('dry_run', False, 'Publish the reference only, and command nothing'),
    Setting('listeners', [], 'Nodes that must hear the joint states before a motion begins'),
    Setting('once', False,
            'Start as soon as states come, and end when the motion has ended'),
)
