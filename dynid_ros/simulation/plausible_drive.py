# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Plausible links, rotor inertia and friction of an arm that states none, such as a URDF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import with_links
from dynid_ros.motion.execution.tracking_control import random_positions, RigidArm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import span

# None of these shares has a unit, so that the arm may be of any size.
#: Rotor inertia, relative to the mean inertia of the links about the joint. The gear that
#: accelerates a load most with a given motor makes both equal (inertia matching); the nominal
#: values of the shipped UR10, Panda and Gluon are 0.4 to 60, the largest at light wrists.
ROTOR_BY_LINKS = 1.0
#: Largest torque that accelerates the rotor by the planned limit, relative to the rating. Such a
#: motor keeps nine tenths for its load. The shipped UR10, Panda and TX40 have 0.04 to 0.33.
ROTOR_BY_RATING = 0.1
#: Friction torque relative to the typical torque: Coulomb at any speed, viscous at the typical
#: speed. Harmonic drives have more, direct drives less; the shipped UR10 has 0.1 to 0.6 and the
#: Panda 0.02 to 0.3 of each.
COULOMB = VISCOUS = 0.1
_UNITS = {'mass': ('cylinders', 'kg'), 'rotor_inertia': ('rotor inertia', 'kg m²'),
          'viscous': ('viscous friction', 'Nm s/rad'), 'coulomb': ('Coulomb friction', 'Nm')}


def assumptions(arm: ArmModel, assumed: Mapping[str, Array]) -> str:
    """Describe in one line all that `with_plausible_drives` assumed; empty if nothing."""
    if not assumed:
        return ''
    texts = []
    for name, value in assumed.items():
        word, unit = _UNITS[name]
        units = np.array(joint_units(unit, arm.tree.prismatic[:len(value)]))
        for each in dict.fromkeys(units.tolist()):
            own = value[(units == each) & (value > 0)]
            if len(own):
                ends = span(f'{own.min():.2g}', f'{own.max():.2g}')
                texts.append(f'{word} of {ends} {each}')
    what = 'links and drives' if 'mass' in assumed else 'drives'
    return (f"'{arm.name}' does not state its {what} completely; the simulation assumes "
            f'{", ".join(texts)}')


def with_plausible_drives(arm: ArmModel) -> tuple[ArmModel, dict[str, Array]]:
    """
    Give an arm plausible links, rotor inertia and friction where it states none.

    They follow from lengths, links and limits alone, so that an arm is the same in every
    simulation. An arm without identified rotor inertia or friction gets none.

    Parameters
    ----------
    arm : ArmModel
        The arm; links that state no body get one by `with_links`.

    Returns
    -------
    arm : ArmModel
        The arm to be simulated; the same one where it states its links and drives.
    assumed : dict of str to (n,) ndarray
        Assumed nominal values: ``mass`` (of the links that stated no body, else zero),
        ``rotor_inertia``, ``viscous`` and ``coulomb``; kg, kg m², Nm s/rad and Nm, or kg, N s/m
        and N for prismatic joints.

    Raises
    ------
    ArmError
        The arm cannot be simulated; see `check_physical`.

    """
    arm, missing = with_links(arm)
    assumed: dict[str, Array] = {}
    if missing.any() and arm.inertial is not None:
        assumed['mass'] = np.where(missing, arm.inertial[:, 0], 0.0)
    if arm.rotor_inertia and arm.rotor_nominal is None:
        assumed['rotor_inertia'] = _rotor_inertia(arm)
        arm = replace(arm, rotor_nominal=assumed['rotor_inertia'])
    if not arm.friction_nominal:
        torque = typical_torque(arm)
        values = {'viscous': VISCOUS * torque / typical_speed(arm),
                  'coulomb': COULOMB * torque}
        friction = {name: value for name, value in values.items() if name in arm.friction}
        assumed |= friction
        arm = replace(arm, friction_nominal=friction)
    return arm, assumed


def _rotor_inertia(arm: ArmModel) -> Array:
    """Inertia matched to the links by a gear, or less if the rating is too low."""
    rigid = RigidArm(arm)
    masses = [rigid.mass_matrix(q) for q in random_positions(arm)]
    links = np.mean([np.diag(M) for M in masses], axis=0)
    rated = known_effort(arm) / planning_limits(arm).acceleration
    return np.asarray(
        np.minimum(ROTOR_BY_LINKS * links, ROTOR_BY_RATING * rated))


def known_effort(arm: ArmModel) -> Array:
    """Effort limits (n,), infinite if absent or zero, as in URDFs."""
    effort = arm.limits.effort
    return np.where(effort > 0, effort, np.inf)


def typical_torque(arm: ArmModel) -> Array:
    """
    Spread of the torque of each joint, (n,), over random positions and accelerations.

    It is the standard deviation, but no more than the effort limit; accelerations are within the
    planning limits. Velocities are zero, because velocity limits are often far above the speeds of
    an arm.
    """
    rigid, allowed = RigidArm(arm), planning_limits(arm).acceleration
    # Another seed than for the positions makes both independent.
    rng, rest = np.random.default_rng(1), np.zeros(arm.n)
    tau = [rigid.torque(q, rest, rng.uniform(-allowed, allowed)) for q in random_positions(arm)]
    return np.asarray(np.minimum(np.std(tau, axis=0), known_effort(arm)))


def typical_speed(arm: ArmModel) -> Array:
    """
    Speed of each joint, (n,), that its planning limits allow, rad/s or m/s.

    If the velocity limit is higher, it is the speed after half of the range at the largest
    acceleration.
    """
    allowed = planning_limits(arm)
    reached = np.sqrt(allowed.acceleration * (allowed.upper - allowed.lower))
    return np.asarray(np.minimum(allowed.velocity, reached))
