"""arm.launch.py on the mock hardware of ros2_control, through the controllers of a real arm."""

from launches import ask_start, largest_move, need_packages, need_workspace
import numpy as np
import pytest
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.feasibility.planning_limits import planning_limits
from dynid_ros.trajectory.fourier import FourierMotion
from dynid_ros.trajectory.motion_file import write_motion

ARM = 'panda'
PANDA = load_arm(ARM)
#: Rate of the control loop, Hz.
RATE = 500
CONTROLLERS = ('joint_state_broadcaster', 'joint_trajectory_controller')


@pytest.fixture(autouse=True)
def _installed() -> None:
    need_workspace()
    need_packages('controller_manager', 'robot_state_publisher', *CONTROLLERS)


def description() -> str:
    """Describe the joints and their mock hardware, which goes where it is told at once."""
    limits, middle = PANDA.motion_limits, planning_limits(PANDA).middle
    links, joints, hardware = ['<link name="base"/>'], [], []
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
            f'<joint name="{name}"><command_interface name="position"/>{states}</joint>')
        before = f'link_{k}'
    return (
        f'<robot name="{ARM}">{"".join(links + joints)}<ros2_control name="mock" type="system">'
        '<hardware><plugin>mock_components/GenericSystem</plugin>'
        '<param name="calculate_dynamics">true</param></hardware>'
        f'{"".join(hardware)}</ros2_control></robot>')


def settings() -> dict[str, object]:
    """Return the parameters of the nodes, as users of ros2_control write them."""
    kinds = {name: {'type': f'{name}/{"".join(map(str.capitalize, name.split("_")))}'}
             for name in CONTROLLERS}
    return {
        'robot_state_publisher': {'ros__parameters': {'robot_description': description()}},
        'controller_manager': {'ros__parameters': {'update_rate': RATE, **kinds}},
        'joint_trajectory_controller': {'ros__parameters': {
            'joints': list(PANDA.joint_names), 'command_interfaces': ['position'],
            'state_interfaces': ['position', 'velocity']}}}


@pytest.mark.timeout(600)
@pytest.mark.parametrize('dry', ['true', 'false'])
def test_arm_behind_ros2_control_is_moved_and_recorded_unless_the_run_is_dry(
        begin, tmp_path, dry):
    excitation, bags = tmp_path / 'excitation.yaml', tmp_path / 'recordings'
    motion = FourierMotion.at_rest(
        3.0, planning_limits(PANDA).middle, 0.1 * np.ones((PANDA.n, 4)), 1)
    write_motion(excitation, motion, PANDA)
    parameters = tmp_path / 'controllers.yaml'
    parameters.write_text(yaml.safe_dump(settings()))
    given = ('--ros-args', '--params-file', str(parameters))
    begin('run', 'robot_state_publisher', 'robot_state_publisher', *given)
    manager = begin('run', 'controller_manager', 'ros2_control_node', *given)
    begin('run', 'controller_manager', 'spawner', *CONTROLLERS, '--param-file', str(parameters))
    launch = begin(
        'launch', 'dynid_ros', 'arm.launch.py', f'arm:={ARM}', f'excitation:={excitation}',
        f'dry_run:={dry}', f'result:={tmp_path / "result"}', f'recordings:={bags}')
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
