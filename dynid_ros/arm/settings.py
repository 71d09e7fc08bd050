# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sections of ``arm.yaml`` other than the description, as the parts of an `ArmModel`."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.schema import ANGLE_UNITS, Section
from dynid_ros.arm.description.tree import JointLimits, LimitMargins
from dynid_ros.arm.drive import COMMAND, Drive, DriveTopic, OPEN
from dynid_ros.arm.friction import friction_terms, FrictionShape, PLAIN_TERMS, TERMS
from dynid_ros.arm.model import Conditioning, CouplingColumn, Table
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.errors import ArmError
from dynid_ros.utilities.arrays import Array

_UNITS = {'effort': ('Nm', 'N'), 'current': ('A',), 'voltage': ('V',), COMMAND: ('rad', 'm')}
#: Keys of ``drive`` from which the torque follows, by the kind of the signal.
DRIVE_GAINS = {
    'effort': (), 'current': ('gain',), 'voltage': ('torque_constant', 'amplifier_gain'),
    COMMAND: ('kp', 'kd')}
_SIDES = ('lower', 'upper')
_BOUNDS = ('velocity', 'acceleration', 'effort')
_FILTERS = ('butterworth', 'fir', 'periodic')
#: Lowest cut-off, Hz: the slowest motions of arms last minutes, and filters grow with their
#: period.
LEAST_CUTOFF = 1e-3
#: Longest delay of a drive signal, s; drives lag by some milliseconds.
LONGEST_DELAY = 10.0
#: Share of the range of a joint, from -100 to 100, in which LeRobot stores positions.
PERCENT = 'percent'
#: Units of tables.
TABLE_UNITS = (*ANGLE_UNITS, PERCENT)
#: Signals of a drive, and quantities that joints may be coupled by.
DRIVE_SIGNALS = tuple(_UNITS)
COUPLED_QUANTITIES = ('qdd', 'qd', 'sign_qd')


def read_drive(top: Section, names: tuple[str, ...]) -> Drive:
    """
    Drive from ``drive``; a recording in Nm at the joints where the section is absent.

    ``gain`` is the product of ``gain`` (current, Nm/A), ``torque_constant`` (Nm/A) and
    ``amplifier_gain`` (A/V) (voltage, tau = Km Ksa u), ``gear_ratio`` and ``sign``; of a command
    ``kp`` (Nm/rad), beside the damping ``kd`` (Nm s/rad).
    """
    section = top.section('drive', (
        'signal', 'unit', 'gain', 'torque_constant', 'amplifier_gain', 'kp', 'kd', 'gear_ratio',
        'sign', 'transmission', 'offset', 'includes_gravity', 'topic', 'interface', 'joints',
        'passive'))
    n = len(names)
    signal = section.choice('signal', tuple(_UNITS), 'effort')
    section.choice('unit', _UNITS[signal], _UNITS[signal][0])
    for key in dict.fromkeys(chain(*DRIVE_GAINS.values())):
        if key in section and key not in DRIVE_GAINS[signal]:
            raise section.error(key, f'does not belong to signal: {signal}')
        if key in DRIVE_GAINS[signal] and signal != COMMAND:
            section.needed(key, section.raw(key))
    factors = section.filled('gear_ratio', n, 1.0) * section.filled('sign', n, 1.0)
    if signal == COMMAND:
        return _command_drive(section, n, factors)
    gains = (section.filled(key, n, 1.0) for key in DRIVE_GAINS[signal])
    gain = np.prod([factors, *gains], axis=0)
    drive = Drive(signal, _nonzero(section, gain), *_transmission(section, n),
                  section.flag('includes_gravity', True), _drive_topic(section, 'effort'))
    return replace(drive, passive=_passive(section, names, drive))


