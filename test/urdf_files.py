# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Descriptions of robots for tests: URDF, xacro and MJCF."""

import numpy as np

XACRO = ('<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
         '<xacro:arg name="reach" default="1.0"/>'
         '<link name="base"/><link name="a"/>'
         '<joint name="j" type="revolute"><parent link="base"/><child link="a"/>'
         '<origin xyz="$(arg reach) 0 0"/><axis xyz="0 0 1"/>'
         '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>')
MJCF = """
<mujoco model="odd">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="base" pos="0.1 0.2 0.3" euler="0.1 0.2 0.3">
      <geom type="box" size="0.05 0.06 0.07" mass="2"/>
      <body name="shoulder" pos="0 0.1 0.2" euler="0.3 -0.2 0.5">
        <joint name="yaw" axis="0 0 1" pos="0.01 0.02 0" range="-2 2" armature="0.1"
               damping="0.2" frictionloss="0.3"/>
        <joint name="pitch" axis="0 1 0.2" pos="0 0.03 0.05" range="-1 1" ref="0.4"/>
        <inertial pos="0.02 0.01 0.1" mass="3" fullinertia="0.03 0.04 0.02 0.001 0.002 0.003"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.04"/>
        <body name="slider" pos="0 0 0.3">
          <joint name="lift" type="slide" axis="1 0 1" range="-0.2 0.3" ref="0.1"/>
          <inertial pos="0 0.02 0.03" mass="1.5" diaginertia="0.01 0.012 0.009"/>
          <body name="tool" pos="0.1 0 0">
            <inertial pos="0.02 0 0" mass="0.4" diaginertia="0.001 0.001 0.001"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="yaw" gear="50" ctrllimited="true" ctrlrange="-2 1.5"/></actuator>
</mujoco>
"""


def text(values):
    return ' '.join(f'{value:.17g}' for value in values)


def link(name, rng=None, mass=None):
    if rng is None:
        return f'<link name="{name}"/>'
    x, y, z = rng.uniform(0.01, 0.1, 3)
    return (
        f'<link name="{name}"><inertial><mass value="{mass or rng.uniform(0.1, 3)}"/>'
        f'<origin xyz="{text(rng.uniform(-1, 1, 3))}" rpy="{text(rng.uniform(-3, 3, 3))}"/>'
        f'<inertia ixx="{y + z}" ixy="0" ixz="0" iyy="{x + z}" iyz="0" izz="{x + y}"/></inertial>'
        '<visual><geometry><mesh filename="package://nowhere/none.stl"/></geometry>'
        '<material name="never defined"/></visual></link>')


def joint(name, parent, child, kind='revolute', axis='0 0 1', place='', extra=None):
    limit = '<limit lower="-2" upper="3" velocity="4" effort="5"/>' if extra is None else extra
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'{place}<axis xyz="{axis}"/>{limit}</joint>')


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


def write(folder, content):
    path = folder / 'arm.urdf'
    path.write_text(content)
    return path


def chain(prefix, root, length):
    """Links and joints of a serial chain, ``prefix1`` and so on, from a link outwards."""
    parts, parent = [], root
    for i in range(1, length + 1):
        child = f'{prefix}_link{i}'
        parts += [link(child, np.random.default_rng(i)), joint(f'{prefix}{i}', parent, child)]
        parent = child
    return parts


def xacro_file(folder, content=XACRO):
    path = folder / 'arm.urdf.xacro'
    path.write_text(content)
    return path


def palletiser():
    """
    URDF of a palletiser of four axes, whose wrist two parallelograms keep level.

    The hinge behind the upper arm turns back by j2, and the wrist, with an offset, by j3.
    """
    bodies = [('turret', 120, '0.1 0.02 0.2', 8), ('upper', 60, '0.02 0.05 0.6', 6),
              ('hinge', 15, '0.03 0 0.02', 0.2), ('fore', 45, '0.5 0.03 0.01', 5),
              ('wrist', 12, '0.05 0.01 -0.03', 0.1), ('flange', 8, '0.01 0.02 -0.15', 0.08)]
    links = [f'<link name="{name}"><inertial><mass value="{mass}"/><origin xyz="{com}"/>'
             f'<inertia ixx="{size}" iyy="{1.2 * size}" izz="{0.9 * size}" ixy="0" ixz="0" '
             'iyz="0"/></inertial></link>' for name, mass, com, size in bodies]

    def led(name, parent, child, place, low, high, follows):
        return joint(name, parent, child, axis='0 1 0', place=f'<origin xyz="{place}"/>', extra=(
            f'<limit lower="{low}" upper="{high}" velocity="1.5" effort="3000"/>{follows}'))

    return robot(
        link('base'), *links,
        joint('j1', 'base', 'turret', extra='<limit lower="-3" upper="3" velocity="2" '
              'effort="1500"/>'),
        led('j2', 'turret', 'upper', '0.3 0 0.8', -0.8, 1.2, ''),
        led('level_1', 'upper', 'hinge', '0 0 1.2', -1, 0.7,
            '<mimic joint="j2" multiplier="-1"/>'),
        led('j3', 'hinge', 'fore', '0.05 0 0', -0.7, 1.3, ''),
        led('level_2', 'fore', 'wrist', '1.2 0 0', -1.4, 0.9,
            '<mimic joint="j3" multiplier="-1" offset="0.1"/>'),
        joint('j4', 'wrist', 'flange', place='<origin xyz="0.1 0 -0.1"/>',
              extra='<limit lower="-6" upper="6" velocity="4" effort="200"/>'))
