# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""arm.launch.py on the mock hardware of ros2_control, through the controllers of a real arm."""

import json
from pathlib import Path

from launches import ask_start, largest_move, Launch, need_packages, need_workspace
import numpy as np
import pytest
from results import identification
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion

ARM = 'panda'
PANDA = load_arm(ARM)
#: Rate of the control loop, Hz.
RATE = 500
CONTROLLERS = ('joint_state_broadcaster', 'joint_trajectory_controller')


@pytest.fixture(autouse=True)
def _installed() -> None:
    need_workspace()
    need_packages('controller_manager', *CONTROLLERS)


def description(commands: tuple[str, ...]) -> str:
    """Describe the joints and their mock hardware, which has what it is told at once."""
    limits, middle = PANDA.motion_limits, planning_limits(PANDA).middle
    links, joints, hardware = ['<link name="base"/>'], [], []
    commanded = ''.join(f'<command_interface name="{name}"/>' for name in commands)
    before = 'base'
    for k, name in enumerate(PANDA.joint_names):
        links.append(f'<link name="link_{k}"/>')
        joints.append(
            f'<joint name="{name}" type="revolute"><parent link="{before}"/>'
            f'<child link="link_{k}"/><axis xyz="0 0 1"/><limit lower="{limits.lower[k]}" '
            f'upper="{limits.upper[k]}" velocity="{limits.velocity[k]}" '
            f'effort="{limits.effort[k]}"/></joint>')
        states = ''.join(
            f'<state_interface name="{kind}"><param name="initial_value">{value}</param>'
            '</state_interface>'
            for kind, value in (('position', middle[k]), ('velocity', 0.0), ('effort', 0.0)))
        hardware.append(
            f'<joint name="{name}">{commanded}{states}</joint>')
        before = f'link_{k}'
    return (
        f'<robot name="{ARM}">{"".join(links + joints)}<ros2_control name="mock" type="system">'
        '<hardware><plugin>mock_components/GenericSystem</plugin>'
        '<param name="calculate_dynamics">true</param></hardware>'
        f'{"".join(hardware)}</ros2_control></robot>')


def settings(commands: tuple[str, ...]) -> dict[str, object]:
    """Return the parameters of the nodes, as users of ros2_control write them."""
    kinds = {name: {'type': f'{name}/{"".join(map(str.capitalize, name.split("_")))}'}
             for name in CONTROLLERS}
    return {
        'controller_manager': {'ros__parameters': {'update_rate': RATE, **kinds}},
        'joint_trajectory_controller': {'ros__parameters': {
            'joints': list(PANDA.joint_names), 'command_interfaces': list(commands),
            'state_interfaces': ['position', 'velocity']}}}


def begin_controllers(begin, folder: Path, *commands: str) -> Launch:
    """Start ros2_control as a driver does; return the process with the controllers."""
    parameters = folder / 'controllers.yaml'
    parameters.write_text(yaml.safe_dump(settings(commands)))
    # As robot_state_publisher does it, which drags in more.
    begin('topic', 'pub', '--once', '--keep-alive', '600', '--qos-durability', 'transient_local',
          '/robot_description', 'std_msgs/msg/String', json.dumps({'data': description(commands)}))
    manager = begin('run', 'controller_manager', 'ros2_control_node',
                    '--ros-args', '--params-file', str(parameters))
    begin('run', 'controller_manager', 'spawner', *CONTROLLERS, '--param-file', str(parameters))
    return manager