def _passive(
    section: Section, names: tuple[str, ...], drive: Drive,
) -> NDArray[np.bool_] | None:
    """Joints (n,) without a drive; None if there are none."""
    listed = section.names('passive')
    for name in listed:
        if name not in names:
            raise section.error('passive', f'names "{name}", but the joints are '
                                f'{", ".join(names)}')
    passive = np.array([name in listed for name in names])
    if passive.all():
        raise section.error('passive', 'names all joints; at least one must have a drive')
    coupled = drive.transmission - np.diag(np.diag(drive.transmission))
    if coupled[passive].any() or coupled[:, passive].any():
        raise section.error('passive', 'names a joint that the transmission couples to others')
    return passive if listed else None


def _command_drive(section: Section, n: int, factors: Array) -> Drive:
    """Drive that follows commands, by its stiffness and damping where they are stated."""
    if 'includes_gravity' in section:
        raise section.error('includes_gravity', 'does not belong to signal: command; the drive '
                            'holds gravity by its deviation')
    if 'passive' in section:
        raise section.error('passive', 'does not belong to signal: command')
    kp, kd = (section.per_joint(key, n) for key in ('kp', 'kd'))
    if kp is None and kd is not None:
        raise section.error('kp', 'is missing; without it, kd has no unit: give both or neither')
    if kp is not None and not (kp > 0).all():
        raise section.error('kp', 'must be above zero for every joint')
    if kd is not None and not (kd >= 0).all():
        raise section.error('kd', 'must be zero or more for every joint')
    gain = _nonzero(section, factors if kp is None else factors * kp)
    return Drive(COMMAND, gain, *_transmission(section, n),
                 topic=_drive_topic(section, 'position'), damping=kd,
                 scale=OPEN if kp is None else '')


def _nonzero(section: Section, gain: Array) -> Array:
    if not gain.all():
        raise section.error('signal', 'has a gain of zero for a joint; give a nonzero gain')
    return gain


def _transmission(section: Section, n: int) -> tuple[Array, Array]:
    """Transmission and offsets of the motors."""
    transmission = section.matrix('transmission', n)
    if np.linalg.matrix_rank(transmission) < n:
        raise section.error('transmission', 'cannot be inverted')
    return transmission, section.filled('offset', n, 0.0)


def _drive_topic(section: Section, field: str) -> DriveTopic | None:
    name, interface = section.text('topic'), section.text('interface')
    joints = section.names('joints')
    if name is None:
        for key in ('interface', 'joints'):
            if key in section:
                raise section.error(key, 'describes a topic; give the topic too')
        return None
    if interface is not None and joints:
        raise section.error('joints', 'does not belong to a topic with interfaces, which name '
                            'their joints')
    return DriveTopic(name, interface, joints, field)


def read_limits(
    top: Section, known: JointLimits, names: tuple[str, ...],
) -> tuple[JointLimits, LimitMargins]:
    """Limits of the description, overridden by the lists of ``limits``, and its margins."""
    section = top.section('limits', (
        *_SIDES, *_BOUNDS, 'position_margin', 'velocity_scale', 'effort_scale'))
    found = {key: section.filled(key, len(names), getattr(known, key), finite=False)
             for key in (*_SIDES, *_BOUNDS)}
    for key in _BOUNDS:
        if not (found[key] > 0).all():
            raise section.error(key, 'must be above zero for every joint')
    margins = LimitMargins(
        section.number('position_margin') or 0.0,
        section.positive('velocity_scale') or 1.0,
        section.positive('effort_scale') or 1.0)
    margin = margins.position_margin
    lower, upper = found['lower'] + margin, found['upper'] - margin
    for name, low, high in zip(names, lower, upper, strict=True):
        if not low < high:
            raise section.error('position_margin' if margin else 'lower',
                                f'leaves joint "{name}" no range: {low:g} to {high:g}')
    return JointLimits(**found), margins


