# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Units follow the kind of joint."""

from dataclasses import replace

import numpy as np
from oracles import random_arm

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import CouplingColumn
from dynid_ros.arm.parameters import parameter_units, torque_units


def arm(*prismatic):
    made = random_arm(np.random.default_rng(0), len(prismatic))
    return made.with_tree(prismatic=np.array(prismatic)).with_friction(
        ('viscous', 'coulomb', 'load'))


def test_there_is_one_unit_for_each_column_of_the_layout():
    mixed = arm(False, True, False)
    assert len(parameter_units(mixed)) == mixed.layout.size


def test_a_turning_joint_has_units_of_rotation():
    assert torque_units(arm(False)) == ('Nm',)
    assert parameter_units(arm(False)) == (
        'kg', 'kg m', 'kg m', 'kg m', *6 * ['kg m²'], 'kg m²', 'Nm s/rad', 'Nm', '1')


def test_a_sliding_joint_has_units_of_translation_but_its_link_keeps_its_inertia():
    assert torque_units(arm(True)) == ('N',)
    assert parameter_units(arm(True)) == (
        'kg', 'kg m', 'kg m', 'kg m', *6 * ['kg m²'], 'kg', 'N s/m', 'N', '1')


def test_a_unit_of_a_joint_that_turns_has_its_counterpart():
    assert joint_units('Nm s/rad', arm(False, True).prismatic) == ('Nm s/rad', 'N s/m')
    assert joint_units('rad/s²', arm(True, False).prismatic) == ('m/s²', 'rad/s²')


def test_a_coupling_has_the_units_of_the_joints_that_it_couples():
    def column(quantity, i, j):
        matrix = np.zeros((4, 4))
        matrix[i, j] = 1.0
        return CouplingColumn(quantity, quantity, matrix)

    mixed = replace(arm(False, False, True, True), coupling=(
        column('qdd', 0, 1), column('qd', 2, 3), column('sign_qd', 2, 3)))
    assert parameter_units(mixed)[-3:] == ('kg m²', 'N s/m', 'N')