@pytest.mark.timeout(600)
@pytest.mark.parametrize('dry', ['true', 'false'])
def test_arm_behind_ros2_control_is_moved_and_recorded_unless_the_run_is_dry(
        begin, tmp_path, dry):
    excitation, bags = tmp_path / 'excitation.yaml', tmp_path / 'recordings'
    motion = FourierMotion.at_rest(
        3.0, planning_limits(PANDA).middle, 0.1 * np.ones((PANDA.n, 4)), 1)
    write_motion(excitation, motion, PANDA)
    # These controllers know real time only, in which a busy machine delays the states.
    patient = tmp_path / 'config.yaml'
    patient.write_text(yaml.safe_dump({'trajectory_publisher': {'ros__parameters': {
        'state_timeout': 1.0, 'tracking_error': 1.0}}}))
    manager = begin_controllers(begin, tmp_path, 'position')
    launch = begin(
        'launch', 'dynid_ros', 'arm.launch.py', f'arm:={ARM}', f'excitation:={excitation}',
        f'dry_run:={dry}', f'config:={patient}', f'result:={tmp_path / "result"}',
        f'recordings:={bags}')
    launch.until('trajectory_publisher]: ready')
    answer = ask_start()
    assert 'success=True' in answer, launch.printed + manager.printed
    launch.until('trajectory_publisher]: holding')
    launch.until_all_can_answer()
    launch.press_ctrl_c()
    launch.end()
    assert 'Traceback' not in launch.printed
    assert 'aborted' not in launch.printed, launch.printed
    assert (largest_move(bags, PANDA) < 1e-3) == (dry == 'true')
    # The mock moves, and measures no effort.
    if dry == 'false':
        assert not read_result(tmp_path / 'result').verdict.trustworthy


def quintic(seconds: float = 2.0, way: float = 0.2) -> dict[str, object]:
    """Make a goal that moves all joints from the middle, in polynomials of fifth order."""
    t = np.linspace(0, seconds, 101)[1:]
    u = t / seconds
    start = planning_limits(PANDA).middle
    courses = (10 * u**3 - 15 * u**4 + 6 * u**5, (30 * u**2 - 60 * u**3 + 30 * u**4) / seconds,
               (60 * u - 180 * u**2 + 120 * u**3) / seconds**2)
    points = [{
        'positions': (start + way * q).tolist(), 'velocities': [way * float(qd)] * PANDA.n,
        'accelerations': [way * float(qdd)] * PANDA.n,
        'time_from_start': {'sec': int(time), 'nanosec': round(time % 1 * 1e9)},
    } for time, q, qd, qdd in zip(t.tolist(), *courses, strict=True)]
    return {'trajectory': {'joint_names': list(PANDA.joint_names), 'points': points}}


@pytest.mark.timeout(600)
def test_the_controller_commands_the_effort_that_the_relay_fills_in(begin, tmp_path):
    base = base_parameters(PANDA)
    model = identification(PANDA, theta=base.grouping @ nominal_parameters(PANDA))
    write_result(model, tmp_path / 'model')
    begin_controllers(begin, tmp_path, 'position', 'effort')
    relay = begin('launch', 'dynid_ros', 'feedforward.launch.py', f'model:={tmp_path / "model"}')
    recorder = begin(
        'run', 'dynid_ros', 'recorder', '--ros-args', '-p', f'arm:={ARM}',
        '-p', 'record_at_start:=true', '-p', f'output_folder:={tmp_path / "recordings"}')
    recorder.until('recording')
    relay.until('ready')
    goal = quintic()
    sender = begin('action', 'send_goal', '/feedforward/follow_joint_trajectory',
                   'control_msgs/action/FollowJointTrajectory', json.dumps(goal))
    sender.until('Goal finished with status: SUCCEEDED')
    recorder.press_ctrl_c()
    recorder.end()
    (bag,) = (tmp_path / 'recordings').glob('*/bag')
    commanded = read_recording(bag, PANDA).u
    points = goal['trajectory']['points']
    wanted = model.predict_torque(*(
        np.array([point[name] for point in points])
        for name in ('positions', 'velocities', 'accelerations')))
    # At rest before and after: the range of the efforts is that of the points.
    np.testing.assert_allclose(np.ptp(commanded, axis=0), np.ptp(
        np.vstack([wanted, np.zeros(PANDA.n)]), axis=0), rtol=0.02, atol=0.05)