def read_conditioning(top: Section) -> Conditioning:
    """Conditioning from ``conditioning``; absent keys are chosen from the data."""
    section = top.section('conditioning', ('cutoff_hz', 'filter', 'period', 'delay'))
    cutoff, delay = section.positive('cutoff_hz'), section.number('delay')
    if cutoff is not None and cutoff < LEAST_CUTOFF:
        raise section.error('cutoff_hz', f'must be {LEAST_CUTOFF:g} Hz or more, not {cutoff:g}')
    if delay is not None and abs(delay) > LONGEST_DELAY:
        raise section.error('delay', f'must be a time from {-LONGEST_DELAY:g} to '
                            f'{LONGEST_DELAY:g} s, not {delay:g}')
    return Conditioning(
        cutoff, section.choice('filter', _FILTERS, 'butterworth'), section.positive('period'),
        delay)


def read_table(top: Section, n: int) -> Table:
    """Columns of tabular recordings from ``table``."""
    section = top.section('table', (
        'rate_hz', 'time', 'position', 'velocity', 'signal', 'signal_file', 'header', 'unit'))
    return Table(
        section.positive('rate_hz'),
        section.text('time'),
        section.names('position', n),
        section.names('velocity', n),
        section.names('signal', n),
        section.text('signal_file'),
        section.names('header'),
        section.choice('unit', TABLE_UNITS, '') if 'unit' in section else None)


def read_coupling(top: Section, names: tuple[str, ...]) -> tuple[CouplingColumn, ...]:
    """Further columns from ``coupling``: name, quantity, and rows of factors by joint names."""
    columns = []
    every = top.raw('coupling')
    section = top.section('coupling', tuple(every) if isinstance(every, dict) else ())
    for name in every or ():
        column = section.section(str(name), ('quantity', 'rows'))
        column.needed('quantity', column.raw('quantity'))
        rows = column.section('rows', names)
        matrix = np.array([[row.number(other) or 0.0 for other in names]
                           for row in (rows.section(joint, names) for joint in names)])
        if not matrix.any():
            raise column.error('rows', 'couple no joints; give rows: {joint: {joint: factor}}')
        columns.append(
            CouplingColumn(str(name), column.choice('quantity', COUPLED_QUANTITIES, ''), matrix))
    return tuple(columns)


def read_friction(top: Section) -> tuple[tuple[str, ...], FrictionShape]:
    """Friction terms from ``friction`` and their constants from ``friction_shape``."""
    names = top.names('friction') if 'friction' in top else PLAIN_TERMS
    try:
        friction_terms(names)
    except ArmError as error:
        raise top.error('friction', f'has an {error}') from error
    section = top.section('friction_shape', ('smooth_speed', 'stribeck_speed'))
    default = FrictionShape()
    return names, FrictionShape(
        section.positive('smooth_speed') or default.smooth_speed,
        section.positive('stribeck_speed') or default.stribeck_speed)


def read_nominal(
    top: Section, n: int, bodies: int,
) -> tuple[Array | None, Array | None, dict[str, Array]]:
    """
    Nominal values from ``nominal``.

    Returns
    -------
    inertial : (m, 10) ndarray or None
        From ``links``: mass, com and inertia about it of each link, in the link's joint frame.
    rotor : (n,) ndarray or None
        From ``rotor_inertia``.
    friction : dict of str to (n,) ndarray
        From the names of friction terms.

    """
    section = top.section('nominal', ('links', 'rotor_inertia', *TERMS))
    known = {name: section.needed(name, section.vector(name, n)) for name in TERMS
             if name in section}
    links = section.sections('links', ('mass', 'com', 'inertia'), 'link')
    if 'links' in section and len(links) != bodies:
        raise section.error('links', f'must be a list of {bodies} links, one a joint')
    inertial = np.array([_link(link) for link in links]) if links else None
    return inertial, section.vector('rotor_inertia', n), known


def _link(section: Section) -> Array:
    mass = section.needed('mass', section.number('mass'))
    com = section.needed('com', section.vector('com', 3))
    xx, xy, xz, yy, yz, zz = section.needed('inertia', section.vector('inertia', 6))
    return inertial_from_com(mass, com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
