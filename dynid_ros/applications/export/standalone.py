# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An identified model without dynid_ros: a Python file that needs NumPy alone, and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dynid_ros.applications.export.friction_code import FRICTION_CODE
from dynid_ros.arm.drive import COMMAND
from dynid_ros.arm.friction import PRESLIDING_DISTANCE, WARM_SECONDS
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_to_com, parameter_units
from dynid_ros.dynamics.kernel_arrays import tree
from dynid_ros.errors import ArmError
from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: The Python file, with names in braces for the numbers of an arm.
TEMPLATE = Path(__file__).with_name('templates') / 'arm.py.template'


def python_of(arm: ArmModel) -> str:
    """
    Write a Python file that computes torque, gravity and mass matrix of an arm.

    Parameters
    ----------
    arm : ArmModel
        With nominal inertial parameters, rotor inertia and friction.

    Raises
    ------
    ArmError
        Joints are coupled, which the file has no terms for.

    """
    numbers = numbers_of(arm, 'Python file')
    terms = ''.join(f"    tau = tau + np.array(FRICTION['{name}']) * ({FRICTION_CODE[name][0]})\n"
                    for name in arm.friction)
    return TEMPLATE.read_text(encoding='utf-8').format(name=arm.name, terms=terms, **numbers)


def numbers_of(arm: ArmModel, form: str) -> dict[str, Any]:
    """
    Return the numbers of an arm, links in an order in which parents come first.

    Parameters
    ----------
    arm : ArmModel
        With nominal inertial parameters, rotor inertia and friction.
    form : str
        Name of the file, for the message.

    Raises
    ------
    ArmError
        Joints are coupled, which the file has no terms for.

    """
    if arm.coupling:
        raise ArmError(f"the joints of '{arm.name}' are coupled, which the {form} does not "
                       'compute; use dynid_ros itself')
    assert arm.inertial is not None
    rotor = np.zeros(arm.n) if arm.rotor_nominal is None else arm.rotor_nominal
    order = arm.tree.order
    return {
        'joints': arm.joint_names, 'parent': tree(arm).parent.tolist(),
        'prismatic': arm.tree.prismatic[order].tolist(),
        'rotation': arm.rotation[order].tolist(), 'translation': arm.translation[order].tolist(),
        'axis': arm.axis[order].tolist(), 'gearing': arm.tree.gearing[order].tolist(),
        'offset': arm.tree.positions(np.zeros(arm.n))[order].tolist(),
        'gravity': arm.gravity.tolist(), 'inertial': arm.inertial[order].tolist(),
        'rotor': rotor.tolist(), 'smooth': arm.friction_shape.smooth_speed,
        'stribeck': arm.friction_shape.stribeck_speed,
        'friction': {name: arm.friction_nominal[name].tolist() for name in arm.friction},
        'warm_seconds': WARM_SECONDS, 'distance': PRESLIDING_DISTANCE}


def table_of(model: IdentifiedModel) -> str:
    """Write the links, rotor inertia, friction and couplings of a model as YAML."""
    found, layout = model.standard_parameters(), model.arm.layout
    units = dict(zip(found.names, parameter_units(model.arm), strict=True))
    links: dict[str, Any] = {}

    def stated(columns: range) -> dict[str, Any]:
        return {found.names[k]: {'value': float(found.values[k]), 'std': float(found.std[k]),
                                 'unit': units[found.names[k]]} for k in columns}

    for joint, name in enumerate(model.arm.tree.link_names):
        columns = layout.inertial(joint)
        mass, center, inertia = inertial_to_com(found.values[columns])
        links[name] = {
            'mass': mass, 'mass_std': float(found.std[columns][0]),
            'center_of_mass': center.tolist(),
            'inertia_about_center': dict(zip(
                ('xx', 'xy', 'xz', 'yy', 'yz', 'zz'), inertia[np.triu_indices(3)].tolist(),
                strict=True)),
            **stated(range(columns.stop, min(joint + 1, layout.joints) * layout.block))}
    header = ('# Physically possible parameters, by dynid_ros: links by the joint that moves them '
              'and in its frame; kg, m, kg m².\n')
    coupling = stated(range(layout.first_coupling, layout.size))
    drive = model.arm.drive
    servos = {} if drive.signal != COMMAND else {'drive': {
        'kp': drive.gain.tolist(),
        'kd': 'in Fv' if drive.damping is None else drive.damping.tolist(),
        'scale': drive.scale or 'stated'}}
    text: str = yaml.safe_dump({
        'arm': model.arm.name, 'links': links, **({'coupling': coupling} if coupling else {}),
        **servos}, sort_keys=False)
    return header + text
